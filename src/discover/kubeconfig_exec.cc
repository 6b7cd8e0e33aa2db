#include "discover/kubeconfig_exec.h"

#include <filesystem>

#include <fmt/format.h>

#include "base/process.h"
#include "base/text.h"

namespace exa {
namespace {

constexpr std::string_view kV1 = "client.authentication.k8s.io/v1";
constexpr std::string_view kV1Beta1 = "client.authentication.k8s.io/v1beta1";

Failure bad_section(const std::string& file, std::string where, std::string message) {
  return fail(invalid(fmt::format("kubeconfig {}", printable(file)),
                      {{"/users/exec" + where, std::move(message), {}}}));
}

// A plugin named by a relative path with a slash stands beside the kubeconfig file.
std::string program(const std::string& command, const std::string& file) {
  const std::filesystem::path path(command);
  if (path.is_absolute() || command.find('/') == std::string::npos) return command;
  return (std::filesystem::path(file).parent_path() / path).string();
}

std::string exec_info(std::string_view api_version, const json::value& exec,
                      const json::value& cluster, const std::string& server) {
  json::object spec;
  spec["interactive"] = false;
  const json::value* wanted = find(exec, "provideClusterInfo");
  if (wanted && wanted->is_bool() && wanted->get_bool()) {
    json::object told;
    told["server"] = server;
    for (const char* key : {"tls-server-name", "certificate-authority-data", "proxy-url"})
      if (const json::value* value = find(cluster, key)) told[key] = *value;
    spec["cluster"] = std::move(told);
  }
  json::object info;
  info["kind"] = "ExecCredential";
  info["apiVersion"] = api_version;
  info["spec"] = std::move(spec);
  return to_text(info);
}

Result<bool> add_words(const json::value& exec, const std::string& file, Command& command) {
  if (const json::value* args = find(exec, "args"); args && !args->is_null()) {
    if (!args->is_array()) return bad_section(file, "/args", "a list of texts is expected");
    for (const json::value& word : args->get_array()) {
      if (!word.is_string()) return bad_section(file, "/args", "a list of texts is expected");
      command.argv.emplace_back(word.get_string());
    }
  }
  if (const json::value* env = find(exec, "env"); env && !env->is_null()) {
    if (!env->is_array()) return bad_section(file, "/env", "a list of name and value is expected");
    for (const json::value& pair : env->get_array()) {
      const std::string name(text_or(pair, "name", ""));
      if (name.empty() || name.find('=') != std::string::npos)
        return bad_section(file, "/env", "a list of name and value is expected");
      command.extra_env.emplace_back(name, text_or(pair, "value", ""));
    }
  }
  return true;
}

}  // namespace

Result<ExecCredential> run_exec_plugin(const json::value& exec, const std::string& file,
                                       const json::value& cluster, const std::string& server) {
  const std::string_view version = text_or(exec, "apiVersion", "");
  if (version != kV1 && version != kV1Beta1)
    return bad_section(
        file, "/apiVersion",
        fmt::format("\"{}\" is neither {} nor {}", printable(version), kV1, kV1Beta1));
  if (text_or(exec, "interactiveMode", "") == "Always")
    return bad_section(file, "/interactiveMode",
                       "a plugin that needs a terminal cannot be run here");
  const std::string name(text_or(exec, "command", ""));
  if (name.empty()) return bad_section(file, "/command", "the plugin has no command");

  Command command;
  command.argv.push_back(program(name, file));
  EXA_TRY(add_words(exec, file, command));
  command.extra_env.emplace_back("KUBERNETES_EXEC_INFO", exec_info(version, exec, cluster, server));
  command.max_output = size_t{1} << 20;
  const auto finished = run_command(command);
  if (!finished) {
    std::string message =
        fmt::format("credential plugin {}: {}", printable(name), finished.error().message);
    if (const auto hint = text_or(exec, "installHint", ""); !hint.empty())
      message += fmt::format(" ({})", printable(trim(hint.substr(0, 500))));
    return fail(Code::probe_failed, std::move(message));
  }
  if (finished->exit_code != 0)
    return fail(Code::probe_failed,
                fmt::format("credential plugin {} ended with status {}: {}", printable(name),
                            finished->exit_code,
                            printable(trim(std::string_view(finished->err).substr(0, 500)))));
  return parse_exec_credential(finished->out, version, name);
}

Result<ExecCredential> parse_exec_credential(std::string_view text, std::string_view api_version,
                                             std::string_view plugin) {
  const auto refuse = [&](std::string_view why) {
    return fail(Code::probe_failed,
                fmt::format("credential plugin {}: {}", printable(plugin), why));
  };
  // the parser's message could repeat a token, so it is not passed on
  const auto answer = parse_json(text, "ExecCredential");
  if (!answer || !answer->is_object()) return refuse("its answer is no JSON object");
  if (text_or(*answer, "kind", "") != "ExecCredential")
    return refuse("its answer is no ExecCredential");
  if (text_or(*answer, "apiVersion", "") != api_version)
    return refuse(fmt::format("its answer is not of the version asked for, {}", api_version));
  const json::value* status = find(*answer, "status");
  if (!status || !status->is_object()) return refuse("its answer has no status");
  ExecCredential credential;
  credential.token = Secret(std::string(trim(text_or(*status, "token", ""))));
  credential.client_cert.data = Secret(std::string(text_or(*status, "clientCertificateData", "")));
  credential.client_key.data = Secret(std::string(text_or(*status, "clientKeyData", "")));
  if (credential.client_cert.empty() != credential.client_key.empty())
    return refuse("it gave a client certificate without a key, or a key without a certificate");
  if (credential.token.empty() && credential.client_cert.empty())
    return refuse("it gave neither a token nor a certificate");
  return credential;
}

}  // namespace exa
