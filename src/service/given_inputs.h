// Values for the inputs of a compute profile as somebody gave them: an object of values, and texts
// of flags (--input NAME=TEXT), which only the stored settings can give a type. Pure.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "catalogue/input_setting.h"

namespace exa {

struct GivenInputs {
  json::object values;
  std::vector<std::pair<std::string, std::string>> texts;
};

// resolve_inputs over both, every problem at once. Neither wins: a name that is given twice is
// refused, and so is a secret as a text, which a list of processes would show.
Result<ResolvedInputs> resolve_given(std::span<const InputSetting> stored,
                                     const GivenInputs& given);

}  // namespace exa
