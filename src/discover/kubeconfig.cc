#include "discover/kubeconfig.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "base/text.h"
#include "base/yaml.h"
#include "discover/kubeconfig_exec.h"

namespace exa {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxFile = size_t{4} << 20;

Result<std::string> read_small_file(const std::string& path, std::string_view what) {
  std::error_code problem;
  if (fs::is_directory(path, problem))
    return fail(Code::invalid_input, fmt::format("{} {} is a folder", what, printable(path)));
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return fail(Code::not_found, fmt::format("{} {} cannot be read", what, printable(path)));
  std::string text(kMaxFile + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  if (text.size() > kMaxFile)
    return fail(Code::invalid_input,
                fmt::format("{} {} is larger than {} bytes", what, printable(path), kMaxFile));
  return text;
}

// An entry of `clusters`, `users` or `contexts`, with the file it stands in.
struct Entry {
  json::value body;
  std::string file;
};

struct Kubeconfig {
  std::vector<std::pair<std::string, Entry>> clusters, users, contexts;
  std::string current_context;
  std::vector<std::string> files;
};

Failure problem_in(const std::string& file, std::string where, std::string message) {
  return fail(invalid(fmt::format("kubeconfig {}", printable(file)),
                      {{std::move(where), std::move(message), {}}}));
}

Result<bool> add_entries(const json::value& document, const std::string& file, const char* list,
                         const char* body, std::vector<std::pair<std::string, Entry>>& out) {
  const json::value* entries = find(document, list);
  if (!entries || entries->is_null()) return true;
  if (!entries->is_array()) return problem_in(file, pointer("", list), "a list is expected here");
  for (const json::value& entry : entries->get_array()) {
    const std::string_view name = text_or(entry, "name", "");
    const json::value* value = find(entry, body);
    if (name.empty()) return problem_in(file, pointer("", list), "an entry without a name");
    if (std::ranges::find(out, name, &std::pair<std::string, Entry>::first) != out.end()) continue;
    out.emplace_back(name, Entry{value ? *value : json::value(json::object()), file});
  }
  return true;
}

Result<bool> add_file(const std::string& path, Kubeconfig& config) {
  EXA_ASSIGN(const std::string text, read_small_file(path, "kubeconfig"));
  YamlLimits limits;
  limits.each.max_bytes = kMaxFile;
  limits.max_scalar_bytes = size_t{1} << 20;  // certificates stand in here
  EXA_ASSIGN(const auto documents, parse_yaml(text, path, limits));
  config.files.push_back(path);
  if (documents.empty()) return true;
  if (documents.size() > 1) return problem_in(path, "", "more than one YAML document");
  const json::value& document = documents[0].value;
  if (document.is_null()) return true;
  if (!document.is_object()) return problem_in(path, "", "an object is expected");
  if (const auto kind = text_or(document, "kind", "Config"); kind != "Config")
    return problem_in(path, "/kind", fmt::format("\"{}\" is no kubeconfig", printable(kind)));
  EXA_TRY(add_entries(document, path, "clusters", "cluster", config.clusters));
  EXA_TRY(add_entries(document, path, "users", "user", config.users));
  EXA_TRY(add_entries(document, path, "contexts", "context", config.contexts));
  if (config.current_context.empty())
    config.current_context = text_or(document, "current-context", "");
  return true;
}

Result<const Entry*> named(const std::vector<std::pair<std::string, Entry>>& entries,
                           std::string_view what, const std::string& name,
                           const Kubeconfig& config) {
  std::vector<std::string> names;
  for (const auto& [known, entry] : entries) {
    if (known == name) return &entry;
    names.push_back(known);
  }
  Error error{
      Code::not_found,
      fmt::format("there is no {} \"{}\" in {}", what, printable(name), join(config.files, ", ")),
      {},
      {},
      names};
  if (const std::string hint = did_you_mean(name, names); !hint.empty())
    error.message += "; " + hint;
  return fail(std::move(error));
}

std::string beside(const std::string& file, std::string_view path) {
  const fs::path given(path);
  return given.is_absolute() ? given.string() : (fs::path(file).parent_path() / given).string();
}

// KEY-data holds the PEM in base64 and wins over KEY, as in kubectl.
Result<Pem> pem_at(const Entry& entry, std::string_view where, const std::string& key) {
  Pem pem;
  if (const std::string_view data = text_or(entry.body, key + "-data", ""); !data.empty()) {
    std::vector<uint8_t> bytes;
    if (!decode_base64(data, bytes))
      return problem_in(entry.file, fmt::format("{}/{}-data", where, key), "this is no base64");
    pem.data = Secret(std::string(bytes.begin(), bytes.end()));
  } else if (const std::string_view path = text_or(entry.body, key, ""); !path.empty()) {
    pem.file = beside(entry.file, path);
  }
  return pem;
}

bool is_true(const json::value& object, std::string_view key) {
  const json::value* value = find(object, key);
  return value && value->is_bool() && value->get_bool();
}

Result<bool> use_cluster(const Entry& cluster, KubernetesAccess& access) {
  access.server = text_or(cluster.body, "server", "");
  if (access.server.empty())
    return problem_in(cluster.file, "/clusters", "the cluster has no server");
  if (is_true(cluster.body, "insecure-skip-tls-verify"))
    return problem_in(cluster.file, "/clusters/insecure-skip-tls-verify",
                      "a server whose certificate is not checked is not asked: what it says could "
                      "come from anybody; give certificate-authority instead");
  EXA_ASSIGN(access.ca, pem_at(cluster, "/clusters", "certificate-authority"));
  access.tls_server_name = text_or(cluster.body, "tls-server-name", "");
  access.proxy = text_or(cluster.body, "proxy-url", "");
  return true;
}

Result<Secret> token_from_file(const std::string& path) {
  EXA_ASSIGN(const std::string text, read_small_file(path, "token file"));
  const std::string_view token = trim(text);
  if (token.empty())
    return fail(Code::invalid_input, fmt::format("token file {} is empty", printable(path)));
  return Secret(std::string(token));
}

Result<bool> use_exec(const Entry& user, const Entry& cluster, KubernetesAccess& access) {
  const json::value* exec = find(user.body, "exec");
  EXA_ASSIGN(ExecCredential credential,
             run_exec_plugin(*exec, user.file, cluster.body, access.server));
  access.token = std::move(credential.token);
  if (!credential.client_cert.empty()) {
    access.client_cert = std::move(credential.client_cert);
    access.client_key = std::move(credential.client_key);
  }
  return true;
}

Result<bool> use_user(const Entry& user, const Entry& cluster, KubernetesAccess& access) {
  EXA_ASSIGN(access.client_cert, pem_at(user, "/users", "client-certificate"));
  EXA_ASSIGN(access.client_key, pem_at(user, "/users", "client-key"));
  if (access.client_cert.empty() != access.client_key.empty())
    return problem_in(user.file, "/users",
                      "a client certificate and its key are only useful together");
  if (find(user.body, "auth-provider"))
    return problem_in(
        user.file, "/users/auth-provider",
        "auth-provider plugins were removed from Kubernetes 1.26; use an exec plugin");
  if (find(user.body, "username") || find(user.body, "password"))
    return problem_in(user.file, "/users/username",
                      "API servers have not accepted passwords since Kubernetes 1.19; use a token");
  if (const std::string_view as = text_or(user.body, "as", ""); !as.empty())
    access.headers.emplace_back("Impersonate-User", as);
  if (const json::value* groups = find(user.body, "as-groups"); groups && groups->is_array())
    for (const json::value& group : groups->get_array())
      if (group.is_string()) access.headers.emplace_back("Impersonate-Group", group.get_string());
  // the file wins over the inline token, as in client-go: it is the one that gets renewed
  if (const std::string_view path = text_or(user.body, "tokenFile", ""); !path.empty()) {
    EXA_ASSIGN(access.token, token_from_file(beside(user.file, path)));
  } else if (const std::string_view token = text_or(user.body, "token", ""); !token.empty()) {
    access.token = Secret(std::string(token));
  }
  const json::value* exec = find(user.body, "exec");
  if (exec && !exec->is_null() && access.token.empty()) EXA_TRY(use_exec(user, cluster, access));
  return true;
}

Result<KubernetesAccess> from_config(const Kubeconfig& config, const std::string& wanted) {
  const std::string name = wanted.empty() ? config.current_context : wanted;
  if (name.empty())
    return fail(Code::not_found, fmt::format("{} names no current-context; name one with --context",
                                             join(config.files, ", ")));
  EXA_ASSIGN(const Entry* context, named(config.contexts, "context", name, config));
  EXA_ASSIGN(const Entry* cluster,
             named(config.clusters, "cluster", std::string(text_or(context->body, "cluster", "")),
                   config));
  KubernetesAccess access;
  access.origin = fmt::format("context {} of {}", printable(name), printable(context->file));
  EXA_TRY(use_cluster(*cluster, access));
  const std::string user_name(text_or(context->body, "user", ""));
  if (!user_name.empty()) {
    EXA_ASSIGN(const Entry* user, named(config.users, "user", user_name, config));
    EXA_TRY(use_user(*user, *cluster, access));
  }
  return access;
}

Result<KubernetesAccess> from_files(const ClusterAddress& address) {
  KubernetesAccess access;
  access.server = address.server;
  access.ca.file = address.ca_file;
  access.client_cert.file = address.client_cert_file;
  access.client_key.file = address.client_key_file;
  if (access.client_cert.empty() != access.client_key.empty())
    return fail(Code::invalid_input, "a client certificate and its key are only useful together");
  if (!address.token_file.empty()) {
    EXA_ASSIGN(access.token, token_from_file(address.token_file));
  }
  access.origin = "server " + printable(address.server);
  return access;
}

Result<KubernetesAccess> from_service_account(const KubernetesEnvironment& environment) {
  KubernetesAccess access;
  const bool v6 = environment.service_host.find(':') != std::string::npos;
  access.server =
      fmt::format("https://{}{}{}:{}", v6 ? "[" : "", environment.service_host, v6 ? "]" : "",
                  environment.service_port.empty() ? "443" : environment.service_port);
  access.ca.file = environment.service_account + "/ca.crt";
  EXA_ASSIGN(access.token, token_from_file(environment.service_account + "/token"));
  access.origin = "service account of this pod";
  return access;
}

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// The files that exist: kubectl skips those of $KUBECONFIG that do not.
Result<Kubeconfig> load_all(const std::vector<std::string>& paths) {
  Kubeconfig config;
  for (const std::string& path : paths) {
    std::error_code problem;
    if (fs::exists(path, problem)) EXA_TRY(add_file(path, config));
  }
  return config;
}

}  // namespace

KubernetesEnvironment kubernetes_environment() {
  KubernetesEnvironment environment;
  environment.kubeconfig = from_environment("KUBECONFIG");
  environment.home = from_environment("HOME");
  environment.service_host = from_environment("KUBERNETES_SERVICE_HOST");
  environment.service_port = from_environment("KUBERNETES_SERVICE_PORT");
  return environment;
}

Result<KubernetesAccess> kubernetes_access(const ClusterAddress& address,
                                           const KubernetesEnvironment& environment) {
  if (!address.server.empty()) return from_files(address);
  if (!address.kubeconfig.empty()) {  // named: it has to be there
    Kubeconfig config;
    EXA_TRY(add_file(address.kubeconfig, config));
    return from_config(config, address.context);
  }
  std::vector<std::string> paths;
  for (const std::string_view path : split(environment.kubeconfig, ':'))
    if (!path.empty()) paths.emplace_back(path);
  if (paths.empty() && !environment.home.empty())
    paths.push_back(environment.home + "/.kube/config");
  EXA_ASSIGN(const Kubeconfig config, load_all(paths));
  if (!config.files.empty()) return from_config(config, address.context);
  if (!environment.service_host.empty()) return from_service_account(environment);
  return fail(Code::not_found,
              paths.empty()
                  ? std::string("no kubeconfig is known: neither $KUBECONFIG nor $HOME is set")
                  : fmt::format("there is no kubeconfig at {}", join(paths, ", ")),
              "exa cluster add NAME --kind kubernetes --kubeconfig FILE");
}

}  // namespace exa
