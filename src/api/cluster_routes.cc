// Rows and handlers of `exa cluster …`.
#include <fmt/format.h>

#include "api/handlers.h"
#include "discover/transport.h"
#include "profile/validate.h"
#include "service/clusters.h"

namespace exa {
namespace {

const std::vector<std::string_view> kKinds = {"host", "slurm", "flux", "kubernetes"};

struct AddressParam {
  Param param;
  std::string ClusterAddress::*member;
  std::vector<ClusterKind> kinds;  // for which it means something
};

Param body_text(std::string_view name, std::string_view flag, std::string_view help) {
  return {.name = name, .in = In::body, .flag = flag, .help = help};
}

// Kept with the cluster and read again at every look, wherever that is asked for.
Param body_path(std::string_view name, std::string_view flag, std::string_view help) {
  return {.name = name, .in = In::body, .kind = Kind::path, .flag = flag, .help = help};
}

const std::vector<AddressParam>& address_params() {
  using enum ClusterKind;
  static const std::vector<AddressParam> table = {
      {body_text("ssh", "--ssh", "reach it through ssh: [user@]host"),
       &ClusterAddress::ssh,
       {host, slurm, flux}},
      {body_path("ssh_identity", "--ssh-identity", "private key file for ssh"),
       &ClusterAddress::ssh_identity,
       {host, slurm, flux}},
      {body_text("slurmrestd", "--slurmrestd", "ask slurmrestd: unix:/path or http(s)://host:port"),
       &ClusterAddress::slurmrestd,
       {slurm}},
      {body_path("kubeconfig", "--kubeconfig",
                 "kubeconfig file (default $KUBECONFIG, ~/.kube/config)"),
       &ClusterAddress::kubeconfig,
       {kubernetes}},
      {body_text("context", "--context", "context of the kubeconfig (default: its current one)"),
       &ClusterAddress::context,
       {kubernetes}},
      {body_text("server", "--server-url", "API server instead of a kubeconfig: https://host:port"),
       &ClusterAddress::server,
       {kubernetes}},
      {body_path("ca_file", "--ca-file", "certificate authority of the API server"),
       &ClusterAddress::ca_file,
       {kubernetes}},
      {body_path("token_file", "--token-file", "file with a token (Kubernetes, slurmrestd)"),
       &ClusterAddress::token_file,
       {kubernetes, slurm}},
      {body_path("client_cert_file", "--client-cert-file", "client certificate file"),
       &ClusterAddress::client_cert_file,
       {kubernetes}},
      {body_path("client_key_file", "--client-key-file", "key file of the client certificate"),
       &ClusterAddress::client_key_file,
       {kubernetes}},
  };
  return table;
}

// Plain http would carry a token past anybody's eyes, so it is for this machine only; a name and
// password in the URL would be stored and shown.
void check_url(const json::object& args, std::string_view key,
               std::initializer_list<std::string_view> schemes, std::vector<Problem>& problems) {
  const std::string_view url = text_or(args, key, "");
  if (url.empty()) return;
  const std::string where = pointer("", key);
  const auto* scheme = std::ranges::find_if(schemes, [&](std::string_view each) {
    return url.starts_with(each) && url.size() > each.size();
  });
  if (scheme == schemes.end()) {
    problems.push_back({where, fmt::format("begins with {}", fmt::join(schemes, " or ")), ""});
  } else if (url.find('@') != std::string_view::npos) {
    problems.push_back(
        {where, "holds a user or password; put the token into a file (--token-file)", ""});
  } else if (url.find_first_of(" \t\r\n?#") != std::string_view::npos) {
    problems.push_back({where, "is not a plain address", ""});
  }
}

void check_duration(const json::object& args, std::string_view key, Duration least, Duration most,
                    std::vector<Problem>& problems) {
  const json::value* text = args.if_contains(key);
  if (text == nullptr || !text->is_string()) return;
  const auto duration = parse_duration(text->get_string());
  if (duration && (*duration < least || *duration > most)) {
    problems.push_back(
        {pointer("", key),
         fmt::format("is between {} and {}", format_duration(least), format_duration(most)), ""});
  }
}

std::vector<Problem> check_add(const json::object& args) {
  std::vector<Problem> problems;
  const auto text = [&](std::string_view key) { return text_or(args, key, ""); };
  if (const auto checked = check_name(text("name"), "cluster name"); !checked) {
    const Error& error = checked.error();
    problems.push_back(error.problems.empty() ? Problem{"/name", error.message, ""}
                                              : error.problems[0]);
    problems.back().where = "/name";
  }
  const auto kind = find_cluster_kind(text("kind"));
  for (const AddressParam& row : address_params()) {
    if (!kind || text(row.param.name).empty()) continue;
    if (std::ranges::find(row.kinds, *kind) == row.kinds.end()) {
      problems.push_back({pointer("", row.param.name),
                          fmt::format("means nothing for a {} cluster", text("kind")), ""});
    }
  }
  const std::string_view ssh = text("ssh");
  if (!ssh.empty()) {
    if (const auto checked = check_ssh_destination(ssh); !checked) {
      problems.push_back({"/ssh", checked.error().message, ""});
    }
  }
  for (const std::string_view key : {"ssh_port", "ssh_identity"}) {
    if (args.if_contains(key) != nullptr && ssh.empty()) {
      problems.push_back({pointer("", key), "means nothing without --ssh", ""});
    }
  }
  check_url(args, "server", {"https://"}, problems);
  check_url(args, "slurmrestd", {"https://", "http://127.0.0.1:", "http://localhost:", "unix:/"},
            problems);
  check_duration(args, "timeout", seconds(1), hours(1), problems);
  check_duration(args, "max_age", seconds(1), hours(24 * 365), problems);
  if (const json::value* port = args.if_contains("ssh_port");
      port != nullptr && port->is_int64() && (port->get_int64() < 1 || port->get_int64() > 65535)) {
    problems.push_back({"/ssh_port", "is not a port (1 to 65535)", ""});
  }
  return problems;
}

Result<Reply> add(Service& service, const Call& call) {
  AddCluster what;
  what.name = call.text("name");
  what.address.kind = find_cluster_kind(call.text("kind")).value_or(ClusterKind::host);
  for (const AddressParam& row : address_params())
    what.address.*row.member = call.text(row.param.name);
  what.address.ssh_port = static_cast<int>(call.integer("ssh_port", 0));
  EXA_ASSIGN(what.address.timeout, parse_duration(call.text("timeout")));
  EXA_ASSIGN(what.max_age, parse_duration(call.text("max_age")));
  return reply_of(add_cluster(service, call.caller, what));
}

Result<Reply> list(Service& service, const Call&) {
  return reply_of(list_clusters(service));
}

Result<Reply> show(Service& service, const Call& call) {
  return reply_of(show_cluster(service, call.text("name"), call.flag("nodes")));
}

Result<Reply> discover(Service& service, const Call& call) {
  DiscoverCluster what{call.text("name"), {}};
  if (call.has("from")) what.file = call.text("from");
  return reply_of(discover_cluster(service, call.caller, what));
}

Result<Reply> capture(Service& service, const Call& call) {
  return reply_of(capture_cluster(service, call.caller, call.text("name")));
}

Result<Reply> remove(Service& service, const Call& call) {
  return reply_of(remove_cluster(service, call.caller, call.text("name"), call.flag("force"),
                                 call.text("reason")));
}

Param name_param() {
  return {.name = "name",
          .in = In::path,
          .help = "name of the cluster",
          .required = true,
          .completes = "cluster"};
}

std::vector<Param> add_params() {
  std::vector<Param> params = {
      name_param(),
      {.name = "kind",
       .in = In::body,
       .kind = Kind::choice,
       .flag = "--kind",
       .help = "what runs there",
       .required = true,
       .choices = kKinds},
  };
  for (const AddressParam& row : address_params()) params.push_back(row.param);
  params.push_back({.name = "ssh_port",
                    .in = In::body,
                    .kind = Kind::integer,
                    .flag = "--ssh-port",
                    .help = "port for ssh (default: what ssh is configured to)"});
  params.push_back({.name = "timeout",
                    .in = In::body,
                    .kind = Kind::duration,
                    .flag = "--timeout",
                    .help = "how long one question may take",
                    .fallback = "30s"});
  params.push_back({.name = "max_age",
                    .in = In::body,
                    .kind = Kind::duration,
                    .flag = "--max-age",
                    .help = "a snapshot older than this verifies nothing",
                    .fallback = "15m"});
  params.push_back(dry_run_param());
  return params;
}

}  // namespace

std::vector<Route> cluster_routes() {
  return {
      {.id = "cluster.add",
       .method = Method::post,
       .path = "/api/v1/clusters/{name}",
       .command = "cluster add",
       .tier = Tier::mutating,
       .action = "cluster:write",
       .summary = "Register a cluster: where it is and how it is asked",
       .detail = "Paths to keys and tokens are kept, never their contents. Nothing is asked yet: "
                 "see discover.",
       .params = add_params(),
       .handler = add,
       .reply = "Cluster",
       .creates = true,
       .check = check_add,
       .examples =
           {"exa cluster add here --kind host",
            "exa cluster add hpc --kind slurm --ssh login.example.org",
            "exa cluster add k8s --kind kubernetes --kubeconfig ~/.kube/config --context prod"}},
      {.id = "cluster.list",
       .path = "/api/v1/clusters",
       .command = "cluster list",
       .action = "cluster:read",
       .summary = "List clusters with what was last seen",
       .handler = list,
       .reply = "ClusterList",
       .examples = {"exa cluster list"}},
      {.id = "cluster.show",
       .path = "/api/v1/clusters/{name}",
       .command = "cluster show",
       .action = "cluster:read",
       .summary = "Show a cluster: devices by model, what cannot be used and why",
       .params =
           {name_param(),
            {.name = "nodes", .kind = Kind::flag, .flag = "--nodes", .help = "every node as well"}},
       .handler = show,
       .reply = "ClusterWithNodes",
       .examples = {"exa cluster show here"}},
      {.id = "cluster.discover",
       .method = Method::post,
       .path = "/api/v1/clusters/{name}/snapshots",
       .command = "cluster discover",
       .tier = Tier::mutating,
       .action = "cluster:discover",
       .summary = "Look at a cluster and keep what was seen as a snapshot",
       .detail = "A failed look keeps the last good snapshot and records why it failed.",
       .params = {name_param(),
                  {.name = "from",
                   .in = In::body,
                   .kind = Kind::file,
                   .flag = "--from",
                   .help = "read this saved capture or tool output instead (- for standard input)",
                   .most_bytes = kLargestCapture},
                  dry_run_param()},
       .handler = discover,
       .reply = "DiscoveredCluster",
       .is_long = true,
       .examples = {"exa cluster discover here"}},
      {.id = "cluster.capture",
       .path = "/api/v1/clusters/{name}/capture",
       .command = "cluster capture",
       .action = "cluster:discover",
       .summary = "Print everything that a look at the cluster reads, verbatim",
       .detail = "Stores nothing. Save it, and discover --from reads it again anywhere: any answer "
                 "can be reproduced.",
       .params = {name_param()},
       .handler = capture,
       .reply = "Capture",
       .examples = {"exa cluster capture here"}},
      {.id = "cluster.remove",
       .method = Method::del,
       .path = "/api/v1/clusters/{name}",
       .command = "cluster remove",
       .tier = Tier::destructive,
       .action = "cluster:delete",
       .summary = "Forget a cluster; its snapshots stay in the store",
       .params = {name_param(),
                  {.name = "force",
                   .kind = Kind::flag,
                   .flag = "--force",
                   .help = "although consumers run there"},
                  {.name = "reason",
                   .flag = "--reason",
                   .help = "why; required with --force, kept in the audit log"},
                  dry_run_param()},
       .handler = remove,
       .reply = "RemovedCluster",
       .if_match = true,
       .examples = {"exa cluster remove here --yes"}},
  };
}

}  // namespace exa
