#include "launch/kubernetes_api.h"

#include <fmt/format.h>

#include "base/encoding.h"
#include "base/text.h"

namespace exa::kubernetes {
namespace {

constexpr KindRow kKinds[] = {
    {"Pod", "/api/v1", "pods", "pod"},
    {"Service", "/api/v1", "services", "service"},
    {"ConfigMap", "/api/v1", "configmaps", "configmap"},
    {"PersistentVolumeClaim", "/api/v1", "persistentvolumeclaims", "persistentvolumeclaim"},
    {"Job", "/apis/batch/v1", "jobs", "job.batch"},
    {"Deployment", "/apis/apps/v1", "deployments", "deployment.apps"},
    {"InferenceService", "/apis/serving.kserve.io/v1beta1", "inferenceservices",
     "inferenceservice.serving.kserve.io"},
};

constexpr size_t kMostOfAnAnswer = size_t{64} << 20;

bool went_well(long status) {
  return status >= 200 && status < 300;
}

Code code_of(long status) {
  switch (status) {
    case 401:
    case 403:
      return Code::forbidden;
    case 409:
      return Code::conflict;
    case 400:
    case 404:
    case 405:
    case 413:
    case 415:
    case 422:
      return Code::unresolvable;
    default:  // 429, 5xx: not now
      return Code::unreachable;
  }
}

std::string_view query_of(Trial trial) {
  return trial == Trial::yes ? "dryRun=All&" : "";
}

// "Job exa-training-llama"
std::string name_of(const json::value& object) {
  const json::value* metadata = find(object, "metadata");
  return fmt::format("{} {}", text_or(object, "kind", "object"),
                     metadata == nullptr ? "" : text_or(*metadata, "name", ""));
}

}  // namespace

const KindRow* find_kind(std::string_view kind) {
  const auto* row = std::ranges::find(kKinds, kind, &KindRow::kind);
  return row == std::end(kKinds) ? nullptr : row;
}

std::string path_of(const KindRow& kind, std::string_view name_space, std::string_view name) {
  return fmt::format("{}/namespaces/{}/{}{}{}", kind.api, percent_encode(name_space), kind.plural,
                     name.empty() ? "" : "/", percent_encode(name));
}

Result<Api> Api::connect(const ClusterAddress& address, Progress& progress) {
  Api api;
  EXA_ASSIGN(api.access_, kubernetes_access(address, kubernetes_environment()));
  api.timeout_ = address.timeout;
  api.progress_ = &progress;
  return api;
}

std::string Api::describe() const {
  return fmt::format("{} ({})", printable(access_.server), access_.origin);
}

Result<HttpReply> Api::send(std::string_view method, std::string_view path,
                            std::string_view content_type, std::string body) {
  HttpRequest request = request_to(access_, path);
  request.method = method;
  if (!content_type.empty()) request.headers.emplace_back("Content-Type", content_type);
  request.body = std::move(body);
  request.timeout = timeout_;
  request.max_body = kMostOfAnAnswer;
  request.unwanted = [this] { return progress_->cancelled(); };
  return client_.send(request);
}

Error Api::refusal(const HttpReply& reply, std::string_view what) const {
  const std::string said = status_sentence(reply.body);
  Error error;
  error.code = code_of(reply.status);
  error.message = fmt::format("{} answered {} to {}{}{}", describe(), reply.status, what,
                              said.empty() ? "" : ": ", said);
  if (reply.status == 401) error.next = "kubectl auth whoami";
  if (reply.status == 403) error.next = "kubectl auth can-i --list";
  return error;
}

Result<std::optional<json::value>> Api::get(const std::string& path) {
  EXA_ASSIGN(const HttpReply reply, send("GET", path));
  if (reply.status == 404) return std::optional<json::value>();
  if (!went_well(reply.status)) return fail(refusal(reply, "GET " + path));
  EXA_ASSIGN(json::value object, parse_json(reply.body, "GET " + path, tool_output_limits()));
  return std::optional(std::move(object));
}

Result<json::array> Api::list(const std::string& path, std::string_view query) {
  EXA_ASSIGN(const auto answer, get(fmt::format("{}?{}", path, query)));
  if (!answer) return json::array();
  const json::value* items = find(*answer, "items");
  if (items == nullptr || !items->is_array()) return json::array();  // Go prints no items as null
  return items->get_array();
}

Result<json::array> Api::labelled(const std::string& path, std::string_view labels) {
  return list(path, "labelSelector=" + percent_encode(labels));
}

Result<std::string> Api::text(const std::string& path) {
  EXA_ASSIGN(HttpReply reply, send("GET", path));
  if (went_well(reply.status)) return std::move(reply.body);
  Error error = refusal(reply, "GET " + path.substr(0, path.find('?')));
  // 400: the container has not started; 404: there is no such pod any more
  if (reply.status == 400 || reply.status == 404) error.code = Code::not_found;
  return fail(std::move(error));
}

Result<json::value> Api::answer(const Result<HttpReply>& reply, const json::value& object) {
  if (!reply) return fail(reply.error());
  if (!went_well(reply->status)) return fail(refusal(*reply, "the " + name_of(object)));
  return parse_json(reply->body, name_of(object), tool_output_limits());
}

Result<json::value> Api::create(const std::string& collection, const json::value& object,
                                Trial trial) {
  return answer(send("POST", fmt::format("{}?{}fieldManager=exa", collection, query_of(trial)),
                     "application/json", to_text(object)),
                object);
}

Result<json::value> Api::apply(const std::string& path, const json::value& object, Trial trial) {
  // JSON is YAML; `force`: what exa writes is its own, whoever changed it
  return answer(
      send("PATCH", fmt::format("{}?{}fieldManager=exa&force=true", path, query_of(trial)),
           "application/apply-patch+yaml", to_text(object)),
      object);
}

Result<void> Api::remove(const std::string& path, std::string_view uid) {
  json::object options{{"propagationPolicy", "Background"}};
  if (!uid.empty()) options["preconditions"] = json::object{{"uid", uid}};
  EXA_ASSIGN(const HttpReply reply, send("DELETE", path, "application/json", to_text(options)));
  // 409: another of that name stands there by now
  if (went_well(reply.status) || reply.status == 404 || (reply.status == 409 && !uid.empty()))
    return {};
  return fail(refusal(reply, "DELETE " + path));
}

}  // namespace exa::kubernetes
