#include "provision/work_folder.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/private_folder.h"
#include "base/text.h"

namespace exa {

namespace fs = std::filesystem;

namespace {

constexpr const char* kOwn = ".exa";
constexpr const char* kHolder = ".exa/holder";
constexpr int64_t kMostEntries = 10'000;
constexpr uintmax_t kMostBytes = uintmax_t{256} << 20;

Failure cannot(std::string_view doing, const std::string& path, int error) {
  const bool full = error == ENOSPC || error == EDQUOT;
  return fail(full ? Code::store_full : Code::store_unwritable,
              fmt::format("cannot {} {}: {}", doing, printable(path), std::strerror(error)));
}

// The keeper of a run whose exa was killed holds the lock until it has killed what is left.
bool lock(int folder) {
  constexpr int kTries = 25;
  const timespec pause{0, 20'000'000};
  for (int i = 0; i < kTries; ++i) {
    if (::flock(folder, LOCK_EX | LOCK_NB) == 0) return true;
    ::nanosleep(&pause, nullptr);
  }
  return false;
}

Result<void> check_owner(const std::string& path, int folder) {
  struct stat info {};
  if (::fstat(folder, &info) != 0) return cannot("look at", path, errno);
  if (info.st_uid != ::geteuid())
    return fail(Code::conflict,
                fmt::format("the work folder {} belongs to another user", printable(path)));
  if ((info.st_mode & 022) != 0)
    return fail(Code::conflict,
                fmt::format("others may write in the work folder {}", printable(path)),
                "chmod go-w " + printable(path));
  return {};
}

}  // namespace

Result<WorkFolder> WorkFolder::open(const std::string& path) {
  EXA_TRY(make_private_folder(path));
  auto folder = std::make_unique<Descriptor>(
      ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder->is_open() && (errno == ELOOP || errno == ENOTDIR))
    return fail(Code::conflict, fmt::format("the work folder {} is a link", printable(path)));
  if (!folder->is_open()) return cannot("open", path, errno);
  EXA_TRY(check_owner(path, folder->get()));
  WorkFolder work(path, std::move(folder));
  if (!lock(work.descriptor())) {
    const auto holder = work.read(kHolder, 64);
    return fail(Code::conflict,
                fmt::format("a run is going on in {}{}: one at a time", printable(path),
                            holder && *holder ? ", by process " + printable(**holder) : ""));
  }
  EXA_TRY(work.make_folder(kOwn));
  EXA_TRY(work.write(kHolder, std::to_string(::getpid())));
  return work;
}

Result<void> WorkFolder::remove(const std::string& name) {
  if (::unlinkat(descriptor(), name.c_str(), 0) == 0 || errno == ENOENT) return {};
  std::error_code error;
  // its program may have closed it; neither follows links
  fs::permissions(path_ + "/" + name, fs::perms::owner_all,
                  fs::perm_options::add | fs::perm_options::nofollow, error);
  fs::remove_all(path_ + "/" + name, error);
  if (error) return cannot("remove", path_ + "/" + name, error.value());
  return {};
}

Result<void> WorkFolder::make_folder(const std::string& name) {
  EXA_TRY(remove(name));
  if (::mkdirat(descriptor(), name.c_str(), 0700) != 0)
    return cannot("make", path_ + "/" + name, errno);
  return {};
}

Result<int> WorkFolder::create(const std::string& name) {
  EXA_TRY(remove(name));
  const int file = ::openat(descriptor(), name.c_str(),
                            O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) return cannot("create", path_ + "/" + name, errno);
  return file;
}

Result<void> WorkFolder::write(const std::string& name, std::string_view bytes) {
  EXA_ASSIGN(const int created, create(name));
  const Descriptor file(created);
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return cannot("write", path_ + "/" + name, written < 0 ? errno : EIO);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

Result<std::optional<std::string>> WorkFolder::read(const std::string& name, size_t limit) const {
  // O_NONBLOCK: the open of a FIFO must not wait for its writer
  const Descriptor file(::openat(descriptor(), name.c_str(),
                                 O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file.is_open() && errno == ENOENT) return std::nullopt;
  const auto refused = [&](std::string_view why) {
    return fail(Code::unreadable_output, fmt::format("{} {}", name, why));
  };
  if (!file.is_open() && errno == ELOOP) return refused("is a link, not a file");
  if (!file.is_open()) return refused(fmt::format("cannot be read: {}", std::strerror(errno)));
  struct stat info {};
  if (::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return refused("is no plain file");
  if (info.st_nlink != 1) return refused("is another file's second name");
  std::string text;
  std::array<char, 65536> buffer;
  while (true) {
    const ssize_t size = ::read(file.get(), buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return refused(fmt::format("cannot be read: {}", std::strerror(errno)));
    if (size == 0) return text;
    text.append(buffer.data(), static_cast<size_t>(size));
    if (text.size() > limit) return refused(fmt::format("is larger than {} bytes", limit));
  }
}

Result<void> WorkFolder::copy_template(const std::string& from, const std::string& to) {
  EXA_TRY(make_folder(to));
  std::error_code error;
  for (fs::recursive_directory_iterator entry(from, error), end; !error && entry != end;
       entry.increment(error)) {
    const fs::path target = fs::path(path_) / to / entry->path().lexically_relative(from);
    const fs::file_status status = entry->symlink_status(error);
    if (error) break;
    const bool is_program = (status.permissions() & fs::perms::owner_exec) != fs::perms::none;
    const bool is_folder = fs::is_directory(status);
    if (is_folder)
      fs::create_directory(target, error);
    else if (fs::is_regular_file(status))
      fs::copy_file(entry->path(), target, error);
    if (error) break;
    fs::permissions(target,
                    is_folder || is_program ? fs::perms::owner_all
                                            : fs::perms::owner_read | fs::perms::owner_write,
                    error);
    if (error) break;
  }
  if (error) return cannot("copy", from, error.value());
  return {};
}

std::vector<Problem> template_problems(const std::string& folder) {
  std::vector<Problem> problems;
  std::error_code error;
  int64_t entries = 0;
  uintmax_t bytes = 0;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const fs::file_status status = entry->symlink_status(error);
    if (error) break;
    const std::string name = printable(entry->path().lexically_relative(folder).string());
    if (++entries > kMostEntries) {
      problems.push_back(
          {name, fmt::format("is one more than {}, the most that a template holds", kMostEntries),
           ""});
      return problems;
    }
    if (fs::is_regular_file(status)) {
      bytes += entry->file_size(error);
    } else if (!fs::is_directory(status)) {
      problems.push_back({name, "is neither a file nor a folder", "put the file itself there"});
    }
  }
  if (error) problems.push_back({printable(folder), "cannot be read: " + error.message(), ""});
  if (bytes > kMostBytes) problems.push_back({printable(folder), "holds more than 256 MiB", ""});
  return problems;
}

}  // namespace exa
