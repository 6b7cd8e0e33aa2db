// A model's shape: what its profile says, and what its own fields say in the profile's place.
#include <fmt/format.h>

#include "hardware/catalogue.h"
#include "launch/serving_file.h"
#include "profile/validate.h"

namespace exa {

Result<Shape> size_model(const ServedModel& model, const Shape* profile) {
  const ServingResources& resources = model.resources;
  if (resources.given.empty()) return profile == nullptr ? Shape{} : *profile;
  json::object fields = profile == nullptr ? json::object() : shape_to_json(*profile);
  for (const auto& member : resources.given) fields[member.key()] = member.value();
  if (!fields.contains("accelerator_family")) {
    const json::value* gpus = find(fields, "gpu_count");
    const bool devices = gpus != nullptr && *gpus != json::value(0);
    const auto meant = models_meant(text_or(fields, "accelerator_model_hint", ""));
    const Family of_hint = meant.empty() ? Family::nvidia : meant.front()->family;
    fields["accelerator_family"] = info(devices || !meant.empty() ? of_hint : Family::cpu).name;
  }
  auto shape = read_shape(fields);
  if (shape) return shape;
  Error error = std::move(shape.error());
  for (Problem& problem : error.problems) {
    const std::string field = problem.where.substr(1);
    const auto own = resources.places.find(field);
    const auto of_profile = resources.places.find("hardware_profile");
    if (own != resources.places.end()) {
      problem.where = own->second;
    } else {
      // the profile's word, beside one that was given here
      problem.where = of_profile == resources.places.end() ? model.place : of_profile->second;
      problem.message = fmt::format("{} {}", field, problem.message);
    }
  }
  error.message = fmt::format("the resources of {}: {}", model.name, error.problems.at(0).message);
  return fail(std::move(error));
}

}  // namespace exa
