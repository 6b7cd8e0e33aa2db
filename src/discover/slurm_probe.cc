// Asking Slurm: what scontrol prints in every release, or slurmrestd when an address names it.
#include <array>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include "base/text.h"
#include "discover/http.h"
#include "discover/probe.h"
#include "discover/readers.h"
#include "discover/url.h"

namespace exa {
namespace {

struct Question {
  std::string_view name;
  std::vector<std::string> argv;
};

// -d adds GresUsed, the only word on use per model that needs no accounting. -o keeps a node on a
// line, which is what a person saves and greps.
const Question& nodes_question() {
  static const Question question = {"scontrol show node", {"scontrol", "-d", "-o", "show", "node"}};
  return question;
}

// What the answers to these add is worth having, but the nodes can be read without.
std::vector<Question> extra_questions() {
  return {{"scontrol show config", {"scontrol", "show", "config"}},
          {"scontrol show reservation -o", {"scontrol", "-o", "show", "reservation"}}};
}

const Question& jobs_question() {
  static const Question question = {"squeue --json", {"squeue", "--json"}};
  return question;
}

CapturedOutput captured(const Question& question, Finished finished) {
  return {std::string(question.name), question.argv, finished.exit_code, std::move(finished.out),
          std::move(finished.err)};
}

// A question that may stay unanswered: the failure is kept as its answer.
CapturedOutput ask(const Question& question, Transport& transport) {
  auto finished = transport.run(question.argv);
  if (finished) return captured(question, std::move(*finished));
  return {std::string(question.name), question.argv, -1, "", finished.error().message};
}

std::string first_line(std::string_view text) {
  text = trim(text);
  return printable(text.substr(0, std::min<size_t>(text.find('\n'), 300)));
}

Failure failed(std::string_view what, std::string_view said, std::string next) {
  return fail(Code::probe_failed, fmt::format("{} failed: {}", what, said), std::move(next));
}

// Shares without a count of use: nothing but the jobs themselves can tell.
bool leaves_shares_open(const Capture& capture) {
  const auto inventory = read_slurm(capture);
  if (!inventory) return false;
  for (const Node& node : inventory->nodes) {
    for (const CardSet& cards : node.cards) {
      for (const Offer& offer : cards.offers) {
        const bool shared = offer.sharing == Sharing::shard || offer.sharing == Sharing::mps;
        if (shared && !offer.used) return true;
      }
    }
  }
  return false;
}

Result<Capture> probe_tools(Transport& transport, Time now) {
  Capture capture{ClusterKind::slurm, now, transport.describe(), {}};
  const Question& nodes = nodes_question();
  auto finished = transport.run(nodes.argv);
  if (!finished) return fail(std::move(finished).error());
  if (finished->exit_code != 0) {
    return failed(join(nodes.argv, " "),
                  first_line(finished->err.empty() ? finished->out : finished->err),
                  "scontrol ping");
  }
  capture.outputs.push_back(captured(nodes, std::move(*finished)));
  for (const Question& question : extra_questions()) {
    capture.outputs.push_back(ask(question, transport));
  }
  if (leaves_shares_open(capture)) capture.outputs.push_back(ask(jobs_question(), transport));
  return capture;
}

// ---- slurmrestd ---------------------------------------------------------------------------------

// The newest the reader knows first; a server offers several and answers 404 to the others.
constexpr std::array kApiVersions = {"v0.0.44", "v0.0.43", "v0.0.42", "v0.0.41",
                                     "v0.0.40", "v0.0.39", "v0.0.38", "v0.0.37"};

Result<Secret> token_of(const ClusterAddress& address) {
  if (address.token_file.empty()) {
    const char* token = std::getenv("SLURM_JWT");
    return Secret(token == nullptr ? "" : token);
  }
  std::ifstream file(address.token_file, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) {
    return fail(Code::probe_failed,
                fmt::format("the token file {} cannot be read", printable(address.token_file)));
  }
  std::string_view token = trim(text.view());
  // `scontrol token` prints SLURM_JWT=…, which people redirect into the file as it is
  constexpr std::string_view kAssignment = "SLURM_JWT=";
  if (token.starts_with(kAssignment)) token.remove_prefix(kAssignment.size());
  return Secret(std::string(token));
}

std::string user_name() {
  for (const char* name : {"SLURM_USER_NAME", "LOGNAME", "USER"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') return value;
  }
  // services run without any of them, and slurmrestd takes no token without a name
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 16384> space{};
  if (::getpwuid_r(::geteuid(), &entry, space.data(), space.size(), &found) != 0) return "";
  return found == nullptr ? "" : found->pw_name;
}

struct RestServer {
  HttpRequest request;  // without the path
  std::string base;     // "http://localhost"
  std::string described;
};

Result<RestServer> server_of(const ClusterAddress& address) {
  RestServer server;
  server.described = address.slurmrestd;
  server.request.timeout = address.timeout;
  server.request.ca.file = address.ca_file;
  server.request.client_cert.file = address.client_cert_file;
  server.request.client_key.file = address.client_key_file;
  constexpr std::string_view kUnix = "unix:";
  if (address.slurmrestd.starts_with(kUnix)) {
    server.request.unix_socket = address.slurmrestd.substr(kUnix.size());
    server.base = "http://localhost";
  } else if (address.slurmrestd.starts_with("http://") ||
             address.slurmrestd.starts_with("https://")) {
    server.base = address.slurmrestd;
    while (server.base.ends_with('/')) server.base.pop_back();
  } else {
    return fail(Code::invalid_input, fmt::format("slurmrestd address \"{}\" is neither unix:/path "
                                                 "nor http(s)://host:port",
                                                 printable(address.slurmrestd)));
  }
  EXA_ASSIGN(const Secret token, token_of(address));
  if (!token.empty() && server.request.unix_socket.empty() && !may_carry_secrets(server.base)) {
    return fail(Code::invalid_input,
                fmt::format("a token is not sent over plain http to another machine ({})",
                            printable(address.slurmrestd)),
                "use https:// or a unix: socket");
  }
  if (!token.empty()) {
    // both headers: rest_auth/jwt takes the user from the first when the token names none
    server.request.headers.emplace_back("X-SLURM-USER-TOKEN", token.reveal());
    if (const std::string user = user_name(); !user.empty()) {
      server.request.headers.emplace_back("X-SLURM-USER-NAME", user);
    }
  }
  return server;
}

Result<HttpReply> get(const RestServer& server, std::string_view path) {
  HttpRequest request = server.request;
  request.url = fmt::format("{}{}", server.base, path);
  return http_send(request);
}

CapturedOutput captured(std::string_view name, HttpReply reply) {
  const int code = reply.status == 200 ? 0 : static_cast<int>(reply.status);
  return {std::string(name), {}, code, std::move(reply.body), ""};
}

Failure refused(const RestServer& server, const HttpReply& reply) {
  const bool login = reply.status == 401 || reply.status == 403;
  return failed(server.described,
                fmt::format("status {}: {}", reply.status, first_line(reply.body)),
                login ? "export $(scontrol token)" : "");
}

Result<Capture> probe_rest(const ClusterAddress& address, Time now, Progress& progress) {
  EXA_ASSIGN(RestServer server, server_of(address));
  server.request.unwanted = [&progress] { return progress.cancelled(); };
  int64_t asked = 0;
  for (const char* version : kApiVersions) {
    EXA_TRY(progress.step("questions", asked++, 0));
    EXA_ASSIGN(HttpReply reply, get(server, fmt::format("/slurm/{}/nodes", version)));
    if (reply.status == 404) continue;
    if (reply.status != 200) return refused(server, reply);
    Capture capture{ClusterKind::slurm, now, server.described, {}};
    capture.outputs.push_back(captured("slurmrestd nodes", std::move(reply)));
    return capture;
  }
  return failed(server.described,
                fmt::format("it offers none of the API versions {} to {}", kApiVersions.back(),
                            kApiVersions.front()),
                "");
}

}  // namespace

Result<Capture> probe_slurm(const ClusterAddress& address, Transport& transport, Time now) {
  if (!address.slurmrestd.empty()) return probe_rest(address, now, transport.progress());
  return probe_tools(transport, now);
}

}  // namespace exa
