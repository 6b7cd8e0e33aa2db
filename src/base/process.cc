#include "base/process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"

extern char** environ;

namespace exa {
namespace {

using Steady = std::chrono::steady_clock;

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() { close(); }
  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_ = -1;
};

struct Pipe {
  Descriptor read;
  Descriptor write;
};

// A program started with its standard streams closed would get pipe ends with their numbers, and
// dup2 in the child would overwrite one with another.
bool above_standard_streams(Descriptor& end) {
  if (end.get() > STDERR_FILENO) return true;
  Descriptor moved(::fcntl(end.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  if (!moved.is_open()) return false;
  end = std::move(moved);
  return true;
}

Failure system_failure(const std::string& program, std::string_view step, int error) {
  return fail(Code::probe_failed, program + ": " + std::string(step) + ": " + std::strerror(error));
}

Result<Pipe> make_pipe(const std::string& program) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return system_failure(program, "cannot make a pipe", errno);
  Pipe pipe{Descriptor(ends[0]), Descriptor(ends[1])};
  if (!above_standard_streams(pipe.read) || !above_standard_streams(pipe.write))
    return system_failure(program, "cannot make a pipe", errno);
  return pipe;
}

void make_nonblocking(const Descriptor& end) {
  ::fcntl(end.get(), F_SETFL, ::fcntl(end.get(), F_GETFL) | O_NONBLOCK);
}

// A program that does not read its input must not end us by SIGPIPE. Blocked for this thread only,
// and taken away again if it came from here.
class SigpipeHeld {
 public:
  SigpipeHeld() {
    sigset_t pending;
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
    ::sigemptyset(&sigpipe_);
    ::sigaddset(&sigpipe_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &sigpipe_, &before_);
  }
  SigpipeHeld(const SigpipeHeld&) = delete;
  SigpipeHeld& operator=(const SigpipeHeld&) = delete;
  ~SigpipeHeld() {
    const timespec at_once{0, 0};
    if (!was_pending_)
      while (::sigtimedwait(&sigpipe_, nullptr, &at_once) < 0 && errno == EINTR) {
      }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t sigpipe_{};
  sigset_t before_{};
  bool was_pending_ = false;
};

std::vector<std::string> environment(const Command& command) {
  std::vector<std::string> variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view key = text.substr(0, text.find('='));
    const bool replaced = std::any_of(command.extra_env.begin(), command.extra_env.end(),
                                      [&](const auto& extra) { return extra.first == key; });
    if (!replaced) variables.emplace_back(text);
  }
  for (const auto& [key, value] : command.extra_env) variables.push_back(key + "=" + value);
  return variables;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> list;
  for (std::string& word : words) list.push_back(word.data());
  list.push_back(nullptr);
  return list;
}

// What the child gets: its own process group, every signal at its default, three streams, no other
// descriptor.
class SpawnPlan {
 public:
  SpawnPlan() {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
    sigset_t signals;
    ::sigfillset(&signals);
    ::posix_spawnattr_setsigdefault(&attributes, &signals);
    ::sigemptyset(&signals);
    ::posix_spawnattr_setsigmask(&attributes, &signals);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan() {
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
  }

  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
};

struct Child {
  pid_t pid = -1;
  Descriptor in;  // our ends
  Descriptor out;
  Descriptor err;
};

Result<Child> start(const Command& command, const std::string& path) {
  const std::string& program = command.argv[0];
  Pipe in;
  if (!command.input.empty()) {
    EXA_ASSIGN(in, make_pipe(program));
  }
  EXA_ASSIGN(Pipe out, make_pipe(program));
  EXA_ASSIGN(Pipe err, make_pipe(program));

  SpawnPlan plan;
  if (in.read.is_open())
    ::posix_spawn_file_actions_adddup2(&plan.actions, in.read.get(), STDIN_FILENO);
  else
    ::posix_spawn_file_actions_addopen(&plan.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&plan.actions, out.write.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&plan.actions, err.write.get(), STDERR_FILENO);
  ::posix_spawn_file_actions_addclosefrom_np(&plan.actions, STDERR_FILENO + 1);

  std::vector<std::string> words = command.argv;
  std::vector<std::string> variables = environment(command);
  Child child;
  const int error = ::posix_spawn(&child.pid, path.c_str(), &plan.actions, &plan.attributes,
                                  pointers(words).data(), pointers(variables).data());
  if (error == ENOENT || error == EACCES || error == ENOEXEC)
    return fail(Code::not_found, "cannot run " + path + ": " + std::strerror(error));
  if (error != 0) return system_failure(program, "cannot be started", error);
  child.in = std::move(in.write);
  child.out = std::move(out.read);
  child.err = std::move(err.read);
  for (Descriptor* end : {&child.in, &child.out, &child.err})
    if (end->is_open()) make_nonblocking(*end);
  return child;
}

// Without reaping, so that the process group's number stays ours until we are done with it.
bool has_exited(pid_t pid) {
  siginfo_t state{};
  return ::waitid(P_PID, static_cast<id_t>(pid), &state, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         state.si_pid == pid;
}

int reap(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void write_some(Descriptor& end, std::string_view input, size_t& written) {
  const ssize_t n = ::write(end.get(), input.data() + written, input.size() - written);
  if (n > 0) written += static_cast<size_t>(n);
  const bool not_wanted = n < 0 && errno != EAGAIN && errno != EINTR;
  if (not_wanted || written == input.size()) end.close();
}

// False when the stream holds more than `limit`.
bool read_some(Descriptor& end, std::string& text, size_t limit) {
  std::array<char, 65536> buffer;
  const ssize_t n = ::read(end.get(), buffer.data(), buffer.size());
  if (n > 0) {
    if (static_cast<size_t>(n) > limit - text.size()) return false;
    text.append(buffer.data(), static_cast<size_t>(n));
  } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
    end.close();
  }
  return true;
}

enum class End { finished, too_late, too_much, unwanted };

bool is_unwanted(const Command& command) {
  return command.unwanted && command.unwanted();
}

// Until both streams are closed, or the program has ended and nothing more comes: a process that it
// left behind (ssh's ControlPersist) may hold the streams open for hours.
End collect(const Command& command, Child& child, Finished& finished, Steady::time_point deadline) {
  constexpr int kLookMillis = 50;
  size_t written = 0;
  while (child.out.is_open() || child.err.is_open()) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - Steady::now()).count();
    if (left <= 0) return End::too_late;
    if (is_unwanted(command)) return End::unwanted;
    // poll ignores entries whose descriptor is negative.
    pollfd streams[] = {
        {child.in.get(), POLLOUT, 0}, {child.out.get(), POLLIN, 0}, {child.err.get(), POLLIN, 0}};
    const bool exited = has_exited(child.pid);
    const int ready =
        ::poll(streams, 3, exited ? 0 : static_cast<int>(std::min<int64_t>(left, kLookMillis)));
    if (ready == 0 && exited) return End::finished;
    if (ready <= 0) continue;
    if (streams[0].revents != 0) write_some(child.in, command.input, written);
    if (streams[1].revents != 0 && !read_some(child.out, finished.out, command.max_output))
      return End::too_much;
    if (streams[2].revents != 0 && !read_some(child.err, finished.err, command.max_output))
      return End::too_much;
  }
  child.in.close();
  return End::finished;
}

End wait_for_exit(const Command& command, pid_t pid, Steady::time_point deadline) {
  constexpr std::chrono::microseconds kLongest(10'000);
  std::chrono::microseconds pause(50);
  while (!has_exited(pid)) {
    if (Steady::now() >= deadline) return End::too_late;
    if (is_unwanted(command)) return End::unwanted;
    const timespec sleep{0, std::chrono::nanoseconds(pause).count()};
    ::nanosleep(&sleep, nullptr);
    pause = std::min(pause * 2, kLongest);
  }
  return End::finished;
}

Result<void> check_words(const Command& command) {
  EXA_ASSERT(!command.argv.empty() && !command.argv[0].empty());
  auto has_nul = [](const std::string& word) { return word.find('\0') != std::string::npos; };
  if (std::any_of(command.argv.begin(), command.argv.end(), has_nul))
    return fail(Code::invalid_input,
                "an argument of " + printable(command.argv[0]) + " holds a NUL byte");
  for (const auto& [key, value] : command.extra_env)
    EXA_ASSERT(!key.empty() && key.find('=') == std::string::npos && !has_nul(key) &&
               !has_nul(value));
  return {};
}

bool is_program(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

Result<Finished> run_command(const Command& command) {
  EXA_TRY(check_words(command));
  const std::string& program = command.argv[0];
  const std::optional<std::string> path = find_program(program);
  if (!path) return fail(Code::not_found, "there is no program " + printable(program));

  const auto deadline = Steady::now() + std::chrono::microseconds(command.timeout.micros);
  const SigpipeHeld held;
  EXA_ASSIGN(Child child, start(command, *path));
  Finished finished;
  End end = collect(command, child, finished, deadline);
  if (end == End::finished) end = wait_for_exit(command, child.pid, deadline);
  if (end != End::finished) ::kill(-child.pid, SIGKILL);
  finished.exit_code = reap(child.pid);

  if (end == End::unwanted)
    return fail(Code::interrupted, printable(program) + " was ended: nobody wants it any more");
  if (end == End::too_late)
    return fail(Code::probe_failed,
                printable(program) + " did not finish within " + format_duration(command.timeout));
  if (end == End::too_much)
    return fail(Code::probe_failed, printable(program) + " printed more than " +
                                        std::to_string(command.max_output) + " bytes");
  return finished;
}

std::optional<std::string> find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  if (path != nullptr) return find_program(name, path);
  return name.find('/') == std::string::npos ? std::nullopt : find_program(name, "");
}

std::optional<std::string> find_program(const std::string& name, std::string_view folders) {
  if (name.empty()) return std::nullopt;
  if (name.find('/') != std::string::npos)
    return is_program(name) ? std::optional(name) : std::nullopt;
  for (std::string_view folder : split(folders, ':')) {
    const std::string candidate = (folder.empty() ? "." : std::string(folder)) + "/" + name;
    if (is_program(candidate)) return candidate;
  }
  return std::nullopt;
}

}  // namespace exa
