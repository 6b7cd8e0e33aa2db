// The one serializer of inventories and counts. Unknown values and empty lists are left out of an
// inventory (it is stored 10,000 nodes at a time); counts show unknown as null.
#pragma once

#include "base/json.h"
#include "hardware/count.h"
#include "hardware/inventory.h"

namespace exa {

json::object to_json(const Node& node);
json::object to_json(const Inventory& inventory);
Result<Inventory> inventory_from_json(const json::value& value);

json::object to_json(const DeviceCount& count);
json::object to_json(const CapacityCount& count);

}  // namespace exa
