#include "store/lock_file.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/quantity.h"
#include "base/text.h"

namespace exa {
namespace {

std::string holder_of(int descriptor) {
  std::array<char, 32> text{};
  const ssize_t read = ::pread(descriptor, text.data(), text.size() - 1, 0);
  if (read <= 0) return "another process";
  const std::string_view line(text.data(), static_cast<size_t>(read));
  const Result<int64_t> pid = parse_count(trim(line.substr(0, line.find('\n'))), "pid");
  // who wrote its number last may have ended, while another holds the lock and could not write its
  // own (a full disk)
  const bool alive =
      pid && *pid > 0 && (::kill(static_cast<pid_t>(*pid), 0) == 0 || errno == EPERM);
  return alive ? fmt::format("process {}", *pid) : "another process";
}

}  // namespace

LockFile::~LockFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<LockFile> LockFile::acquire(const std::filesystem::path& path, Duration wait) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    return fail(errno == ENOSPC ? Code::store_full : Code::store_unwritable,
                fmt::format("cannot open {}: {}", path.string(), std::strerror(errno)));
  }
  LockFile lock(descriptor);
  using Steady = std::chrono::steady_clock;
  const auto deadline = Steady::now() + std::chrono::microseconds(wait.micros);
  auto pause = std::chrono::microseconds(500);
  while (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return fail(Code::store_unwritable,
                  fmt::format("cannot lock {}: {}", path.string(), std::strerror(errno)));
    }
    if (Steady::now() >= deadline) {
      return fail(Code::store_locked,
                  fmt::format("{} has been writing to {} for more than {}", holder_of(descriptor),
                              path.parent_path().string(), format_duration(wait)));
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds(16'000));
  }
  // Only for the message above; a failure to write it (a full disk) must not stop anybody.
  const std::string pid = fmt::format("{:<11}\n", ::getpid());
  [[maybe_unused]] const ssize_t ignored = ::pwrite(descriptor, pid.data(), pid.size(), 0);
  return lock;
}

}  // namespace exa
