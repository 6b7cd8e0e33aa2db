// The spec of a Pod. Inside of src/launch only.
#pragma once

#include "launch/vocabulary_text.h"

namespace exa::vocabulary {

void read_pod(const Node& spec, Reading& reading);
void write_pod(const Writing& writing, json::object& spec);  // containers and node selector
void write_containers(const Writing& writing, json::object& spec);

}  // namespace exa::vocabulary
