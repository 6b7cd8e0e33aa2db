#include "discover/flux_r.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "discover/hostlist.h"

namespace exa {
namespace {

struct Place {
  std::string_view what;
  Failure wrong(std::string_view pointer, std::string_view why) const {
    return fail(Code::unreadable_output, fmt::format("{}: {} {}", what, pointer, why));
  }
};

const json::object* object_at(const json::value& value, std::string_view key) {
  const json::value* found = find(value, key);
  return found == nullptr ? nullptr : found->if_object();
}

// One entry of R_lite stands for every rank of its group.
Result<void> add_group(const json::value& group, size_t index, const Place& place,
                       std::map<int64_t, RankResources>& ranks, size_t host_count, FluxR& r) {
  std::string at = fmt::format("/execution/R_lite/{}", index);
  const json::value* rank = find(group, "rank");
  if (rank == nullptr || !rank->is_string()) return place.wrong(at + "/rank", "is no id set");
  EXA_ASSIGN(IdSet members,
             parse_idset(rank->get_string(), fmt::format("{}: {}/rank", place.what, at)));
  const json::object* children = object_at(group, "children");
  if (children == nullptr) return place.wrong(at + "/children", "is missing");
  RankResources resources;
  for (const auto& [kind, ids] : *children) {
    if (!ids.is_string()) return place.wrong(pointer(at + "/children", kind), "is no id set");
    std::string name = fmt::format("{}: {}", place.what, pointer(at + "/children", kind));
    EXA_ASSIGN(IdSet set, parse_idset(ids.get_string(), name));
    if (kind == "core") {
      resources.cores = std::move(set);
    } else if (kind == "gpu") {
      resources.gpus = std::move(set);
    } else {
      r.other_children.emplace_back(kind);
    }
  }
  // The nodelist has one name per rank, which also bounds what a short "0-2147483647" can cost.
  if (members.count() + static_cast<int64_t>(ranks.size()) > static_cast<int64_t>(host_count))
    return place.wrong(at + "/rank", "names more ranks than the nodelist has hosts");
  for (const IdRange& range : members.ranges) {
    for (int64_t id = range.first; id <= range.last; ++id) {
      resources.rank = id;
      if (!ranks.emplace(id, resources).second)
        return place.wrong(at + "/rank", fmt::format("names rank {} a second time", id));
    }
  }
  return {};
}

Result<std::vector<std::string>> hosts_of(const json::value& execution, const Place& place) {
  std::vector<std::string> hosts;
  const json::value* list = find(execution, "nodelist");
  if (list == nullptr || !list->is_array())
    return place.wrong("/execution/nodelist", "is no list of hosts");
  for (const json::value& part : list->get_array()) {
    if (!part.is_string()) return place.wrong("/execution/nodelist", "is no list of hosts");
    if (part.get_string().empty()) continue;
    auto expanded = expand_hostlist(part.get_string());
    if (!expanded) return place.wrong("/execution/nodelist", expanded.error().message);
    std::move(expanded->begin(), expanded->end(), std::back_inserter(hosts));
  }
  return hosts;
}

Result<void> add_properties(const json::value& execution, const Place& place,
                            std::map<int64_t, RankResources>& ranks) {
  const json::value* all = find(execution, "properties");
  if (all == nullptr || all->is_null()) return {};
  if (!all->is_object()) return place.wrong("/execution/properties", "is no object");
  for (const auto& [property, ids] : all->get_object()) {
    std::string at = pointer("/execution/properties", property);
    if (!ids.is_string()) return place.wrong(at, "is no id set");
    EXA_ASSIGN(IdSet set, parse_idset(ids.get_string(), fmt::format("{}: {}", place.what, at)));
    for (auto& [rank, resources] : ranks)
      if (set.contains(rank)) resources.properties.emplace_back(property);
  }
  for (auto& [rank, resources] : ranks)
    std::sort(resources.properties.begin(), resources.properties.end());
  return {};
}

bool is_positive(const json::value& execution, std::string_view key) {
  const json::value* number = find(execution, key);
  return number != nullptr && number->is_number() && number->to_number<double>() > 0;
}

}  // namespace

Result<FluxR> parse_flux_r(std::string_view text, std::string_view what) {
  Place place{what};
  auto document = parse_json(text, what, tool_output_limits());
  if (!document) {
    Error error = std::move(document).error();
    error.code = Code::unreadable_output;
    return fail(std::move(error));
  }
  const json::value* version = find(*document, "version");
  if (version == nullptr || !version->is_number() || version->to_number<double>() != 1)
    return place.wrong("/version", "is not 1: only R version 1 is known");
  const json::value* execution = find(*document, "execution");
  const json::value* groups = execution == nullptr ? nullptr : find(*execution, "R_lite");
  if (groups == nullptr || !groups->is_array())
    return place.wrong("/execution/R_lite", "is no list of rank groups");

  FluxR r;
  EXA_ASSIGN(std::vector<std::string> hosts, hosts_of(*execution, place));
  std::map<int64_t, RankResources> ranks;
  for (size_t i = 0; i < groups->get_array().size(); ++i)
    EXA_TRY(add_group(groups->get_array()[i], i, place, ranks, hosts.size(), r));
  if (ranks.size() != hosts.size())
    return place.wrong("/execution/nodelist",
                       fmt::format("has {} hosts for {} ranks", hosts.size(), ranks.size()));
  EXA_TRY(add_properties(*execution, place, ranks));
  auto host = hosts.begin();
  for (auto& [rank, resources] : ranks) {
    resources.host = std::move(*host++);
    r.ranks.push_back(std::move(resources));
  }
  std::sort(r.other_children.begin(), r.other_children.end());
  r.other_children.erase(std::unique(r.other_children.begin(), r.other_children.end()),
                         r.other_children.end());
  r.lent = is_positive(*execution, "starttime") && is_positive(*execution, "expiration");
  return r;
}

}  // namespace exa
