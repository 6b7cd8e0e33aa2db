// The lock that makes one process at a time the writer of a data folder. The kernel releases it
// when the process ends, however it ends.
#pragma once

#include <filesystem>

#include "base/error.h"
#include "base/time.h"

namespace exa {

class LockFile {
 public:
  LockFile() = default;
  LockFile(LockFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  LockFile& operator=(LockFile&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;
  ~LockFile();

  // Waits up to `wait`; store_locked names the process that holds it.
  static Result<LockFile> acquire(const std::filesystem::path& path, Duration wait);

 private:
  explicit LockFile(int descriptor) : descriptor_(descriptor) {}
  int descriptor_ = -1;
};

}  // namespace exa
