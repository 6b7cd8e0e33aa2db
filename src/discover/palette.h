// Where machines for ML platforms come from: files of reports, an inventory over HTTP, nodes of a
// cluster that was discovered. Agents send theirs by themselves (requirement "Discovery"; semantics
// §6). The edge beside compute/machine.h, and the pure part that maps a node.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/progress.h"
#include "compute/machine.h"
#include "discover/transport.h"
#include "hardware/inventory.h"

namespace exa {

enum class MachineSourceKind { folder, http, cluster, agent };
std::string_view name(MachineSourceKind kind);
std::optional<MachineSourceKind> find_machine_source_kind(std::string_view name);

struct MachineSource {
  std::string name;
  MachineSourceKind kind = MachineSourceKind::folder;
  std::string path;        // folder: a folder of reports, or one file; absolute
  std::string url;         // http: https://…, or http:// on this machine
  std::string token_file;  // http: bearer token
  std::string ca_file;     // http: authority of its certificate
  std::string cluster;     // cluster: whose newest snapshot is read
  Tags tags;               // of every machine of it; what a machine says itself wins
  Duration interval = seconds(30);
};

// What a look brought. A report that cannot be read is in `unread` with its place and does not
// stand in the way of the others.
struct MachineReading {
  std::vector<MachineReport> reports;
  std::vector<Unread> unread;
};

// Reads a folder's files (*.json, *.yaml, *.yml, by name) or one file; each holds one report, or a
// list of them, or {"machines": […]}. probe_failed when nothing can be opened. A report without a
// time is of `now`.
Result<MachineReading> read_machine_files(const std::string& path, Transport& transport, Time now);
// The same of one text. Pure.
Result<MachineReading> read_machine_inventory(std::string_view text, std::string_view what,
                                              Time now);
// A folder or an inventory over HTTP; the other kinds are not looked at from here.
Result<MachineReading> look_at_machines(const MachineSource& source, Time now, Progress& progress);

// A node of a snapshot as a machine: "CLUSTER.NODE", with the labels that are tags of PaletteAI.
MachineReport machine_of_node(std::string_view cluster, const Node& node, Time taken_at);

// Of what a source reports: its own tags, and those of the source that it does not say itself.
void add_tags(MachineReport& report, const Tags& tags);

json::object to_json(const MachineSource& source);
Result<MachineSource> machine_source_from_json(const json::object& stored);

}  // namespace exa
