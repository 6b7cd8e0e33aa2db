// Asking an API server to make, change and delete objects; JSON in and out. An edge: what is asked
// for is decided elsewhere.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/progress.h"
#include "discover/kubernetes_request.h"
#include "discover/probe.h"

namespace exa::kubernetes {

struct KindRow {
  std::string_view kind;
  std::string_view api;      // "/apis/batch/v1"
  std::string_view plural;   // "jobs"
  std::string_view kubectl;  // "job.batch"
};
const KindRow* find_kind(std::string_view kind);  // nullptr: none that a launch is made of

// "/apis/batch/v1/namespaces/research/jobs", with the name behind it when there is one.
std::string path_of(const KindRow& kind, std::string_view name_space, std::string_view name = {});

enum class Trial { no, yes };  // yes: all is checked as if, and nothing is kept

// One thread at a time. Functions fail with
//   unresolvable    the server refused: it cannot be what was asked for
//   forbidden       it does not know who asks, or they may not (a quota answers so too)
//   conflict        another of that name, or somebody changed it meanwhile
//   unreachable     no answer, or that the server cannot answer now
//   probe_failed    no answer that could be read
//   interrupted     nobody waits any more
// The first three leave nothing done.
class Api {
 public:
  static Result<Api> connect(const ClusterAddress& address, Progress& progress);

  Result<std::optional<json::value>> get(const std::string& path);  // nullopt: there is none
  // Of a list, by "KEY=VALUE,…" of labels.
  Result<json::array> labelled(const std::string& path, std::string_view labels);
  Result<json::array> list(const std::string& path, std::string_view query);
  Result<std::string> text(const std::string& path);

  // `collection` and `path` are path_of without and with a name.
  Result<json::value> create(const std::string& collection, const json::value& object, Trial trial);
  // Server-side apply: makes it, or changes what is written in `object` and nothing else.
  Result<json::value> apply(const std::string& path, const json::value& object, Trial trial);
  // What depends on it goes with it. Only the one with that uid, where there is one; what is not
  // there is no error.
  Result<void> remove(const std::string& path, std::string_view uid);

  std::string describe() const;

 private:
  Result<HttpReply> send(std::string_view method, std::string_view path,
                         std::string_view content_type = {}, std::string body = {});
  Result<json::value> answer(const Result<HttpReply>& reply, const json::value& object);
  Error refusal(const HttpReply& reply, std::string_view what) const;

  HttpClient client_;
  KubernetesAccess access_;
  Duration timeout_{};
  Progress* progress_ = nullptr;
};

}  // namespace exa::kubernetes
