#include "server/discovery_loop.h"

#include <boost/asio/post.hpp>

namespace exa {
namespace {

constexpr std::chrono::milliseconds kTick{1000};

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

void DiscoveryLoop::start(Periodic::Threw threw) {
  thread_.start(
      [this] {
        if (ownership_.owns()) look_where_due();
        return kTick;
      },
      std::move(threw));
}

void DiscoveryLoop::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(stopping_, true)) return;
  }
  wanted_.cancel();  // what is being asked is not waited for
  thread_.stop();
  lookers_.join();
}

void DiscoveryLoop::look_where_due() {
  const auto all = read_value<std::vector<Looks>>(service_.store(), load_looks);
  if (!all) return;  // the store's own trouble shows in every answer
  const Time now = service_.now();
  for (const Looks& looks : *all) {
    if (next_look(looks) > now) continue;
    const std::lock_guard lock(mutex_);
    if (stopping_ || !going_on_.insert(looks.cluster).second) continue;
    boost::asio::post(lookers_, [this, cluster = looks.cluster] { look(cluster); });
  }
}

void DiscoveryLoop::look(const std::string& cluster) {
  json::object details{{"cluster", cluster}};
  try {
    Caller caller = the_server();
    caller.progress = &wanted_;
    const auto seen = discover_cluster(service_, caller, {cluster, std::nullopt});
    details["ok"] = seen.has_value();
    if (!seen) details["error"] = seen.error().message;
  } catch (...) {
    details["ok"] = false;
    details["error"] = what_was_thrown();
  }
  log_.event(service_.now(), "discovery", details);
  const std::lock_guard lock(mutex_);
  going_on_.erase(cluster);
}

}  // namespace exa
