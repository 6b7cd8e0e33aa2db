#include "service/entity_tag.h"

#include <algorithm>

#include <fmt/format.h>

#include "audit/digest.h"
#include "base/text.h"

namespace exa {

std::string entity_tag_of(const json::value& document) {
  constexpr size_t kDigits = 32;  // 128 bits: nobody meets a collision, and it is read in one look
  return fmt::format("\"{}\"", sha256_hex(to_canonical_text(document)).substr(0, kDigits));
}

Result<void> check_match(std::string_view if_match, bool required,
                         const std::optional<json::value>& there) {
  if (trim(if_match).empty()) {
    if (!required || !there) return {};
    return fail(Code::match_needed,
                "it exists; If-Match says which state of it you change: the ETag that it was read "
                "with, or * for any");
  }
  if (!there) return fail(Code::stale, "there is nothing that If-Match could name");
  if (trim(if_match) == "*") return {};
  const std::string now = entity_tag_of(*there);
  // tags of ours hold no comma, so the list is split at them
  const auto given = split(if_match, ',');
  if (std::ranges::any_of(given, [&](std::string_view tag) { return trim(tag) == now; })) return {};
  return fail(Code::stale,
              fmt::format("it was changed since it was read: its ETag is {} now", now));
}

}  // namespace exa
