#include "service/instances.h"

#include <fmt/format.h>

#include "base/json_or_null.h"
#include "base/text.h"
#include "catalogue/sku_diff.h"
#include "service/instance_parts.h"
#include "service/launch_parts.h"
#include "service/outside_work.h"
#include "service/profile_rows.h"
#include "service/visibility.h"

namespace exa {
namespace {

constexpr std::string_view kMasked = kMaskedSecret;

Result<ComputeInstance> find_now(Service& service, const std::string& project,
                                 const std::string& name) {
  return read_value<ComputeInstance>(
      service.store(), [&](Transaction& tx) { return find_instance(tx, project, name); });
}

// {"version", "changes", "changes_the_instance"} of a newer version that the caller may see; null
// where there is none. What became of a profile that they may not see is not told.
Result<json::value> newer_version(Transaction& tx, const Caller& caller,
                                  const ComputeInstance& instance) {
  EXA_ASSIGN(const auto head, load_sku_head(tx, instance.sku_project, instance.sku));
  if (!head || head->deleted_at || head->latest_version <= instance.sku_version ||
      !may_see(caller, instance.project, *head))
    return json::value(nullptr);
  EXA_ASSIGN(const auto before,
             load_sku_version(tx, instance.sku_project, instance.sku, instance.sku_version));
  EXA_ASSIGN(const auto after,
             load_sku_version(tx, instance.sku_project, instance.sku, head->latest_version));
  if (!before || !after) return json::value(nullptr);
  const auto changes = diff(before->sku, after->sku);
  json::array list;
  for (const SkuChange& change : changes) list.emplace_back(to_json(change));
  return json::value(json::object{{"version", head->latest_version},
                                  {"text", in_words(changes)},
                                  {"changes", std::move(list)}});
}

std::string last_lines(const std::string& text, int64_t lines) {
  size_t at = text.size();
  if (at > 0 && text.back() == '\n') --at;
  for (; lines > 0 && at != 0; --lines) {
    const size_t before = text.rfind('\n', at - 1);
    at = before == std::string::npos ? 0 : before;
  }
  return text.substr(at == 0 ? 0 : at + 1);
}

std::string own_word(const ComputeInstance& instance) {
  return fmt::format("{} is {}'s", instance.name, instance.owner);
}

}  // namespace

Result<void> require_own(Transaction& tx, const Caller& caller, const ComputeInstance& instance) {
  const Principal& who = caller.principal;
  if (instance.owner == who.name) return {};
  if (permitted(who.rights, "instance:manage", instance.project)) return {};
  EXA_ASSIGN(const auto admins, admins_of(tx, instance.project));
  Error error = not_permitted(who, "instance:manage", instance.project, admins);
  error.message = fmt::format("{}: {}", own_word(instance), error.message);
  return fail(std::move(error));
}

Result<std::unique_ptr<Ownership>> own_instance(Service& service, const ComputeInstance& instance) {
  EXA_ASSIGN(auto owned, own_by_id(service, "instance", instance.id));
  if (owned) return owned;
  return fail(
      Code::conflict,
      fmt::format("{} is {} right now: one thing at a time", instance.name, name(instance.state)),
      fmt::format("exa instance show {}", instance.name));
}

Result<void> note_instance(Service& service, const Caller& caller,
                           const std::optional<ComputeInstance>& before,
                           const ComputeInstance& instance, const json::object& details) {
  EXA_TRY(service.mutate(without_key(caller), [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_TRY(keep_instance(tx, deed, before, instance));
    for (const auto& member : details) deed.details[member.key()] = member.value();
    return Answer{};
  }));
  return {};
}

Result<Answer> answer_with(Service& service, const Caller& caller,
                           const std::optional<ComputeInstance>& before,
                           const ComputeInstance& instance, Answer answer) {
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_TRY(keep_instance(tx, deed, before, instance));
    return answer;
  });
}

Answer answer_of(const ComputeInstance& instance, Time now) {
  Answer answer;
  answer.body = shown(instance, now);
  return answer;
}

Result<InstanceJob> job_of(Service& service, const std::string& project, const std::string& name) {
  return read_value<InstanceJob>(service.store(), [&](Transaction& tx) -> Result<InstanceJob> {
    InstanceJob job;
    EXA_ASSIGN(job.instance, find_instance(tx, project, name));
    EXA_ASSIGN(job.environment, find_template(tx, job.instance.environment_template));
    EXA_ASSIGN(const auto stored, load_sku_version(tx, job.instance.sku_project, job.instance.sku,
                                                   job.instance.sku_version));
    if (!stored)
      return fail(Code::store_damaged,
                  fmt::format("the version that {} was launched from is gone", name));
    job.sku = stored->sku;
    return job;
  });
}

