#include "server/metrics.h"

#include <sstream>

#include <fmt/format.h>
#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

namespace exa {
namespace {

// From a cached answer to a slow probe, in seconds.
const prometheus::Histogram::BucketBoundaries kBuckets{0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03,
                                                       0.1,    0.3,    1,     3,     10};

std::string class_of(int status) {
  return fmt::format("{}xx", status / 100);
}

}  // namespace

struct Metrics::OfRoute {
  prometheus::Counter* requests;
  prometheus::Histogram* duration;
};

Metrics::Metrics()
    : registry_(std::make_unique<prometheus::Registry>()),
      requests_(prometheus::BuildCounter()
                    .Name("exa_http_requests_total")
                    .Help("Requests answered, by route and class of status")
                    .Register(*registry_)),
      durations_(prometheus::BuildHistogram()
                     .Name("exa_http_request_duration_seconds")
                     .Help("Time from the whole request to the answer, by route")
                     .Register(*registry_)),
      bytes_(prometheus::BuildCounter()
                 .Name("exa_http_response_bytes_total")
                 .Help("Bytes of bodies sent")
                 .Register(*registry_)
                 .Add({})),
      cached_(prometheus::BuildCounter()
                  .Name("exa_http_cached_answers_total")
                  .Help("Requests that were answered from memory")
                  .Register(*registry_)
                  .Add({})),
      open_(prometheus::BuildGauge()
                .Name("exa_http_connections")
                .Help("Connections that are open")
                .Register(*registry_)
                .Add({})) {
  prometheus::BuildGauge()
      .Name("exa_build_info")
      .Help("1, with the version as a label")
      .Register(*registry_)
      .Add({{"version", EXA_VERSION}})
      .Set(1);
}

Metrics::~Metrics() = default;

// The library finds a metric by hashing its labels; this is the shorter way.
Metrics::OfRoute& Metrics::of_route(const std::string& route, int status) {
  std::string key = fmt::format("{} {}", status / 100, route);
  const std::lock_guard lock(mutex_);
  const auto found = by_route_.find(key);
  if (found != by_route_.end()) return found->second;
  const std::string label = route.empty() ? "unknown" : route;
  const OfRoute made{&requests_.Add({{"route", label}, {"status", class_of(status)}}),
                     &durations_.Add({{"route", label}}, kBuckets)};
  return by_route_.emplace(std::move(key), made).first->second;
}

void Metrics::answered(const std::string& route, int status, std::chrono::nanoseconds took,
                       size_t bytes) {
  const OfRoute& metrics = of_route(route, status);
  metrics.requests->Increment();
  metrics.duration->Observe(std::chrono::duration<double>(took).count());
  bytes_.Increment(static_cast<double>(bytes));
}

void Metrics::connections(int change) {
  open_.Increment(change);
}

void Metrics::from_cache() {
  cached_.Increment();
}

void Metrics::set(const std::string& name, const std::string& help, double value,
                  const Labels& labels) {
  prometheus::BuildGauge().Name(name).Help(help).Register(*registry_).Add(labels).Set(value);
}

void Metrics::unset(const std::string& name, const std::string& help) {
  auto& family = prometheus::BuildGauge().Name(name).Help(help).Register(*registry_);
  family.Remove(&family.Add({}));
}

std::string Metrics::text() const {
  std::ostringstream out;
  prometheus::TextSerializer().Serialize(out, registry_->Collect());
  return out.str();
}

}  // namespace exa
