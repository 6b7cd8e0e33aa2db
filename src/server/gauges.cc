#include "server/gauges.h"

#include <fstream>

#include <dirent.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace exa {
namespace {

double seconds_of(int64_t micros) {
  return static_cast<double>(micros) / 1e6;
}

Result<void> of_the_store(Transaction& tx, Time now, Metrics& metrics) {
  EXA_ASSIGN(const auto entries, tx.rows("SELECT COALESCE(MAX(idx), -1) + 1 FROM audit_entry"));
  metrics.set("exa_audit_entries", "Entries of the audit log",
              static_cast<double>(entries[0].integer(0)));
  EXA_ASSIGN(const auto leases,
             tx.rows("SELECT COUNT(*) FROM lease WHERE ended_at IS NULL AND expires_at > $1",
                     {now.micros}));
  metrics.set("exa_leases_open", "Leases that hold devices now",
              static_cast<double>(leases[0].integer(0)));
  std::map<std::string, double> by_status{
      {"verified", 0}, {"degraded", 0}, {"unresolvable", 0}, {"unchecked", 0}};
  EXA_ASSIGN(const auto statuses,
             tx.rows("SELECT status, COUNT(*) FROM resolution GROUP BY status"));
  for (const Row& row : statuses) by_status[row.text(0)] = static_cast<double>(row.integer(1));
  for (const auto& [status, count] : by_status)
    metrics.set("exa_profile_resolutions", "Kept answers of resolve, by status", count,
                {{"status", status}});
  EXA_ASSIGN(
      const auto seen,
      tx.rows("SELECT MIN(newest) FROM (SELECT MAX(s.taken_at) AS newest FROM cluster c JOIN "
              "snapshot s ON s.cluster_uid = c.uid WHERE c.removed_at IS NULL GROUP BY c.uid) "
              "AS of_each"));
  if (!seen[0].is_null(0))
    metrics.set("exa_cluster_snapshot_age_seconds",
                "Age of the newest snapshot of the cluster that was seen longest ago",
                seconds_of(now.micros - seen[0].integer(0)));
  return {};
}

void of_the_checkpoint(const std::filesystem::path& folder, Time now, Metrics& metrics) {
  struct stat status {};
  if (::stat((folder / "checkpoint").c_str(), &status) != 0) return;
  metrics.set("exa_audit_checkpoint_age_seconds", "Time since the audit log was signed last",
              seconds_of(now.micros) - static_cast<double>(status.st_mtim.tv_sec));
}

// The names that every Prometheus client exports of its process.
void of_this_process(Metrics& metrics) {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  metrics.set("process_cpu_seconds", "CPU time of the process",
              seconds(usage.ru_utime) + seconds(usage.ru_stime));
  std::ifstream memory("/proc/self/statm");
  double pages = 0;
  double resident = 0;
  if (memory >> pages >> resident) {
    metrics.set("process_resident_memory_bytes", "Resident memory of the process",
                resident * static_cast<double>(::sysconf(_SC_PAGESIZE)));
  }
  if (DIR* descriptors = ::opendir("/proc/self/fd")) {
    double count = -3;  // the folder itself, and the entries . and ..
    while (::readdir(descriptors) != nullptr) ++count;
    ::closedir(descriptors);
    metrics.set("process_open_fds", "Descriptors that are open", count);
  }
}

}  // namespace

void read_gauges(Service& service, Metrics& metrics) {
  const Time now = service.now();
  const Result<void> read =
      service.store().read([&](Transaction& tx) { return of_the_store(tx, now, metrics); });
  static_cast<void>(read);
  of_the_checkpoint(service.trail().folder(), now, metrics);
  of_this_process(metrics);
}

}  // namespace exa
