// What a row says about itself beyond its members, for everything that describes the API: the
// OpenAPI document, the API page, the contract test. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/route.h"

namespace exa {

// "hardware profile": routes of one group stand together.
std::string group_of(const Route& route);

// The statuses of success: 200, 201 or both.
std::vector<int> success_statuses(const Route& route);

// Every code that a request of this route can be answered with, in the order of all_codes(). The
// contract test holds observed errors against it.
std::vector<Code> error_codes_of(const Route& route);

// A change takes Idempotency-Key: the first answer is kept for 24 h and given again.
bool takes_idempotency_key(const Route& route);

// Its answer carries the ETag that If-Match of another row on the same path takes, or its own.
bool carries_etag(std::span<const Route> table, const Route& route);

// JSON Schema of one argument: type, range, words, default.
json::object schema_of(const Param& param);

// The arguments of an example of the row, as the command line sends them: "exa hardware place train
// --gpus 2" -> {"name": "train", "gpus": 2}. A file's content is stood in for by its name. Fails
// with usage for a line that the row does not take.
Result<json::object> example_args(const Route& route, std::string_view line);

}  // namespace exa
