// Values for the inputs of a compute profile, as the rows that take them share them: an object, and
// NAME=VALUE flags.
#pragma once

#include "api/route.h"
#include "service/given_inputs.h"

namespace exa {

std::vector<Param> input_params();
std::vector<Problem> check_input_args(const json::object& args);
GivenInputs given_inputs(const Call& call);  // checked by check_input_args

}  // namespace exa
