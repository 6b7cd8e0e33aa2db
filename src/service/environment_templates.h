// Environment templates: folders that drivers run or submit when a compute profile is launched.
// Registered, version by version, by whoever administers the machine of exa; what lies in them is
// trusted. Requirement "Environment Template"; semantics §7.
//
//   draft     may change on disk; only whoever may write compute profiles launches it
//   active    its files are those whose digest was taken when it was activated: a folder that was
//             changed since is refused by name, so that a version means one content
//   disabled  no new instances; those that are there are still stopped and destroyed with it
//
// The folder holds template.json, which declares what goes in and comes out:
//   {"inputs": {"gpu_count": {"type": "number", "required": true}},
//    "outputs": {"url": {}, "token": {"secret": true}}}
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "catalogue/compute_sku.h"
#include "launch/launch_spec.h"
#include "provision/provision.h"
#include "service/service.h"

namespace exa {

enum class TemplateDriver { script, ansible, opentofu, slurm, kubernetes };
std::string_view name(TemplateDriver driver);
std::optional<TemplateDriver> find_template_driver(std::string_view name);
// Of those that run programs here; nullopt: it is submitted to a scheduler (slurm, kubernetes).
std::optional<ProvisionDriver> provision_driver(TemplateDriver driver);

enum class TemplateState { draft, active, disabled };
std::string_view name(TemplateState state);
std::optional<TemplateState> find_template_state(std::string_view name);

struct DeclaredInput {
  std::string name;
  InputType type = InputType::text;
  bool required = false;
};
struct DeclaredOutput {
  std::string name;
  bool is_secret = false;
};

struct EnvironmentTemplate {
  std::string name;
  std::string version;  // as Rafay's: "v1.2"; letters, digits, '.', '-', '_'
  TemplateDriver driver = TemplateDriver::script;
  std::string folder;  // absolute
  Duration time_limit = minutes(30);
  TemplateState state = TemplateState::draft;
  std::string digest;  // SHA-256 over names, modes and contents; empty while it is a draft
  std::vector<DeclaredInput> inputs;
  std::vector<DeclaredOutput> outputs;
  // Of slurm and kubernetes: where it is submitted. The job runs `run` of the folder.
  std::string cluster;       // of that kind
  std::string image;         // kubernetes
  SchedulerOptions options;  // partition, account, qos, namespace
  Time created_at;
  std::string created_by;
  Time changed_at;

  std::string key() const { return name + "@" + version; }
};

json::object to_json(const EnvironmentTemplate& what);  // as it is stored; `folder` in it

Result<EnvironmentTemplate> find_template(Transaction& tx, const TemplateRef& ref);

// What keeps it from being run for new instances now, by whoever may not write compute profiles
// (`drafts_too` false): its state, a folder that changed, a program or file that is missing, a
// cluster that is gone. All at once, `where` being the file or field; empty: nothing. Reads the
// folder; nothing is run.
std::vector<Problem> problems_of_launching(Transaction& tx, const EnvironmentTemplate& what,
                                           bool drafts_too);
// What a compute profile asks of it that it does not declare, and what it needs that the profile
// does not give: with pointers into the SKU ("/inputs/gpu_count").
std::vector<Problem> problems_between(const ComputeSku& sku, const EnvironmentTemplate& what);

// The files of a slurm or kubernetes template as a launch carries them (LaunchSpec::files); `run`
// is among them. Fails with invalid_input where one is too large, too many, or no plain file.
Result<std::vector<RenderedFile>> files_of(const EnvironmentTemplate& what);

}  // namespace exa
