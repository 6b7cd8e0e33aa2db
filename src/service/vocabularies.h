// A profile in the words of another system, and from them.
#pragma once

#include "launch/vocabulary.h"
#include "profile/reference.h"
#include "service/service.h"

namespace exa {

struct RenderProfile {
  std::string project;
  ProfileRef ref;
  const Vocabulary* vocabulary = nullptr;
  std::optional<std::string> over;  // a text to write it into
};
Result<Answer> render_profile(Service& service, const RenderProfile& what);

struct ImportProfile {
  std::string project;
  std::string name;  // empty: only told what the profile would be
  std::string label;
  const Vocabulary* vocabulary = nullptr;  // nullptr: by the text itself
  ForeignText text;
  json::object given;  // fields that are said beside the text: they win
};
Result<Answer> import_profile(Service& service, const Caller& caller, const ImportProfile& what);

}  // namespace exa
