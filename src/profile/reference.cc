#include "profile/reference.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/quantity.h"
#include "base/text.h"
#include "profile/validate.h"

namespace exa {
namespace {

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

Failure refuse(std::string_view text, std::string_view why) {
  return fail(Code::invalid_input,
              fmt::format("\"{}\" is not a reference to a profile: {}; write NAME, NAME@VERSION or "
                          "NAME@LABEL, with PROJECT/ before what another project shares",
                          printable(text), why));
}

}  // namespace

Result<ProfileRef> parse_reference(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, '@');
  if (parts.size() > 2) return refuse(text, "it holds more than one @");
  ProfileRef reference;
  std::string_view name = parts[0];
  if (const size_t slash = name.find('/'); slash != std::string_view::npos) {
    EXA_ASSIGN(reference.project, check_name(name.substr(0, slash), "project name"));
    name.remove_prefix(slash + 1);
  }
  EXA_ASSIGN(reference.name, check_name(name, "profile name"));
  if (parts.size() == 1) return reference;

  const std::string_view which = parts[1];
  if (which.empty()) return refuse(text, "nothing follows the @");
  if (!is_number(which)) {
    EXA_ASSIGN(reference.label, check_label(which));
    return reference;
  }
  if (which.front() == '0') return refuse(text, "versions count from 1, without leading zeros");
  const Result<int64_t> version = parse_count(which, "version");
  if (!version) return refuse(text, "the version is too large");
  reference.version = *version;
  return reference;
}

std::string to_text(const ProfileRef& reference) {
  const std::string name =
      reference.project ? fmt::format("{}/{}", *reference.project, reference.name) : reference.name;
  if (reference.version) return fmt::format("{}@{}", name, *reference.version);
  if (reference.label) return fmt::format("{}@{}", name, *reference.label);
  return name;
}

}  // namespace exa
