// What the readers of Slurm's output formats share: the facts of a node as text, and the one
// function that turns them into a Node, so that every format gives the same inventory.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "discover/plausible.h"
#include "discover/slurm_gres.h"
#include "discover/slurm_state.h"
#include "hardware/inventory.h"

namespace exa {

// Views point into the output that is being read. nullopt: the format does not say.
struct SlurmNodeFacts {
  std::string_view name;
  SlurmState state;
  std::string state_text;
  std::string_view gres;
  std::optional<std::string_view> gres_used;
  std::optional<std::string_view> configured_tres;
  std::optional<std::string_view> allocated_tres;
  std::string_view gres_drained;
  MissingCount missing_count = MissingCount::is_one;
  std::optional<int64_t> cpus;  // that jobs can have: without those kept for the system
  std::optional<int64_t> cpus_allocated;
  std::optional<int64_t> memory_mib;
  std::optional<int64_t> memory_allocated_mib;
  std::optional<int64_t> memory_kept_mib;  // MemSpecLimit: for the system
  std::vector<std::string_view> features;
  std::vector<std::string_view> partitions;
  std::string_view reason;
  std::string_view reservation;
};

using SharesByGres = std::map<std::string, SharesHeld, std::less<>>;

// What one read knows beside the node at hand.
struct SlurmContext {
  SlurmNames names;
  std::set<std::string> ignored;                                    // GRES that are no accelerators
  std::map<std::string, std::string, std::less<>> reserved_for;     // node -> "reservation course"
  std::map<std::string, SharesByGres, std::less<>> shares_on_node;  // from a job listing
};

// Fails with unreadable_output naming the field; the caller adds the place with at_place().
Result<Node> node_of(const SlurmNodeFacts& facts, SlurmContext& context);

// The same error with where it happened: "line 12", "/nodes/3", and the node when it is known.
Error at_place(Error error, std::string_view tool, std::string_view where, std::string_view node);
Error in_field(Error error, std::string_view field);

// A number as text. N/A, n/s, (null), and the values Slurm uses for "not set" (4294967294, -2, …)
// are unknown; anything else that is no whole number is unreadable_output.
Result<std::optional<int64_t>> slurm_number(std::string_view text, std::string_view field);

// A comma list; "(null)" and "N/A" are no words.
std::vector<std::string_view> slurm_words(std::string_view text);

// The formats. Each fails with unreadable_output at the first thing it cannot read.
Result<std::vector<Node>> read_scontrol_nodes(std::string_view text, SlurmContext& context);
Result<std::vector<Node>> read_sinfo_bars(std::string_view text, SlurmContext& context);
Result<std::vector<Node>> read_sinfo_columns(std::string_view text, SlurmContext& context);

struct SlurmJson {
  std::vector<Node> nodes;
  std::string version;
  std::string cluster;
};
Result<SlurmJson> read_slurm_json(std::string_view text, std::string_view tool,
                                  SlurmContext& context);

// Extras. They only add to what the node listing says.
struct SlurmConfig {
  std::string cluster;
  std::string version;
  bool shows_all_jobs = false;  // PrivateData is known not to hide jobs
};
SlurmConfig read_scontrol_config(std::string_view text);
Result<std::map<std::string, std::string, std::less<>>> read_reservations(std::string_view text);
Result<std::map<std::string, SharesByGres, std::less<>>> read_shares_of_jobs(std::string_view text,
                                                                             std::string_view tool);

// Whether the first line looks like one of sinfo's two column formats.
bool looks_like_sinfo_bars(std::string_view text);
bool looks_like_sinfo_columns(std::string_view text);

}  // namespace exa
