// Slurm: capture -> inventory. Which output of a capture lists the nodes, and what the others add.
#include <algorithm>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "discover/readers.h"
#include "discover/slurm_source.h"

namespace exa {
namespace {

struct NodeListing {
  std::vector<Node> nodes;
  std::string version;
  std::string cluster;
};

using ReadListing = Result<NodeListing> (*)(const CapturedOutput&, SlurmContext&);

Result<NodeListing> from_scontrol(const CapturedOutput& output, SlurmContext& context) {
  EXA_ASSIGN(auto nodes, read_scontrol_nodes(output.out, context));
  return NodeListing{std::move(nodes), "", ""};
}

Result<NodeListing> from_bars(const CapturedOutput& output, SlurmContext& context) {
  EXA_ASSIGN(auto nodes, read_sinfo_bars(output.out, context));
  return NodeListing{std::move(nodes), "", ""};
}

Result<NodeListing> from_columns(const CapturedOutput& output, SlurmContext& context) {
  EXA_ASSIGN(auto nodes, read_sinfo_columns(output.out, context));
  return NodeListing{std::move(nodes), "", ""};
}

Result<NodeListing> from_json(const CapturedOutput& output, SlurmContext& context) {
  EXA_ASSIGN(SlurmJson read, read_slurm_json(output.out, output.name, context));
  return NodeListing{std::move(read.nodes), std::move(read.version), std::move(read.cluster)};
}

// What a file of 22.05 and before is: sinfo and slurmrestd print the same bytes, and nobody saw who
// did.
constexpr std::string_view kSinfoOrRest = "sinfo --json or slurmrestd nodes";

struct ListingSource {
  std::string_view name;
  ReadListing read;
};

// In the order of how much they tell.
constexpr ListingSource kListings[] = {
    {"scontrol show node", from_scontrol},
    {"scontrol show node --json", from_json},
    {"slurmrestd nodes", from_json},
    {"sinfo --json", from_json},
    {kSinfoOrRest, from_json},
    {"sinfo -N -O", from_columns},
    {"sinfo -N -o", from_bars},
};

constexpr std::string_view kConfig = "scontrol show config";
constexpr std::string_view kVersion = "sinfo --version";
constexpr std::string_view kReservations = "scontrol show reservation -o";
constexpr std::string_view kPartitions = "scontrol show partition -o";
constexpr std::string_view kJobs = "squeue --json";

std::string first_line(std::string_view text) {
  text = trim(text);
  return printable(text.substr(0, std::min<size_t>(text.find('\n'), 200)));
}

// An answer that can be read. What could not be had is noted, and the read goes on without it.
const CapturedOutput* answer(const Capture& capture, std::string_view name, Inventory& inventory) {
  const CapturedOutput* output = capture.find(name);
  if (output == nullptr || output->exit_code == 0) return output;
  std::string why = first_line(output->err.empty() ? output->out : output->err);
  if (why.empty()) why = fmt::format("exit code {}", output->exit_code);
  inventory.unread.push_back({std::string(name), std::move(why)});
  return nullptr;
}

// "slurm-wlm 22.05.8" -> "22.05.8"
std::string version_in(std::string_view text) {
  text = trim(text);
  const size_t blank = text.rfind(' ');
  return std::string(blank == std::string_view::npos ? text : text.substr(blank + 1));
}

SlurmConfig read_config(const Capture& capture, Inventory& inventory) {
  SlurmConfig config;
  if (const auto* output = answer(capture, kConfig, inventory)) {
    config = read_scontrol_config(output->out);
  }
  if (config.version.empty()) {
    if (const auto* output = answer(capture, kVersion, inventory)) {
      config.version = version_in(output->out);
    }
  }
  return config;
}

void read_extras(const Capture& capture, const SlurmConfig& config, SlurmContext& context,
                 Inventory& inventory) {
  if (const auto* output = answer(capture, kReservations, inventory)) {
    auto reserved_for = read_reservations(output->out);
    if (reserved_for) {
      context.reserved_for = std::move(*reserved_for);
    } else {
      inventory.unread.push_back({std::string(kReservations), reserved_for.error().message});
    }
  }
  const auto* jobs = answer(capture, kJobs, inventory);
  if (jobs == nullptr) return;
  if (!config.shows_all_jobs) {
    inventory.unread.push_back(
        {std::string(kJobs), "jobs of other users may be hidden; not used to count shares"});
    return;
  }
  auto shares = read_shares_of_jobs(jobs->out, kJobs);
  if (shares) {
    context.shares_on_node = std::move(*shares);
  } else {
    inventory.unread.push_back({std::string(kJobs), shares.error().message});
  }
}

Result<void> sort_by_name(std::vector<Node>& nodes, std::string_view tool) {
  std::ranges::sort(nodes, {}, &Node::name);
  const auto twice = std::ranges::adjacent_find(nodes, {}, &Node::name);
  if (twice == nodes.end()) return {};
  return fail(Code::unreadable_output,
              fmt::format("{}: node {} is listed twice", tool, printable(twice->name)));
}

Failure no_listing(const Capture& capture) {
  for (const ListingSource& source : kListings) {
    const CapturedOutput* output = capture.find(source.name);
    if (output == nullptr) continue;
    return fail(Code::unreadable_output,
                fmt::format("{} failed: {}", source.name,
                            first_line(output->err.empty() ? output->out : output->err)));
  }
  std::vector<std::string> names;
  for (const ListingSource& source : kListings) names.emplace_back(source.name);
  return fail({Code::unreadable_output,
               "the capture holds no list of nodes; one of these is needed: " + join(names, ", "),
               {},
               "",
               {}});
}

// ---- recognising --------------------------------------------------------------------------------

struct Opening {
  std::string_view first;   // the text starts with this
  std::string_view second;  // and holds this on its first lines
  std::string_view name;
};

constexpr Opening kOpenings[] = {
    // slurm.conf and gres.conf start with NodeName= too, but do not know what is allocated
    {"NodeName=", "CPUAlloc=", "scontrol show node"},
    {"No nodes in the system", "", "scontrol show node"},
    {"PartitionName=", "TotalNodes=", kPartitions},
    {"ReservationName=", "StartTime=", kReservations},
    {"Configuration data as of ", "\n", kConfig},
    {"slurm ", ".", kVersion},
    {"slurm-wlm ", ".", kVersion},
};

constexpr size_t kLookAt = 4096;

std::optional<std::string> recognise_json(std::string_view text) {
  // the meta object with Slurm's version stands first or last; look there before parsing it all
  const auto names_slurm = [](std::string_view part) {
    return part.find("\"Slurm\"") != std::string_view::npos ||
           part.find("\"slurm\"") != std::string_view::npos;
  };
  const std::string_view tail = text.substr(text.size() - std::min(text.size(), kLookAt));
  if (!names_slurm(text.substr(0, kLookAt)) && !names_slurm(tail)) return std::nullopt;
  const auto document = parse_json(text, "file", tool_output_limits());
  if (!document) return std::nullopt;
  if (find(*document, "sinfo") != nullptr) return "sinfo --json";
  if (find(*document, "jobs") != nullptr) return std::string(kJobs);
  const json::value* nodes = find(*document, "nodes");
  if (nodes == nullptr || !nodes->is_array()) return std::nullopt;
  // since 23.02 the answer names the command; before, sinfo and slurmrestd print the same bytes
  const json::value* meta = find(*document, "meta");
  const json::value* command = meta == nullptr ? nullptr : find(*meta, "command");
  if (command != nullptr && command->is_array() && !command->get_array().empty()) {
    return "scontrol show node --json";
  }
  if (meta != nullptr && find(*meta, "slurm") != nullptr) return "slurmrestd nodes";
  return std::string(kSinfoOrRest);
}

}  // namespace

Result<Inventory> read_slurm(const Capture& capture) {
  Inventory inventory;
  inventory.kind = ClusterKind::slurm;
  SlurmContext context;
  const SlurmConfig config = read_config(capture, inventory);
  read_extras(capture, config, context, inventory);

  for (const ListingSource& source : kListings) {
    const CapturedOutput* output = capture.find(source.name);
    if (output == nullptr || output->exit_code != 0) continue;
    EXA_ASSIGN(NodeListing listing, source.read(*output, context));
    if (listing.nodes.empty() && capture.transport == "file")
      return fail(Code::unreadable_output, fmt::format("{}: the list names no node", source.name),
                  "scontrol show node");
    EXA_TRY(sort_by_name(listing.nodes, source.name));
    inventory.tool = source.name;
    inventory.nodes = std::move(listing.nodes);
    inventory.tool_version = config.version.empty() ? std::move(listing.version) : config.version;
    inventory.cluster_name = config.cluster.empty() ? std::move(listing.cluster) : config.cluster;
    for (const std::string& name : context.ignored) {
      inventory.unread.push_back({"gres " + name, "not an accelerator that is known; not counted"});
    }
    return inventory;
  }
  return no_listing(capture);
}

std::optional<std::string> recognise_slurm(std::string_view text) {
  while (!text.empty() && std::string_view(" \n\r\t").find(text[0]) != std::string_view::npos) {
    text.remove_prefix(1);
  }
  if (text.starts_with('{')) return recognise_json(text);
  for (const Opening& opening : kOpenings) {
    if (!text.starts_with(opening.first)) continue;
    if (text.substr(0, kLookAt).find(opening.second) == std::string_view::npos) continue;
    return std::string(opening.name);
  }
  if (looks_like_sinfo_bars(text)) return "sinfo -N -o";
  if (looks_like_sinfo_columns(text)) return "sinfo -N -O";
  return std::nullopt;
}

}  // namespace exa
