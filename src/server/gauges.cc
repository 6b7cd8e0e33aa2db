#include "server/gauges.h"

#include <fstream>

#include <dirent.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "service/status.h"

namespace exa {
namespace {

double seconds_of(int64_t micros) {
  return static_cast<double>(micros) / 1e6;
}

// An age that is not known is left out: one that stands still would look like one that was read.
void set_age(Metrics& metrics, const std::string& name, const std::string& help,
             std::optional<Duration> age) {
  if (age)
    metrics.set(name, help, seconds_of(age->micros));
  else
    metrics.unset(name, help);
}

void of_the_store(const Figures& figures, Metrics& metrics) {
  const auto count = [&](const char* name, const char* help, int64_t value) {
    metrics.set(name, help, static_cast<double>(value));
  };
  count("exa_audit_entries", "Entries of the audit log", figures.audit_entries);
  count("exa_leases_open", "Leases that hold devices now", figures.open_leases);
  count("exa_clusters", "Clusters that are known", figures.clusters);
  count("exa_clusters_failing", "Clusters whose last look failed", figures.clusters_failing);
  for (const auto& [status, value] : figures.standings)
    metrics.set("exa_profile_resolutions",
                "How versions that are active or in use stand on each cluster, by status",
                static_cast<double>(value), {{"status", status}});
}

std::optional<Duration> age_of_the_checkpoint(const std::filesystem::path& folder, Time now) {
  struct stat status {};
  if (::stat((folder / "checkpoint").c_str(), &status) != 0) return std::nullopt;
  return Duration{now.micros - int64_t{status.st_mtim.tv_sec} * 1'000'000};
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
  const auto read =
      read_value<Figures>(service.store(), [&](Transaction& tx) { return figures(tx, now); });
  if (read) of_the_store(*read, metrics);
  set_age(metrics, "exa_cluster_snapshot_age_seconds",
          "Age of the newest snapshot of the cluster that was seen longest ago",
          read ? read->oldest_sight : std::nullopt);
  set_age(metrics, "exa_audit_checkpoint_age_seconds", "Time since the audit log was signed last",
          age_of_the_checkpoint(service.trail().folder(), now));
  of_this_process(metrics);
}

}  // namespace exa
