#include "service/leases.h"

#include <fmt/format.h>

#include "base/text.h"
#include "service/stored.h"
#include "service/visibility.h"

namespace exa {
namespace {

Result<Lease> lease_of_row(const Row& row) {
  EXA_ASSIGN(const json::value spec, parse_stored(row.text(0), "stored lease"));
  if (!spec.is_object()) return fail(Code::store_damaged, "a stored lease is not an object");
  return lease_from_json(spec.get_object());
}

Result<std::vector<Lease>> leases_of(const std::vector<Row>& rows) {
  std::vector<Lease> leases;
  leases.reserve(rows.size());
  for (const Row& row : rows) {
    EXA_ASSIGN(Lease lease, lease_of_row(row));
    leases.push_back(std::move(lease));
  }
  return leases;
}

// One that the caller may know of and change.
Result<Lease> find_lease(Transaction& tx, const Caller& caller, const std::string& id) {
  std::vector<Value> values{id};
  const std::string known = in_projects(caller.known, "project", values);
  EXA_ASSIGN(const auto rows,
             tx.rows(fmt::format("SELECT spec FROM lease WHERE id = $1 AND {}", known),
                     std::span<const Value>(values)));
  if (rows.empty()) {
    return fail(Code::not_found, fmt::format("there is no lease \"{}\"", printable(id)),
                "exa hardware leases");
  }
  EXA_ASSIGN(Lease lease, lease_of_row(rows[0]));
  EXA_TRY(require_permitted(tx, caller, "placement:write", lease.project));
  return lease;
}

}  // namespace

Result<void> update_lease(Transaction& tx, const Lease& lease) {
  const Value ended = lease.ended_at ? Value(lease.ended_at->micros) : Value(nullptr);
  EXA_TRY(tx.change(
      "UPDATE lease SET spec = $1, taken_at = $2, expires_at = $3, ended_at = $4 WHERE id = $5",
      {to_text(to_stored_json(lease)), lease.taken_at.micros, lease.expires_at.micros, ended,
       lease.id}));
  return {};
}

Result<std::optional<Lease>> load_lease(Transaction& tx, const std::string& id) {
  EXA_ASSIGN(const auto rows, tx.rows("SELECT spec FROM lease WHERE id = $1", {id}));
  std::optional<Lease> lease;
  if (rows.empty()) return lease;
  EXA_ASSIGN(lease, lease_of_row(rows[0]));
  return lease;
}

Result<LeasesByPool> open_leases_by_pool(Transaction& tx, Time now) {
  EXA_ASSIGN(const auto rows,
             tx.rows("SELECT spec FROM lease WHERE ended_at IS NULL AND expires_at > $1 ORDER BY "
                     "taken_at, id",
                     {now.micros}));
  EXA_ASSIGN(auto leases, leases_of(rows));
  LeasesByPool by_pool;
  for (Lease& lease : leases) by_pool[lease.pool].push_back(std::move(lease));
  return by_pool;
}

Result<std::vector<Lease>> open_leases(Transaction& tx, const std::string& pool, Time now) {
  EXA_ASSIGN(const auto rows,
             tx.rows("SELECT spec FROM lease WHERE pool = $1 AND ended_at IS NULL AND expires_at > "
                     "$2 ORDER BY taken_at, id",
                     {pool, now.micros}));
  return leases_of(rows);
}

Result<void> insert_lease(Transaction& tx, const Lease& lease) {
  EXA_TRY(tx.change("INSERT INTO lease VALUES ($1, $2, $3, $4, $5, $6, NULL)",
                    {lease.id, lease.project, lease.pool, to_text(to_stored_json(lease)),
                     lease.taken_at.micros, lease.expires_at.micros}));
  return {};
}

Result<std::vector<Lease>> open_leases_of_project(Transaction& tx, const std::string& project,
                                                  Time now) {
  EXA_ASSIGN(const auto rows,
             tx.rows("SELECT spec FROM lease WHERE project = $1 AND ended_at IS NULL AND "
                     "expires_at > $2 ORDER BY taken_at, id",
                     {project, now.micros}));
  return leases_of(rows);
}

Result<std::vector<Lease>> load_leases(Transaction& tx, const Projects& projects) {
  std::vector<Value> values;
  const std::string condition = in_projects(projects, "project", values);
  EXA_ASSIGN(
      const auto rows,
      tx.rows(fmt::format("SELECT spec FROM lease WHERE {} ORDER BY taken_at, id", condition),
              std::span<const Value>(values)));
  return leases_of(rows);
}

Result<Answer> list_leases(Service& service, const Page& page, bool ended_too) {
  const Time now = service.now();
  const std::string condition =
      ended_too ? "" : fmt::format("ended_at IS NULL AND expires_at > {}", now.micros);
  return newest_first(service, page, "lease", "taken_at", condition,
                      [&](const json::value& spec) -> Result<json::object> {
                        EXA_ASSIGN(const Lease lease, lease_from_json(spec.get_object()));
                        return to_json(lease, now);
                      });
}

Result<Answer> release_lease(Service& service, const Caller& caller, const std::string& id) {
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_ASSIGN(Lease lease, find_lease(tx, caller, id));
    const Time now = service.now();
    Answer answer;
    if (lease.open(now)) {
      deed.before = to_stored_json(lease);
      lease.ended_at = now;
      EXA_TRY(update_lease(tx, lease));
    } else {
      answer.notices.push_back(fmt::format("it had ended at {}", format_rfc3339(*lease.end(now))));
    }
    deed.object_kind = "lease";
    deed.object_name = id;
    deed.project = lease.project;
    deed.after = to_stored_json(lease);
    deed.details = {{"pool", lease.pool}, {"devices", lease.devices}};
    answer.body = to_json(lease, now);
    return answer;
  });
}

Result<Answer> renew_lease(Service& service, const Caller& caller, const std::string& id,
                           Duration lifetime) {
  return service.mutate(caller, [&](Transaction& tx, Deed& deed) -> Result<Answer> {
    EXA_ASSIGN(Lease lease, find_lease(tx, caller, id));
    const Time now = service.now();
    if (!lease.open(now)) {
      return fail(Code::conflict,
                  fmt::format("lease {} ended at {}: its devices may be somebody else's by now", id,
                              format_rfc3339(*lease.end(now))),
                  fmt::format("exa hardware place {} --reserve", lease.workload));
    }
    deed = {"lease", id, lease.project, {}, to_stored_json(lease), {}, "", {}};
    lease.expires_at = {now.micros + lifetime.micros};
    EXA_TRY(update_lease(tx, lease));
    deed.after = to_stored_json(lease);
    deed.details = {{"pool", lease.pool}, {"expires_at", format_rfc3339(lease.expires_at)}};
    Answer answer;
    answer.body = to_json(lease, now);
    return answer;
  });
}

}  // namespace exa
