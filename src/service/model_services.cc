#include "service/model_services.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "launch/renderers.h"
#include "resolve/resolve.h"
#include "service/profile_rows.h"

namespace exa {
namespace {

Result<ServedModel> model_called(const std::string& name, const std::string& text,
                                 const std::string& file) {
  EXA_ASSIGN(auto models, read_serving_file(text, file));
  std::vector<std::string> names;
  for (ServedModel& model : models) {
    if (model.name == name) return std::move(model);
    names.push_back(model.name);
  }
  return fail(Error{Code::not_found,
                    fmt::format("{} has no model \"{}\"; it has {}", file, name, join(names, ", ")),
                    {},
                    "name one of its models",
                    close_matches(name, names)});
}

// The profile of a model, where it names one: applicable to serving, or refused.
Result<std::optional<HardwareProfile>> profile_of(Transaction& tx, const std::string& project,
                                                  const ServedModel& model) {
  std::optional<HardwareProfile> profile;
  if (!model.resources.profile) return profile;
  EXA_ASSIGN(const StoredVersion stored, find_profile(tx, project, *model.resources.profile));
  EXA_TRY(check_applicable(stored.profile, Surface::serving));
  return std::optional(stored.profile);
}

json::array files_of(const Rendered& rendered) {
  json::array files;
  for (const RenderedFile& file : rendered.files)
    files.push_back(json::object{{"name", file.name}, {"text", file.text}});
  return files;
}

json::object plan_of(std::string_view engine, std::vector<std::string> names,
                     const Rendered& rendered) {
  return {{"engine", engine},
          {"models", json::array(names.begin(), names.end())},
          {"command", json::array(rendered.command.begin(), rendered.command.end())},
          {"files", files_of(rendered)},
          {"notes", json::array(rendered.notes.begin(), rendered.notes.end())}};
}

// In the place of a launch's id, where there is no launch.
constexpr std::string_view kNoLaunch = "rendered";

Result<Rendered> rendered_alone(const SizedModel& model, const std::string& project) {
  const ServingLaunch launch{project, std::string(kNoLaunch), {}};
  if (model.model.engine == ServingEngine::kserve) return render_kserve(model, launch);
  EXA_ASSIGN(const LaunchSpec spec, launch_of(model, launch));
  if (model.model.engine == ServingEngine::kubernetes) return render_kubernetes(spec);
  Rendered line;
  line.notes.push_back(to_text(spec.command));
  for (const Word& word : spec.command) line.command.push_back(to_text(CommandLine{word}));
  return line;
}

// What is said of the launch wins over the file.
void fill_from_file(LaunchRequest& launch, ServedModel& model,
                    const std::optional<int64_t>& replicas) {
  if (launch.hardware_profile.empty() && model.resources.profile)
    launch.hardware_profile = to_text(*model.resources.profile);
  for (const auto& field : model.resources.given)
    if (!launch.given.contains(field.key())) launch.given[field.key()] = field.value();
  if (launch.image.empty()) launch.image = model.image;
  if (replicas) model.replicas = {*replicas, *replicas, false, {}};
  if (model.engine == ServingEngine::ray) return;  // whose file says its replicas and its port
  if (launch.port == 0) launch.port = model.port;
  launch.replicas = model.replicas.least;
  if (model.engine == ServingEngine::kserve) launch.kserve = kserve_of(model.replicas);
}

// What an engine cannot be run by at all.
Result<void> check_engine(const ServedModel& model, ClusterKind kind) {
  const auto refuse = [&](std::string why, std::string next) {
    return fail(invalid("service", {{model.place, std::move(why), std::move(next)}}));
  };
  const bool on_kubernetes = kind == ClusterKind::kubernetes;
  if (model.engine == ServingEngine::kserve && !on_kubernetes) {
    return refuse(fmt::format("{} is of engine kserve, which is of Kubernetes", model.name),
                  "name a Kubernetes cluster that has KServe, or take another engine");
  }
  if (model.engine != ServingEngine::ray) return {};
  if (on_kubernetes) {
    return refuse(
        fmt::format("{} is of engine ray, which runs as a program and not in a pod", model.name),
        "run it on a machine or by a batch scheduler, take engine kserve or kubernetes "
        "with an image, or hand what exa serving render prints to KubeRay");
  }
  if (kind != ClusterKind::host && model.replicas.most > 1) {
    return refuse(fmt::format("{} is of engine ray and asks for {} replicas, and a job holds what "
                              "one of them takes",
                              model.name, model.replicas.most),
                  "ask for one, or hand what exa serving render prints to a Ray cluster of yours");
  }
  return {};
}

Result<Program> program_of(const ServedModel& model, const LaunchRequest& launch,
                           const Resources& resources) {
  Program program;
  if (model.engine == ServingEngine::ray) {
    EXA_ASSIGN(Rendered rendered, render_ray_run({model, resources}, launch.port));
    program.command.assign(rendered.command.begin(), rendered.command.end());
    program.files = std::move(rendered.files);
    program.notes = std::move(rendered.notes);
    program.installed_by = kRayInstalledBy;
    return program;
  }
  EXA_ASSIGN(LaunchSpec spec, launch_of({model, resources}, {launch.project, "", launch.options}));
  program.command = std::move(spec.command);
  program.environment = std::move(spec.environment);
  return program;
}

}  // namespace

Result<Answer> deploy_service(Service& service, const Caller& caller, DeployService what) {
  LaunchRequest& launch = what.launch;
  launch.kind = Surface::serving;
  launch.replicas = what.replicas.value_or(1);
  std::optional<ServedModel> model;
  if (what.file) {
    EXA_ASSIGN(model, model_called(launch.name, *what.file, what.file_name));
    launch.replicas = 1;
    fill_from_file(launch, *model, what.replicas);
  }
  launch.program = [&](const Shape& shape, const LaunchTarget& target) -> Result<Program> {
    Program program;
    if (model) {
      EXA_TRY(check_engine(*model, target.kind));
      EXA_ASSIGN(program, program_of(*model, launch, resources_of(shape)));
    } else {
      program.command = {what.command.begin(), what.command.end()};
    }
    program.environment.insert(program.environment.end(), what.environment.begin(),
                               what.environment.end());
    program.details = {{"engine", model ? json::value(name(model->engine)) : json::value(nullptr)},
                       {"replicas", model ? model->replicas.least : launch.replicas}};
    return program;
  };
  const auto there = read_value<std::optional<Launch>>(service.store(), [&](Transaction& tx) {
    return load_launch(tx, launch.project, Surface::serving, launch.name);
  });
  if (!there) return fail(there.error());
  if (!*there) return start_launch(service, caller, launch);
  return restart_launch(service, caller, launch.project, Surface::serving, launch.name, launch);
}

Result<Answer> scale_service(Service& service, const Caller& caller, const std::string& project,
                             const std::string& name, int64_t replicas) {
  EXA_ASSIGN(const Launch stored, read_value<Launch>(service.store(), [&](Transaction& tx) {
               return find_launch(tx, project, Surface::serving, name);
             }));
  if (!stored.spec.files.empty()) {
    return fail(invalid(
        "scale",
        {{"/replicas", fmt::format("the replicas of {} stand in its configuration", name),
          fmt::format("exa serving deploy {} --file FILE --replicas {}", name, replicas)}}));
  }
  LaunchRequest anew = same_launch(stored);
  anew.replicas = replicas;
  std::vector<std::string> notes;
  if (stored.spec.kserve) {
    const bool automatic = stored.spec.kserve->most > stored.spec.replicas;
    if (automatic)
      notes.push_back(fmt::format("{} no longer scales by load, until it is deployed again", name));
    anew.kserve = KServe{replicas, 0};
  }
  anew.program = [same = anew.program, notes, replicas](
                     const Shape& shape, const LaunchTarget& target) -> Result<Program> {
    EXA_ASSIGN(Program program, same(shape, target));
    program.details["replicas"] = replicas;
    program.notes = notes;
    return program;
  };
  return restart_launch(service, caller, project, Surface::serving, name, anew);
}

Result<Answer> render_services(Service& service, const RenderServices& what) {
  EXA_ASSIGN(const auto models, read_serving_file(what.file, what.file_name));
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    EXA_TRY(require_project(tx, what.project));
    std::vector<SizedModel> of_ray;
    std::vector<std::string> names_of_ray;
    json::array items;
    for (const ServedModel& model : models) {
      EXA_ASSIGN(const auto profile, profile_of(tx, what.project, model));
      EXA_ASSIGN(const Shape shape, size_model(model, profile ? &profile->shape : nullptr));
      SizedModel sized{model, resources_of(shape)};
      if (model.engine == ServingEngine::ray) {
        names_of_ray.push_back(model.name);
        of_ray.push_back(std::move(sized));
        continue;
      }
      EXA_ASSIGN(const Rendered rendered, rendered_alone(sized, what.project));
      items.push_back(plan_of(name(model.engine), {model.name}, rendered));
    }
    if (!of_ray.empty()) {
      EXA_ASSIGN(const Rendered rendered, render_ray(of_ray));
      items.push_back(plan_of(name(ServingEngine::ray), names_of_ray, rendered));
    }
    Answer answer;
    answer.body = {{"items", std::move(items)}, {"next_cursor", nullptr}};
    return answer;
  });
}

}  // namespace exa