json::array output_items(const ComputeSku& sku, const ComputeInstance& instance,
                         const json::object* revealed) {
  json::array items;
  for (const OutputSetting& output : sku.outputs) {
    json::value value(nullptr);
    const bool hidden =
        std::ranges::find(instance.secret_outputs, output.name) != instance.secret_outputs.end();
    if (hidden) {
      const json::value* known = revealed == nullptr ? nullptr : revealed->if_contains(output.name);
      value = known == nullptr ? json::value(kMasked) : *known;
    } else if (const json::value* known = instance.outputs.if_contains(output.name)) {
      value = *known;
    }
    items.emplace_back(json::object{{"name", output.name},
                                    {"label", text_or_null(output.label)},
                                    {"description", text_or_null(output.description)},
                                    {"secret", output.is_secret || hidden},
                                    {"value", std::move(value)}});
  }
  return items;
}

void take_outputs(ComputeInstance& instance, const InstanceJob& job, const json::object& outputs) {
  json::object plain;
  std::vector<std::string> secret;
  for (const OutputSetting& output : job.sku.outputs) {
    const json::value* value = outputs.if_contains(output.name);
    if (value == nullptr || value->is_null()) continue;
    const auto declared =
        std::ranges::find(job.environment.outputs, output.name, &DeclaredOutput::name);
    const bool hidden =
        output.is_secret || (declared != job.environment.outputs.end() && declared->is_secret);
    if (hidden)
      secret.push_back(output.name);
    else
      plain[output.name] = *value;
  }
  instance.outputs = std::move(plain);
  instance.secret_outputs = std::move(secret);
}

Result<json::object> all_outputs(Service& service, const Caller& caller, const InstanceJob& job) {
  if (is_job(job.instance)) return job_outputs(service, caller, job.instance);
  const std::string text = text_in_file(work_folder(service, job.instance) + "/outputs.json");
  if (text.empty()) {
    return fail(
        Code::conflict,
        fmt::format("what {} put out is not here: it is kept by the server that launched it",
                    job.instance.name),
        fmt::format("exa instance outputs {}", job.instance.name));
  }
  EXA_ASSIGN(const json::value read, parse_json(text, "outputs.json"));
  return read.is_object() ? read.get_object() : json::object();
}

Result<Answer> list_instances(Service& service, const Page& page) {
  const Time now = service.now();
  return newest_first(service, page, "instance", "created_at", "",
                      [now](const json::value& spec) -> Result<json::object> {
                        EXA_ASSIGN(const ComputeInstance instance,
                                   instance_from_json(spec.get_object()));
                        return shown(instance, now);
                      });
}

Result<Answer> show_instance(Service& service, const Caller& caller, const std::string& project,
                             const std::string& name) {
  EXA_ASSIGN(const ComputeInstance stored, find_now(service, project, name));
  EXA_ASSIGN(const LookedAtInstance looked, look_at_instance(service, stored, *caller.progress));
  Answer answer = answer_of(looked.instance, service.now());
  EXA_ASSIGN(answer.body["newer_version"],
             read_value<json::value>(service.store(), [&](Transaction& tx) {
               return newer_version(tx, caller, looked.instance);
             }));
  if (!looked.failure.empty())
    answer.notices.push_back(fmt::format("as it stood when last seen: {}", looked.failure));
  return answer;
}

Result<Answer> instance_outputs(Service& service, const Caller& caller, const std::string& project,
                                const std::string& name) {
  EXA_ASSIGN(const ComputeInstance stored, find_now(service, project, name));
  EXA_ASSIGN(const LookedAtInstance looked, look_at_instance(service, stored, *caller.progress));
  EXA_ASSIGN(const InstanceJob job, job_of(service, project, name));
  Answer answer;
  answer.body = {{"name", name},
                 {"project", project},
                 {"state", exa::name(looked.instance.state)},
                 {"items", output_items(job.sku, looked.instance, nullptr)}};
  if (job.sku.outputs.empty()) {
    answer.notices.emplace_back("its compute profile shows no outputs");
  } else if (!looked.instance.secret_outputs.empty()) {
    answer.notices.push_back(fmt::format("exa instance reveal {} shows what is secret", name));
  }
  return answer;
}

