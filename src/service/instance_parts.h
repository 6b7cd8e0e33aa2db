// What the files about instances share.
#pragma once

#include "catalogue/input_setting.h"
#include "service/environment_templates.h"
#include "service/instance_rows.h"
#include "service/instances.h"
#include "service/launches.h"
#include "service/outside_work.h"
#include "service/placements.h"
#include "service/sku_rows.h"

namespace exa {

// forbidden unless it is the caller's or they may manage those of its project.
Result<void> require_own(Transaction& tx, const Caller& caller, const ComputeInstance& instance);

// Whoever works on an instance owns its name meanwhile. conflict: somebody does.
Result<std::unique_ptr<Ownership>> own_instance(Service& service, const ComputeInstance& instance);

// Stores the instance as it is now, with an entry.
Result<void> note_instance(Service& service, const Caller& caller,
                           const std::optional<ComputeInstance>& before,
                           const ComputeInstance& instance, const json::object& details = {});
// The same as the outcome of the caller's request: repeated, it is answered with this.
Result<Answer> answer_with(Service& service, const Caller& caller,
                           const std::optional<ComputeInstance>& before,
                           const ComputeInstance& instance, Answer answer);
Answer answer_of(const ComputeInstance& instance, Time now);

// --- where it is put

// What placement is asked for a shape.
PlaceWorkload workload_of_shape(const std::string& project, const std::string& name,
                                const Shape& shape);
bool has_pool_of(const Pools& pools, Family family);
// Chooses a pool for its shape and takes the devices, where there are pools for it: a refusal is an
// error. Notices say where nothing could be taken. In the transaction that writes it.
Result<std::vector<std::string>> take_capacity(Service& service, const Caller& caller,
                                               Transaction& tx, Deed& deed,
                                               ComputeInstance& instance);
Result<void> give_capacity_back(Transaction& tx, Deed& deed, const ComputeInstance& instance,
                                Time now);
// Leases do not end while it runs.
Result<bool> needs_renewal(Transaction& tx, const ComputeInstance& instance, Time now);
Result<void> renew_capacity(Transaction& tx, Deed& deed, const ComputeInstance& instance, Time now);

// --- its template

std::string instance_folder(Service& service, const ComputeInstance& instance);
std::string work_folder(Service& service, const ComputeInstance& instance);  // of its programs
// What stands in a file; empty where there is none.
std::string text_in_file(const std::string& path);

// What goes in, with secrets: kept beside its work folder, for whoever runs its template again.
Result<void> keep_inputs(Service& service, const ComputeInstance& instance,
                         const ResolvedInputs& inputs);
struct InstanceJob {
  ComputeInstance instance;
  EnvironmentTemplate environment;
  ComputeSku sku;  // of the version that it was launched from
};
// Fails with conflict where a secret is kept by another server.
Result<json::object> kept_inputs(Service& service, const InstanceJob& job);
void drop_folder(Service& service, const ComputeInstance& instance);
// What a template is told of the instance: instance.json.
ProvisionFile instance_file(const ComputeInstance& instance);

Result<InstanceJob> job_of(Service& service, const std::string& project, const std::string& name);

// One action of its template between two entries; `during` is its state meanwhile. Only where
// nothing ran is the error one; a run that failed is in the instance.
Result<ComputeInstance> run_template(Service& service, const Caller& caller, InstanceJob job,
                                     ProvisionAction action, InstanceState during);
// Of slurm and kubernetes.
Result<ComputeInstance> launch_job(Service& service, const Caller& caller, InstanceJob job);
Result<Answer> rehearse_job(Service& service, const Caller& caller, const InstanceJob& job,
                            const json::object& inputs);
Result<ComputeInstance> stop_job(Service& service, const Caller& caller, InstanceJob job);
Result<ComputeInstance> restart_job(Service& service, const Caller& caller, InstanceJob job);
Result<void> delete_job(Service& service, const Caller& caller, const ComputeInstance& instance);
bool is_job(const ComputeInstance& instance);  // of a scheduler
// How it stands when its launch stands so. Pure.
void follow_launch(ComputeInstance& instance, const Launch& launch, Time now);
Result<std::string> job_logs(Service& service, const Caller& caller,
                             const ComputeInstance& instance, int64_t lines);
Result<json::object> job_outputs(Service& service, const Caller& caller,
                                 const ComputeInstance& instance);
// `failure`: why what runs it did not answer.
Result<ComputeInstance> look_at_job(Service& service, const ComputeInstance& stored,
                                    Progress& progress, std::string& failure);

// As it is stored, unless what runs it says otherwise; then that is stored. What nobody works on
// any more although it should be worked on has failed.
struct LookedAtInstance {
  ComputeInstance instance;
  std::string failure;  // why what runs it did not answer
};
Result<LookedAtInstance> look_at_instance(Service& service, const ComputeInstance& stored,
                                          Progress& progress);

// What is shown of its outputs; of secret ones only with `revealed`, else whether they are there.
json::array output_items(const ComputeSku& sku, const ComputeInstance& instance,
                         const json::object* revealed);
// Those that its template put out, secret ones too.
Result<json::object> all_outputs(Service& service, const Caller& caller, const InstanceJob& job);
// Keeps what its profile shows, and of secret ones the names.
void take_outputs(ComputeInstance& instance, const InstanceJob& job, const json::object& outputs);

}  // namespace exa
