// What the routes of clusters and projects answer.
#include "api/schema.h"
#include "hardware/inventory.h"

namespace exa {
namespace {

using namespace schema;

json::object address() {
  Members members;
  for (const std::string_view key :
       {"ssh", "ssh_identity", "kubeconfig", "context", "server", "ca_file", "token_file",
        "client_cert_file", "client_key_file", "slurmrestd"}) {
    members.push_back(sometimes(key, text()));
  }
  members.push_back(sometimes("ssh_port", count()));
  members.push_back({"timeout", text()});
  return object(members);
}

json::object device_count() {
  return object({{"family", any_family()},
                 {"model", maybe(text())},
                 {"sharing", word(Sharing::unread)},
                 {"mig_profile", maybe(text())},
                 {"resource", maybe(text())},
                 {"physical", maybe(count())},
                 {"units", maybe(count())},
                 {"usable", maybe(count())},
                 {"used", maybe(count())},
                 {"free", maybe(count())},
                 {"stranded", maybe(count())},
                 {"nodes", count()}});
}

json::object capacity() {
  return object({{"nodes", count()},
                 {"usable_nodes", count()},
                 {"unusable_nodes", map(count())},
                 {"usable_cpu", maybe(number())},
                 {"free_cpu", maybe(number())},
                 {"usable_memory_bytes", maybe(count())},
                 {"free_memory_bytes", maybe(count())},
                 {"devices", list(device_count())}});
}

json::object snapshot() {
  return object({{"id", text()},
                 {"taken_at", time()},
                 {"source", text()},
                 {"declared", yes_no()},
                 {"stale", yes_no()},
                 {"capacity", capacity()}});
}

Members cluster() {
  return {{"name", text()},
          {"kind", word(ClusterKind::kubernetes)},
          {"address", address()},
          {"max_age", text()},
          {"created_at", time()},
          {"created_by", text()},
          {"snapshot", maybe(snapshot())},
          {"last_failure", maybe(object({{"at", time()}, {"code", text()}, {"message", text()}}))}};
}

json::object unread() {
  return object({{"what", text()}, {"why", text()}});
}

json::object offer() {
  return object({{"sharing", word(Sharing::unread)},
                 sometimes("resource", text()),
                 sometimes("mig_profile", text()),
                 {"units", count()},
                 sometimes("used", count()),
                 sometimes("free", count())});
}

json::object cards() {
  return object({{"family", any_family()},
                 sometimes("family_unread", yes_no()),
                 sometimes("reported", text()),
                 sometimes("model", text()),
                 sometimes("physical", count()),
                 sometimes("memory_bytes", count()),
                 sometimes("remark", text()),
                 {"offers", list(offer())},
                 sometimes("offers_unread", list(word(Sharing::unread)))});
}

json::object node() {
  return object(
      {{"name", text()},
       sometimes("partitions", list(text())),
       sometimes("features", list(text())),
       sometimes("labels", map(text())),
       sometimes("taints", list(object({{"key", text()}, {"value", text()}, {"effect", text()}}))),
       {"health", word(Health::unknown)},
       sometimes("state", text()),
       sometimes("reason", text()),
       sometimes("cpu_milli", count()),
       sometimes("cpu_free_milli", count()),
       sometimes("memory_bytes", count()),
       sometimes("memory_free_bytes", count()),
       sometimes("cards", list(cards())),
       sometimes("devices_unread", list(any_family())),
       sometimes("software", list(object({{"product", text()}, {"version", text()}}))),
       sometimes("zone", text()),
       sometimes("region", text())});
}

json::object inventory() {
  return object({{"kind", word(ClusterKind::kubernetes)},
                 sometimes("tool", text()),
                 sometimes("tool_version", text()),
                 sometimes("cluster_name", text()),
                 sometimes("unread", list(unread())),
                 {"nodes", list(node())}});
}

// Bytes that are no UTF-8 stand in base64 under another name.
json::object capture() {
  return object({{"exa_capture", count()},
                 {"kind", word(ClusterKind::kubernetes)},
                 {"taken_at", time()},
                 {"transport", text()},
                 {"outputs", list(object({{"name", text()},
                                          {"argv", list(text())},
                                          {"exit_code", integer()},
                                          sometimes("out", text()),
                                          sometimes("out_base64", text()),
                                          sometimes("err", text()),
                                          sometimes("err_base64", text())}))}});
}

Members project() {
  return {{"name", text()},
          {"profiles", count()},
          {"created_at", maybe(time())},
          {"created_by", text()}};
}

}  // namespace

std::vector<ReplySchema> cluster_schemas() {
  return {
      {"Cluster", object(cluster())},
      {"ClusterList", page(ref("Cluster"))},
      {"ClusterWithNodes", object(cluster() + Members{sometimes("inventory", inventory())})},
      {"DiscoveredCluster",
       object(cluster() +
              Members{{"tool", text()}, {"tool_version", text()}, {"unread", list(unread())}})},
      {"Capture", capture()},
      {"RemovedCluster", object({{"name", text()}, {"removed", yes_no()}, {"consumers", count()}}),
       json::object{{"name", "here"}, {"removed", true}, {"consumers", 0}}},
      {"NewProject", object(project())},
      {"ProjectList", page(object(project() + Members{{"residency", maybe(text())}}))},
  };
}

}  // namespace exa
