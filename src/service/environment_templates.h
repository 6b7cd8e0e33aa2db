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
#include "service/template_folder.h"

namespace exa {

enum class TemplateDriver { script, ansible, opentofu, slurm, kubernetes };
std::string_view name(TemplateDriver driver);
std::optional<TemplateDriver> find_template_driver(std::string_view name);
// Of those that run programs here; nullopt: it is submitted to a scheduler (slurm, kubernetes).
std::optional<ProvisionDriver> provision_driver(TemplateDriver driver);

enum class TemplateState { draft, active, disabled };
std::string_view name(TemplateState state);
std::optional<TemplateState> find_template_state(std::string_view name);

struct EnvironmentTemplate {
  std::string name;
  std::string version;  // as Rafay's: "v1.2"; letters, digits, '.', '-', '_'
  TemplateDriver driver = TemplateDriver::script;
  std::string folder;                 // absolute
  Duration time_limit = minutes(30);  // of one run here; a job has its scheduler's
  TemplateState state = TemplateState::draft;
  std::string digest;                 // digest_of_folder; empty until it is activated
  std::vector<DeclaredInput> inputs;  // as template.json had them when it was added or activated
  std::vector<DeclaredOutput> outputs;
  // Of slurm and kubernetes: where it is submitted. The job runs `sh run apply` in a folder with
  // the template's files (launch/driver.h says how they lie there).
  std::string cluster;       // of that kind
  std::string image;         // kubernetes
  SchedulerOptions options;  // partition, account, qos, namespace
  Time created_at;
  std::string created_by;
  Time changed_at;

  std::string key() const { return name + "@" + version; }
};

json::object to_json(const EnvironmentTemplate& what);  // as it is stored; `folder` in it

Result<EnvironmentTemplate> environment_template_from_json(const json::object& stored);

// not_found names close spellings, and the versions that there are.
Result<EnvironmentTemplate> find_template(Transaction& tx, const TemplateRef& ref);

// What is wrong with it as it is described, its folder apart: names, what does not belong to its
// driver, secrets where a scheduler would show them. Pure.
std::vector<Problem> problems_of(const EnvironmentTemplate& what);
// What keeps it from being run for new instances now, by whoever may not write compute profiles
// (`drafts_too` false): its state, a folder that changed, a program or file that is missing, a
// cluster that is gone. All at once, `where` being the file or field; empty: nothing. Reads the
// folder, and never says where it lies; nothing is run.
std::vector<Problem> problems_of_launching(Transaction& tx, const EnvironmentTemplate& what,
                                           bool drafts_too);
// What a compute profile asks of it that it does not declare, and what it needs that the profile
// does not give: with pointers into the SKU ("/inputs/gpu_count").
std::vector<Problem> problems_between(const ComputeSku& sku, const EnvironmentTemplate& what);

// The files of a slurm or kubernetes template as a launch carries them (LaunchSpec::files); `run`
// is among them. Fails with invalid_input where one is too large, too many, or no plain file, and
// where they are not those that it was activated with.
Result<std::vector<RenderedFile>> files_of(const EnvironmentTemplate& what);
// Whether `folder` - the template's own, or the copy that a run was given - holds what it was
// activated with; of a draft whatever it holds. Fails with conflict, by name.
Result<void> check_unchanged(const EnvironmentTemplate& what, const std::string& folder);

// Reads template.json. A draft of that name and version is replaced; any other is a conflict. What
// keeps it from running here is told as notices: it may be put right later.
Result<Answer> add_environment_template(Service& service, const Caller& caller,
                                        EnvironmentTemplate what);
Result<Answer> list_environment_templates(Service& service, const Caller& caller);
// With what keeps it from running here now. `folder` is shown to whoever may write templates.
Result<Answer> show_environment_template(Service& service, const Caller& caller,
                                         const TemplateRef& ref);
// Takes the digest, and reads template.json anew. One that was active before must not have changed.
Result<Answer> activate_environment_template(Service& service, const Caller& caller,
                                             const TemplateRef& ref);
Result<Answer> disable_environment_template(Service& service, const Caller& caller,
                                            const TemplateRef& ref);
// Of drafts and disabled ones, its folder stays. in_use while a version of a compute profile or an
// instance names it.
Result<Answer> remove_environment_template(Service& service, const Caller& caller,
                                           const TemplateRef& ref);

}  // namespace exa