Result<Answer> reveal_outputs(Service& service, const Caller& caller, const std::string& project,
                              const std::string& name) {
  EXA_ASSIGN(const InstanceJob job, job_of(service, project, name));
  EXA_TRY(
      service.store().read([&](Transaction& tx) { return require_own(tx, caller, job.instance); }));
  EXA_ASSIGN(const json::object outputs, all_outputs(service, caller, job));
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_TRY(keep_instance(tx, deed, job.instance, job.instance));
    Answer answer;
    answer.shown_once = "items";
    // a rehearsal leaves no entry, so it reveals nothing
    answer.body = {
        {"name", name},
        {"project", project},
        {"state", exa::name(job.instance.state)},
        {"items", output_items(job.sku, job.instance, caller.dry_run ? nullptr : &outputs)}};
    return answer;
  });
}

Result<Answer> instance_logs(Service& service, const Caller& caller, const std::string& project,
                             const std::string& name, int64_t lines) {
  EXA_ASSIGN(const ComputeInstance instance, find_now(service, project, name));
  Answer answer;
  answer.body = {{"name", name}, {"project", project}, {"text", ""}};
  if (is_job(instance)) {
    EXA_ASSIGN(answer.body["text"], job_logs(service, caller, instance, lines));
    return answer;
  }
  const std::string text = text_in_file(work_folder(service, instance) + "/log");
  answer.body["text"] = last_lines(text, lines);
  if (text.empty()) answer.notices.emplace_back("its template printed nothing here");
  return answer;
}

Result<Answer> extend_instance(Service& service, const Caller& caller, const std::string& project,
                               const std::string& name, Duration by) {
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_ASSIGN(const ComputeInstance before, find_instance(tx, project, name));
    EXA_TRY(require_own(tx, caller, before));
    const Time now = service.now();
    ComputeInstance instance = before;
    instance.expires_at = std::max(instance.expires_at.value_or(now), now) + by;
    EXA_ASSIGN(const InstanceLimits limits, load_instance_limits(tx, project));
    const bool above = limits.time_to_live && *instance.expires_at - now > *limits.time_to_live;
    if (above && !permitted(caller.principal.rights, "instance:manage", project)) {
      return fail(Code::blocked,
                  fmt::format("an instance may live {} from now on, and {} would live {}",
                              format_duration(*limits.time_to_live), name,
                              format_duration(*instance.expires_at - now)),
                  "ask an admin of the project to extend it");
    }
    EXA_TRY(keep_instance(tx, deed, before, instance));
    return answer_of(instance, now);
  });
}

Result<Answer> schedule_instance(Service& service, const Caller& caller, const std::string& project,
                                 const std::string& name, const InstanceSchedule& schedule) {
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_ASSIGN(const ComputeInstance before, find_instance(tx, project, name));
    EXA_TRY(require_own(tx, caller, before));
    ComputeInstance instance = before;
    instance.schedule = schedule;
    instance.schedule_seen = service.now();  // from now on
    EXA_TRY(keep_instance(tx, deed, before, instance));
    return answer_of(instance, service.now());
  });
}

Result<Answer> show_instance_limits(Service& service, const std::string& project) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    EXA_TRY(require_project(tx, project));
    EXA_ASSIGN(const InstanceLimits limits, load_instance_limits(tx, project));
    Answer answer;
    answer.body = to_json(limits);
    answer.body["project"] = project;
    return answer;
  });
}

Result<Answer> set_instance_limits(Service& service, const Caller& caller,
                                   const std::string& project,
                                   const std::function<void(InstanceLimits&)>& change) {
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_TRY(require_project(tx, project));
    EXA_ASSIGN(const InstanceLimits before, load_instance_limits(tx, project));
    InstanceLimits limits = before;
    change(limits);
    const json::object spec = to_json(limits);
    EXA_TRY(
        tx.change("INSERT INTO instance_limits VALUES ($1, $2) ON CONFLICT (project) DO UPDATE "
                  "SET spec = $2",
                  {project, to_text(spec)}));
    deed.object_kind = "instance_limits";
    deed.object_name = project;
    deed.project = project;
    deed.before = to_json(before);
    deed.after = spec;
    Answer answer;
    answer.body = spec;
    answer.body["project"] = project;
    return answer;
  });
}

}  // namespace exa
