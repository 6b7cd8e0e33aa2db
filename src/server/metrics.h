// What Prometheus scrapes. Names begin with exa_, units are base units, and no label holds anything
// that a user typed. Thread-safe.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace prometheus {
class Registry;
class Counter;
class Histogram;
class Gauge;
template <typename T>
class Family;
}  // namespace prometheus

namespace exa {

class Metrics {
 public:
  Metrics();
  ~Metrics();

  // `route`: an id of the route table, "" for what matched none.
  void answered(const std::string& route, int status, std::chrono::nanoseconds took, size_t bytes);
  void connections(int change);
  void from_cache();
  // A figure that is read when somebody scrapes, by its name ("exa_audit_entries").
  using Labels = std::map<std::string, std::string>;
  void set(const std::string& name, const std::string& help, double value,
           const Labels& labels = {});
  void unset(const std::string& name, const std::string& help);  // of one without labels

  std::string text() const;  // Prometheus text format 0.0.4

 private:
  struct OfRoute;
  OfRoute& of_route(const std::string& route, int status);

  std::unique_ptr<prometheus::Registry> registry_;
  prometheus::Family<prometheus::Counter>& requests_;
  prometheus::Family<prometheus::Histogram>& durations_;
  prometheus::Counter& bytes_;
  prometheus::Counter& cached_;
  prometheus::Gauge& open_;
  std::mutex mutex_;
  std::unordered_map<std::string, OfRoute> by_route_;
};

}  // namespace exa
