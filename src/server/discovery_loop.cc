#include "server/discovery_loop.h"

#include <boost/asio/post.hpp>

namespace exa {
namespace {

constexpr auto kTick = std::chrono::seconds(1);

// The server itself, which acts for whoever set it up.
Caller the_server() {
  Caller caller;
  caller.principal = {
      "service-account", "exa-discovery", "exa:discovery", rights_of_owner(), "", {}};
  caller.origin = "server";
  caller.action = "cluster.discover";
  caller.known = caller.permitted = {.all = true, .names = {}};
  return caller;
}

}  // namespace

void DiscoveryLoop::start() {
  thread_ = std::thread([this] { run(); });
}

void DiscoveryLoop::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(stopping_, true)) return;
  }
  woken_.notify_all();
  if (thread_.joinable()) thread_.join();
  lookers_.join();
}

void DiscoveryLoop::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    lock.unlock();
    if (owns()) look_where_due();
    lock.lock();
    if (!stopping_) woken_.wait_for(lock, kTick);
  }
}

bool DiscoveryLoop::owns() {
  if (ownership_ && ownership_->holds()) return true;
  ownership_.reset();
  auto taken = service_.store().try_own("discovery");
  if (taken) ownership_ = *std::move(taken);
  return ownership_ != nullptr;
}

void DiscoveryLoop::look_where_due() {
  const auto all = read_value<std::vector<Looks>>(service_.store(), load_looks);
  if (!all) return;  // the store's own trouble shows in every answer
  const Time now = service_.now();
  int64_t failing = 0;
  for (const Looks& looks : *all) {
    if (looks.failures > 0) ++failing;
    if (next_look(looks) > now) continue;
    const std::lock_guard lock(mutex_);
    if (stopping_ || !going_on_.insert(looks.cluster).second) continue;
    boost::asio::post(lookers_, [this, cluster = looks.cluster] { look(cluster); });
  }
  metrics_.set("exa_clusters", "Clusters that are known", static_cast<double>(all->size()));
  metrics_.set("exa_clusters_failing", "Clusters whose last look failed",
               static_cast<double>(failing));
}

void DiscoveryLoop::look(const std::string& cluster) {
  const auto seen = discover_cluster(service_, the_server(), {cluster, std::nullopt});
  json::object details{{"cluster", cluster}, {"ok", seen.has_value()}};
  if (!seen) details["error"] = seen.error().message;
  log_.event(service_.now(), "discovery", std::move(details));
  const std::lock_guard lock(mutex_);
  going_on_.erase(cluster);
}

}  // namespace exa
