// The file that says which models are served, each sized by a hardware profile or by its own
// fields. One YAML document a model, or a list of them under `models`:
//
//   name: chat
//   engine: ray                    # ray, kserve, kubernetes, vllm
//   import_path: chat.app:build    # ray; `image` and `command` of kserve and kubernetes; `model`
//   of replicas: 2                    # vllm. Or autoscaling: {min: 0, max: 4, target: 8}
//   resources:
//     hardware_profile: half-a100@2
//     cpu: 8                       # a field that is given wins over the profile's
//
// Pure. Whose profile that is, is looked up elsewhere, between read_serving_file and size_model.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "launch/command_line.h"
#include "profile/hardware_profile.h"
#include "profile/reference.h"

namespace exa {

enum class ServingEngine { ray, kserve, kubernetes, vllm };
std::string_view name(ServingEngine engine);

struct Replicas {
  int64_t least = 1;
  int64_t most = 1;
  bool automatic = false;         // between the two, by load
  std::optional<int64_t> target;  // requests at a time of one replica

  bool operator==(const Replicas&) const = default;
};

// What stands under `resources`.
struct ServingResources {
  std::optional<ProfileRef> profile;
  json::object given;  // by the names of shape_fields(), as written
  std::map<std::string, std::string, std::less<>> places;  // of those: "serving.yaml:7:3"
};

struct ServedModel {
  std::string name;  // as check_launch_name wants it; unique in the file
  ServingEngine engine = ServingEngine::ray;
  std::string import_path;         // ray
  std::string deployment;          // ray: whose resources these are, by its name in the code
  std::string route;               // ray: "/chat"; by default the name
  json::object application;        // ray: what `args` hands to the application's builder
  std::string image;               // kserve, kubernetes; vllm, where it runs in a container
  std::vector<std::string> words;  // command, then args
  std::string model;               // vllm
  int64_t port = 0;
  Variables environment;
  Replicas replicas;
  ServingResources resources;
  std::string place;  // "serving.yaml:1:1"
};

// Every problem of the file at once, each with file:line:column: unknown keys (with a
// did-you-mean), keys of another engine, wrong types, what is missing, names and routes that stand
// twice.
Result<std::vector<ServedModel>> read_serving_file(std::string_view text, std::string_view file);

// The shape of one model: the profile's (nullptr: it names none) with the fields that were given in
// place of the profile's. Devices without a family are those of the model hint, else NVIDIA's; no
// devices are cpu. Fails with invalid_input when the two contradict each other, or the fields
// themselves.
Result<Shape> size_model(const ServedModel& model, const Shape* profile);

}  // namespace exa
