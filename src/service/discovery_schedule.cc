#include "service/discovery_schedule.h"

namespace exa {

Time next_look(const Looks& looks) {
  if (!looks.last) return Time{};
  const auto bounded = [](int64_t micros, Duration least, Duration most) {
    return std::clamp(micros, least.micros, most.micros);
  };
  const int64_t interval = bounded(looks.max_age.micros / 3, seconds(10), hours(1));
  const int64_t longest = std::max({looks.max_age.micros, minutes(15).micros, interval});
  int64_t wait = interval;
  for (int64_t i = 0; i < looks.failures && wait < longest; ++i) wait *= 2;
  return Time{looks.last->micros + std::min(wait, longest)};
}

Result<std::vector<Looks>> load_looks(Transaction& tx) {
  // the probes behind the last good one are the failures in a row
  EXA_ASSIGN(
      const auto rows,
      tx.rows("SELECT c.name, c.max_age, MAX(p.probed_at), "
              "COUNT(CASE WHEN p.snapshot_id IS NULL AND p.sequence > COALESCE((SELECT "
              "MAX(g.sequence) FROM probe g WHERE g.cluster_uid = c.uid AND g.snapshot_id IS "
              "NOT NULL), -1) THEN p.sequence END) "
              "FROM cluster c LEFT JOIN probe p ON p.cluster_uid = c.uid "
              "WHERE c.removed_at IS NULL GROUP BY c.uid, c.name, c.max_age ORDER BY c.name"));
  std::vector<Looks> all;
  for (const Row& row : rows) {
    Looks looks{row.text(0), Duration{row.integer(1)}, {}, row.integer(3)};
    if (!row.is_null(2)) looks.last = Time{row.integer(2)};
    all.push_back(std::move(looks));
  }
  return all;
}

}  // namespace exa
