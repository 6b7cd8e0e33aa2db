// Generic resources as Slurm prints them ("gpu:a100:4(S:0-1),shard:a100:16"), and the cards that
// they mean. The one rule behind all of it: what a list does not say is unknown, never 0.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "hardware/inventory.h"

namespace exa {

struct Gres {
  std::string_view name;  // "gpu"
  std::string_view type;  // "a100"; empty: none given
  int64_t count = 0;
  bool unset = false;       // a value for "not set" stands where the count should: it is unknown
  std::string_view detail;  // inside the parentheses: "S:0-1", "IDX:0,2", "IDX:N/A", "2/4,0/4"
};

// The entries of a list; "(null)", "N/A" and empty text are no entries. Whoever reads a list that a
// column may have cut must refuse an entry without a count; elsewhere it means one.
enum class MissingCount { is_one, is_an_error };
Result<std::vector<Gres>> parse_gres(std::string_view text, MissingCount missing);

// The amounts of "cpu=64,mem=500G,gres/gpu:a100=4" that are gres, without the "gres/". The list
// itself may be absent from a source; then `known` is false and nothing is to be learned from it.
struct TresGres {
  bool known = false;
  std::vector<Gres> entries;
};
Result<TresGres> parse_tres_gres(std::string_view text);

bool says_nothing(std::string_view text);                // "", "(null)", "N/A"
bool same_word(std::string_view a, std::string_view b);  // ignoring case
// "16", and "4G" as Slurm prints large counts (factors of 1024).
std::optional<int64_t> parse_gres_amount(std::string_view text);
// "4294967294", "-2", "18446744073709551614": no count was set.
bool is_unset_amount(std::string_view text);

// How many shards or mps shares jobs hold on a node, and on how many cards, from a job listing.
struct SharesHeld {
  int64_t units = 0;
  int64_t cards = 0;
};

// All that a source tells about the devices of one node.
struct SlurmDevices {
  std::vector<Gres> total;
  std::optional<std::vector<Gres>> used;  // absent: the source does not list it
  TresGres configured;                    // CfgTRES
  TresGres allocated;                     // AllocTRES
  std::string_view drained;               // GresDrain, as printed
  std::string_view reason;
  bool refused = false;                                                         // INVALID_REG
  const std::map<std::string, SharesHeld, std::less<>>* shares_held = nullptr;  // by gres name
};

// What the names mean, remembered over the nodes of one read: the catalogue is looked up once per
// name, not once per node.
class SlurmNames {
 public:
  struct Device {
    std::optional<Family> family;  // nullopt: the type names no known model or family
    std::string model;             // canonical, when it is a single one
    std::string reported;          // the type without its MIG profile
    std::string mig_profile;       // empty: whole devices
  };
  const Device& device(std::string_view type);

  struct Feature {
    std::optional<Family> family;      // "a100", "rocm-6.1"
    std::optional<Software> software;  // "cuda-12.4"
  };
  const Feature& feature(std::string_view feature);

 private:
  std::map<std::string, Device, std::less<>> devices_;
  std::map<std::string, Feature, std::less<>> features_;
};

// The card sets of a node. `features` decide the family of devices whose type says nothing.
// `ignored` collects the names of resources that are not accelerators exa knows.
std::vector<CardSet> cards_of(const SlurmDevices& devices, const std::vector<std::string>& features,
                              SlurmNames& names, std::vector<std::string>& ignored);

}  // namespace exa
