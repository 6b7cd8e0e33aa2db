#include "service/usage.h"

#include "service/leases.h"
#include "service/placement_rows.h"
#include "service/profile_rows.h"

namespace exa {
namespace {

// A lease that expired ended then; one that holds is still running.
UsageRecord record_of(const Lease& lease, Time now) {
  UsageRecord record;
  record.id = lease.id;
  record.project = lease.project;
  record.workload = lease.workload;
  record.profile = lease.hardware_profile;
  record.pool = lease.pool;
  record.device = lease.device;
  record.model = lease.model;
  record.region = lease.region;
  record.started = lease.taken_at;
  record.ended = lease.end(now);
  record.devices = lease.devices;
  record.held_milli = lease.held_milli;
  record.price = lease.price;
  record.price_set = lease.price.has_value();
  // an on-premises pool without a price counts as 0 and is marked; where there is no pool, nobody
  // could have set one, and what it costs is not known
  if (!lease.price && lease.target != Target::cloud && !is_no_pool(lease.pool))
    record.price = Money{};
  record.carbon = lease.carbon;
  return record;
}

Result<std::vector<UsageRecord>> load_usage(Transaction& tx, const std::string& project,
                                            const Projects& projects, Time now) {
  if (!project.empty()) EXA_TRY(require_project(tx, project));
  EXA_ASSIGN(const auto leases,
             load_leases(tx, project.empty() ? projects : Projects{false, {project}}));
  std::vector<UsageRecord> records;
  records.reserve(leases.size());
  for (const Lease& lease : leases) records.push_back(record_of(lease, now));
  return records;
}

}  // namespace

Result<Answer> sum_of_usage(Service& service, UsageQuestion question) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    question.window.now = service.now();
    EXA_ASSIGN(const auto records,
               load_usage(tx, question.project, question.projects, service.now()));
    json::array items;
    for (const UsageSum& sum : sum_usage(records, question.by, question.window))
      items.emplace_back(to_json(sum, question.by));
    Answer answer;
    answer.body = {{"items", std::move(items)}, {"next_cursor", nullptr}};
    return answer;
  });
}

Result<Answer> list_usage(Service& service, const std::string& project, const Projects& projects) {
  return read_value<Answer>(service.store(), [&](Transaction& tx) -> Result<Answer> {
    EXA_ASSIGN(const auto records, load_usage(tx, project, projects, service.now()));
    json::array items;
    for (const UsageRecord& record : records) items.emplace_back(to_json(record));
    Answer answer;
    answer.body = {{"items", std::move(items)}, {"next_cursor", nullptr}};
    return answer;
  });
}

}  // namespace exa
