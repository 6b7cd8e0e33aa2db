// One Node object of the API to one node of the inventory.
#pragma once

#include <optional>

#include "discover/kubernetes_json.h"
#include "discover/kubernetes_pods.h"
#include "hardware/inventory.h"

namespace exa::kubernetes {

// `use`: what pods ask for, or nullptr where the pods could not be seen (used and free are unknown
// then). Returns nullopt for an object that is no Node. Throws Unreadable naming node and field.
std::optional<Node> read_node(od::object object, const PodUse* use);

}  // namespace exa::kubernetes
