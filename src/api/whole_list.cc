#include <algorithm>

#include "api/cursor.h"
#include "api/handlers.h"

namespace exa {

Result<std::string> place_before(const Call& call, std::string_view list_name) {
  if (!call.has("cursor")) return std::string();
  return place_of_cursor(list_name, call.text("cursor"));
}

Result<Reply> page_of_whole(const Call& call, std::string_view list_name, Result<Answer> whole,
                            std::string (*key)(const json::value& item)) {
  if (!whole) return fail(std::move(whole).error());
  EXA_ASSIGN(const std::string after, place_before(call, list_name));
  std::vector<std::pair<std::string, json::value>> keyed;
  for (json::value& item : whole->body.at("items").as_array()) {
    std::string place = key(item);
    if (after.empty() || place > after) keyed.emplace_back(std::move(place), std::move(item));
  }
  std::ranges::sort(keyed, {}, [](const auto& one) -> const std::string& { return one.first; });
  const auto limit = static_cast<size_t>(call.integer("limit", 50));
  json::value next = nullptr;
  if (keyed.size() > limit) {
    keyed.resize(limit);
    next = keyed.back().first;
  }
  json::array items;
  for (auto& [place, item] : keyed) items.push_back(std::move(item));
  whole->body["items"] = std::move(items);
  whole->body["next_cursor"] = std::move(next);
  close_cursor(whole->body, list_name);
  return reply_of(*std::move(whole));
}

std::string name_of_item(const json::value& item) {
  return std::string(text_or(item, "name", ""));
}

}  // namespace exa
