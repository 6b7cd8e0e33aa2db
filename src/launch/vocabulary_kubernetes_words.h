// What everything that ends as a Pod has in common: names of resources, quantities, labels of
// nodes. Inside of src/launch only.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "launch/vocabulary_text.h"

namespace exa::vocabulary {

std::string cpu_quantity(int64_t milli);          // "8", "500m"
std::string memory_quantity(int64_t bytes);       // "32Gi", exact
std::string device_resource(const Shape& shape);  // "nvidia.com/gpu", "nvidia.com/mig-1g.10gb"
bool is_device_resource(std::string_view name);

// Reads amounts by resource name, and selectors.
class KubernetesReader {
 public:
  explicit KubernetesReader(Reading& reading) : reading_(reading) {}

  // False where the name is nothing that a profile asks for.
  bool read_amount_of(std::string_view name, const Node& amount);
  void read_selector(const Node& labels);
  // When all was read: no device was asked for, or none that is known.
  void finish();

 private:
  void read_device(std::string_view name, const Node& amount);

  Reading& reading_;
  std::string device_;
  bool asks_for_strange_devices_ = false;
};

// Notes what a Pod cannot say of the devices. The label that selects the model, if there is one.
std::optional<std::string> product_label(const Writing& writing);
inline constexpr std::string_view kProductLabel = "nvidia.com/gpu.product";

// `labels` without those that select a model, and with the one of the shape's.
void write_selector(const Writing& writing, json::object& labels);

// "limits" and "requests" of a container, the parts that are asked for.
void write_resources(const Writing& writing, json::object& resources);

inline constexpr NoWord kNoNodes = {"nodes", "it describes what is on one node"};

}  // namespace exa::vocabulary
