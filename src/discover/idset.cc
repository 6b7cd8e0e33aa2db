#include "discover/idset.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/text.h"

namespace exa {
namespace {

constexpr int64_t kMaxId = (int64_t{1} << 31) - 1;

bool read_id(std::string_view text, int64_t& id) {
  if (text.empty() || text.front() < '0' || text.front() > '9') return false;
  const char* end = text.data() + text.size();
  auto [stopped, error] = std::from_chars(text.data(), end, id);
  return error == std::errc() && stopped == end && id <= kMaxId;
}

IdSet normalised(std::vector<IdRange> ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const IdRange& a, const IdRange& b) { return a.first < b.first; });
  IdSet set;
  for (const IdRange& range : ranges) {
    if (!set.ranges.empty() && range.first <= set.ranges.back().last + 1) {
      set.ranges.back().last = std::max(set.ranges.back().last, range.last);
    } else {
      set.ranges.push_back(range);
    }
  }
  return set;
}

}  // namespace

int64_t IdSet::count() const {
  int64_t sum = 0;
  for (const IdRange& range : ranges) sum += range.last - range.first + 1;
  return sum;
}

bool IdSet::contains(int64_t id) const {
  auto after =
      std::upper_bound(ranges.begin(), ranges.end(), id,
                       [](int64_t value, const IdRange& range) { return value < range.first; });
  return after != ranges.begin() && id <= std::prev(after)->last;
}

Result<IdSet> parse_idset(std::string_view text, std::string_view what) {
  auto unreadable = [&] {
    return fail(Code::unreadable_output,
                fmt::format("{} is no set of ids: '{}'", what, printable(text.substr(0, 80))));
  };
  std::string_view body = trim(text);
  if (!body.empty() && body.front() == '[') {
    if (body.back() != ']' || body.size() < 2) return unreadable();
    body = body.substr(1, body.size() - 2);
  }
  if (body.empty()) return IdSet{};
  std::vector<IdRange> ranges;
  for (std::string_view part : split(body, ',')) {
    size_t dash = part.find('-');
    IdRange range;
    if (!read_id(part.substr(0, dash), range.first)) return unreadable();
    range.last = range.first;
    if (dash != std::string_view::npos && !read_id(part.substr(dash + 1), range.last))
      return unreadable();
    if (range.last < range.first) return unreadable();
    ranges.push_back(range);
  }
  return normalised(std::move(ranges));
}

IdSet unite(const IdSet& a, const IdSet& b) {
  std::vector<IdRange> ranges = a.ranges;
  ranges.insert(ranges.end(), b.ranges.begin(), b.ranges.end());
  return normalised(std::move(ranges));
}

IdSet subtract(const IdSet& from, const IdSet& what) {
  IdSet left;
  size_t next = 0;
  for (IdRange range : from.ranges) {
    while (next < what.ranges.size() && what.ranges[next].last < range.first) ++next;
    size_t at = next;
    for (; at < what.ranges.size() && what.ranges[at].first <= range.last; ++at) {
      if (what.ranges[at].first > range.first)
        left.ranges.push_back({range.first, what.ranges[at].first - 1});
      range.first = what.ranges[at].last + 1;
    }
    if (range.first <= range.last) left.ranges.push_back(range);
  }
  return left;
}

}  // namespace exa
