// A hardware profile: one immutable version of a named compute shape, and its one JSON form.
// Requirement "Data model"; semantics §1 and §3.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "hardware/family.h"

namespace exa {

// What a profile may be used for, in the document's order.
enum class Surface { workbench, training, serving, any };

std::string_view name(Surface surface);
std::optional<Surface> find_surface(std::string_view name);  // exact spelling
std::vector<std::string> surface_names();

// What is asked for. gpu_count, cpu_milli and memory_bytes are per node; the job's total is that
// times `nodes`. An empty text means "not given"; cpu_milli or memory_bytes 0 means that nothing is
// asked. A Shape that came out of read_shape() keeps every rule of semantics §3.
struct Shape {
  Family accelerator_family = Family::cpu;
  std::string accelerator_model_hint;  // advisory: never trusted without a live look
  int64_t gpu_count = 0;               // per node; with mig_profile: instances, not cards
  int64_t gpu_fraction_milli = 1000;   // of each device
  std::string mig_profile;             // lower case: "1g.10gb"
  int64_t cpu_milli = 0;               // per node
  int64_t memory_bytes = 0;            // per node
  int64_t nodes = 1;
  std::string driver_tag;                               // "cuda-12.4"
  std::string runtime_tag;                              // "pytorch-2.4-cu124"
  std::vector<Surface> applicability = {Surface::any};  // in the enum's order, unique
  std::string description;

  bool operator==(const Shape&) const = default;
};

struct HardwareProfile {
  std::string project = "default";
  std::string name;
  int64_t version = 0;  // from 1; never reused
  Shape shape;
  Time created_at;
  std::string created_by;

  bool operator==(const HardwareProfile&) const = default;
};

// The document's keys of a shape, in the document's order.
std::span<const std::string_view> shape_fields();

// One field as it stands in JSON: null where an optional text is absent, memory_gb in GiB.
json::value field_to_json(const Shape& shape, std::string_view field);
json::object shape_to_json(const Shape& shape);

// name, version, the shape's fields in the document's order, then project, created_at, created_by.
// The only serializer: command line, REST and console all print this.
json::object to_json(const HardwareProfile& profile);

// Reads what shape_to_json wrote. Types are checked, rules are not: a row stored under yesterday's
// rules stays readable. Fails with store_damaged and every problem.
Result<Shape> shape_from_json(const json::object& stored);

}  // namespace exa
