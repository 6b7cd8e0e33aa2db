// Profiles in the store: heads, versions, labels, tombstones. Every function is one step inside the
// caller's transaction.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "profile/hardware_profile.h"
#include "profile/reference.h"
#include "store/store.h"

namespace exa {

struct Deprecation {
  int64_t version = 0;   // 0: the whole name
  std::string redirect;  // "name" or "name@3": what to use instead
  std::string reason;
  Time at;
  std::string by;
  bool redirect_gone = false;  // what it leads to was deleted since
};
// What whoever uses it should do: "use NAME instead", or that the replacement is gone as well.
std::string advice(const Deprecation& deprecation);

struct StoredVersion {
  HardwareProfile profile;
  std::vector<std::string> labels;  // that point at it, sorted
  std::optional<Time> deleted_at;   // a tombstone
  std::string deleted_by;
  std::optional<Deprecation> deprecation;  // its own, else the whole name's
};

struct LabelMove {
  std::string label;
  std::optional<int64_t> from_version;
  std::optional<int64_t> to_version;  // none: the label was dropped
  Time at;
  std::string by;
};

// One name of a list: its active version, or none.
struct ProfileHead {
  std::string name;
  std::optional<StoredVersion> active;
  int64_t latest_version = 0;  // that is not deleted
  std::vector<std::pair<std::string, int64_t>> labels;
};

Result<void> require_project(Transaction& tx, const std::string& project);

// Versions in ascending order; tombstones only when asked for. Empty when the name is unknown.
Result<std::vector<StoredVersion>> load_versions(Transaction& tx, const std::string& project,
                                                 const std::string& name, bool with_tombstones);

// The newest that is there; nullopt: none.
Result<std::optional<StoredVersion>> last_version(Transaction& tx, const std::string& project,
                                                  const std::string& name);

// What a reference means now: a version, a label, or (neither given) the label active. not_found
// says which part is missing, and names close spellings, labels and versions there are. A reference
// to another project's profile is found if that is shared with `project`; otherwise, and where it
// does not exist, the answer is the same.
Result<StoredVersion> find_profile(Transaction& tx, const std::string& project,
                                   const ProfileRef& ref);

// The project of a reference, as `project` sees it: itself, or one that shares the name with it.
Result<std::string> home_of(Transaction& tx, const std::string& project, const ProfileRef& ref);
// not_found unless `owner` shares the profile with the project `with`. Lives in sharing.cc.
Result<void> require_shared(Transaction& tx, const std::string& owner, const std::string& name,
                            const std::string& with);

struct HeadQuery {
  std::string project;
  std::string after;  // names greater than this
  int64_t limit = 50;
};
Result<std::vector<ProfileHead>> load_heads(Transaction& tx, const HeadQuery& query);

// The next version number of the name, never given before, even if everything was deleted since.
Result<int64_t> take_version_number(Transaction& tx, const std::string& project,
                                    const std::string& name);
Result<void> insert_version(Transaction& tx, const HardwareProfile& profile);
Result<void> bury_version(Transaction& tx, const std::string& project, const std::string& name,
                          int64_t version, Time at, const std::string& by);

// Moves (or, without a version, drops) a label and keeps the move in its history.
Result<void> move_label(Transaction& tx, const std::string& project, const std::string& name,
                        const std::string& label, std::optional<int64_t> version, Time at,
                        const std::string& by);
Result<std::vector<LabelMove>> load_label_moves(Transaction& tx, const std::string& project,
                                                const std::string& name);

// Replaces or (without a value) removes the deprecation of a version, or of the whole name (0).
Result<void> store_deprecation(Transaction& tx, const std::string& project, const std::string& name,
                               int64_t version_or_zero,
                               const std::optional<Deprecation>& deprecation);

// Names (and versions) that are retired in favour of `name` or of one of its versions.
Result<std::vector<std::string>> redirects_to(Transaction& tx, const std::string& project,
                                              const std::string& name);

}  // namespace exa
