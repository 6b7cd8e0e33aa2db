// Who runs on which profile version, with the shape it got. Semantics §3: a deleted profile never
// stops its consumers from being inspected.
#pragma once

#include "service/profile_rows.h"
#include "service/service.h"

namespace exa {

struct Consumer {
  std::string project;
  std::string kind;     // workbench, training, serving
  std::string ref;      // its name there
  std::string profile;  // NAME, or PROJECT/NAME of one that another project shares
  int64_t version = 0;
  Shape shape;          // as it got it
  std::string cluster;  // empty: none
  Time since;
  std::string recorded_by;
};

json::object to_json(const Consumer& consumer);

// Consumers of a profile (of one version, if given), or of the whole project when `profile` is
// empty.
Result<std::vector<Consumer>> load_consumers(Transaction& tx, const std::string& project,
                                             const std::string& profile,
                                             std::optional<int64_t> version);

// Those of a profile (of one version, if given; of the whole project when `profile` is empty) as a
// caller may see them: of projects that they do not know, how many. What another project shares is
// named PROJECT/NAME by those who run on it.
struct SeenConsumers {
  std::vector<Consumer> known;
  int64_t others = 0;
};
Result<SeenConsumers> consumers_seen_by(Transaction& tx, const Caller& caller,
                                        const std::string& project, const std::string& profile,
                                        std::optional<int64_t> version);

// SQL: whether consumer u runs on the profile whose project and name these columns are.
std::string runs_on(std::string_view project_column, std::string_view name_column);

Result<Consumer> load_consumer(Transaction& tx, const std::string& project, const std::string& kind,
                               const std::string& ref);

// Rows. Fails with conflict where the name runs on a profile already.
Result<void> insert_consumer(Transaction& tx, const Consumer& consumer);
Result<void> remove_consumer(Transaction& tx, const Consumer& consumer);

struct UseProfile {
  std::string project;
  ProfileRef ref;
  Surface surface = Surface::workbench;
  std::string as;       // the consumer's name
  std::string cluster;  // where it runs, if known
};
// Records that something outside exa runs on a profile, and answers with the shape to use. Refused
// for a surface that the profile excludes and where the cluster can never hold it.
Result<Answer> use_profile(Service& service, const Caller& caller, const UseProfile& what);
Result<Answer> release_profile(Service& service, const Caller& caller, const std::string& project,
                               const std::string& kind, const std::string& ref);

// Every consumer with its present status: resolved again now, and whether its version was deleted,
// retired or superseded by one that asks for something else. Consumers in projects that the caller
// may not see are counted, not named.
Result<Answer> profiles_in_use(Service& service, const Caller& caller, const std::string& project,
                               const std::string& profile);

}  // namespace exa
