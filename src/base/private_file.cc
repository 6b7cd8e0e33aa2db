#include "base/private_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.h"

namespace exa {
namespace {

Failure write_failure(std::string_view doing, const std::string& path, int error) {
  const bool full = error == ENOSPC || error == EDQUOT;
  return fail(full ? Code::store_full : Code::store_unwritable,
              fmt::format("cannot {} {}: {}", doing, path, std::strerror(error)));
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Result<void> write_all(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return write_failure("write", path, written < 0 ? errno : EIO);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

Result<void> sync_folder(const std::string& path) {
  const std::string folder = folder_of(path);
  const Descriptor fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.is_open() || ::fsync(fd.get()) != 0) return write_failure("sync", folder, errno);
  return {};
}

// A name of its own: what somebody keeps beside the file ("checkpoint.backup") is never a draft.
constexpr std::string_view kDraft = ".draft.";
constexpr std::string_view kDraftLetters = "XXXXXX";

// A file under a temporary name in the folder of `path`, complete and synced; removed unless kept.
class Draft {
 public:
  Draft() = default;
  ~Draft() {
    if (!name_.empty()) ::unlink(name_.c_str());
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  Result<void> write(const std::string& path, std::string_view bytes, mode_t mode) {
    std::string name = fmt::format("{}{}{}", path, kDraft, kDraftLetters);
    const Descriptor fd(::mkostemp(name.data(), O_CLOEXEC));  // O_EXCL, mode 0600
    if (!fd.is_open()) return write_failure("create", path, errno);
    name_ = std::move(name);
    if (::fchmod(fd.get(), mode) != 0) return write_failure("create", path, errno);
    EXA_TRY(write_all(fd.get(), bytes, path));
    if (::fsync(fd.get()) != 0) return write_failure("sync", path, errno);
    return {};
  }

  Result<void> replace(const std::string& path) {
    if (::rename(name_.c_str(), path.c_str()) != 0) return write_failure("replace", path, errno);
    name_.clear();
    return sync_folder(path);
  }

  // A hard link, unlike a rename, fails when the name is taken: O_EXCL for a file that is complete.
  Result<void> place_new(const std::string& path) {
    if (::link(name_.c_str(), path.c_str()) != 0) {
      if (errno == EEXIST) return fail(Code::conflict, fmt::format("{} exists already", path));
      return write_failure("create", path, errno);
    }
    return sync_folder(path);
  }

 private:
  std::string name_;
};

// Drafts that a process left when it was killed. Whoever replaces the file is the only one that
// writes it, so none of them is in use.
void remove_left_drafts(const std::string& path) {
  const std::filesystem::path file(path);
  const std::string prefix = fmt::format("{}{}", file.filename().string(), kDraft);
  std::error_code ignored;  // an untidy folder is no reason to refuse
  for (const auto& entry : std::filesystem::directory_iterator(folder_of(path), ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(prefix) && name.size() == prefix.size() + kDraftLetters.size())
      std::filesystem::remove(entry.path(), ignored);
  }
}

}  // namespace

Result<void> create_file(const std::string& path, std::string_view bytes, mode_t mode) {
  Draft draft;
  EXA_TRY(draft.write(path, bytes, mode));
  return draft.place_new(path);
}

Result<void> replace_file(const std::string& path, std::string_view bytes, mode_t mode) {
  remove_left_drafts(path);
  Draft draft;
  EXA_TRY(draft.write(path, bytes, mode));
  return draft.replace(path);
}

}  // namespace exa
