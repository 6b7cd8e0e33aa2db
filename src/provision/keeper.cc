#include "provision/keeper.h"

#include <algorithm>
#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "provision/confinement.h"

namespace exa {
namespace {

constexpr int kAboveStreams = 10;
constexpr int kRoundMillis = 2;
constexpr int kRounds = 5000;  // of kRoundMillis: ten seconds

[[noreturn]] void say_and_end(int status, const KeeperWord& word) {
  [[maybe_unused]] const ssize_t ignored = ::write(status, &word, sizeof word);
  ::_exit(word.kind == KeeperWord::ended ? 0 : 127);
}

// The plan with its descriptors above the standard streams, and no other descriptor open.
KeeperPlan alone(KeeperPlan plan) {
  int* const ours[] = {&plan.folder,  &plan.rules,   &plan.held,  &plan.output,
                       &plan.printed, &plan.control, &plan.status};
  std::array<int, std::size(ours)> kept{};
  size_t count = 0;
  for (int* fd : ours) {
    if (*fd < 0) continue;
    *fd = ::fcntl(*fd, F_DUPFD_CLOEXEC, kAboveStreams);
    if (*fd >= 0) kept[count++] = *fd;
  }
  std::sort(kept.begin(), kept.begin() + count);
  unsigned from = 0;
  for (size_t i = 0; i < count; ++i) {
    const auto fd = static_cast<unsigned>(kept[i]);
    if (fd > from) ::close_range(from, fd - 1, 0);
    from = fd + 1;
  }
  ::close_range(from, ~0U, 0);
  for (int stream = 0; stream <= STDERR_FILENO; ++stream)
    ::open("/dev/null", O_RDWR);  // the lowest that is free: 0, 1, 2
  return plan;
}

void limit(__rlimit_resource_t what, rlim_t most) {
  rlimit now{};
  if (::getrlimit(what, &now) != 0) return;
  const rlim_t allowed = std::min(most, now.rlim_max);
  const rlimit bounded{allowed, allowed};
  ::setrlimit(what, &bounded);
}

[[noreturn]] void become(const KeeperPlan& plan) {
  constexpr rlim_t kOpenFiles = 4096;
  const auto failed = [&](KeeperWord::Kind kind) {
    say_and_end(plan.status, {.kind = kind, .value = errno});
  };
  ::setsid();
  ::umask(077);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, static_cast<rlim_t>(plan.file_limit_bytes));
  limit(RLIMIT_NOFILE, kOpenFiles);
  if (::dup2(plan.output, STDOUT_FILENO) < 0 || ::dup2(plan.printed, STDERR_FILENO) < 0 ||
      ::fchdir(plan.folder) != 0 || ::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 ||
      ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    failed(KeeperWord::cannot_prepare);
  if (plan.rules >= 0 && !confine_to(plan.rules)) failed(KeeperWord::cannot_prepare);
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  // Another thread of exa may have forked while the copy of a program was being written: until that
  // child has closed what it got, the file counts as being written.
  constexpr int kTries = 200;
  for (int tried = 0; tried < kTries; ++tried) {
    ::execve(plan.path, plan.argv, plan.environment);
    if (errno != ETXTBSY) break;
    const timespec pause{0, 10'000'000};
    ::nanosleep(&pause, nullptr);
  }
  failed(KeeperWord::cannot_execute);
  ::_exit(127);
}

// Every process whose parent is the keeper. One that is killed hands its own children to the
// keeper, so that some rounds of this reach all of them, however deep they were.
void kill_children() {
  const int fd = ::open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  std::array<char, 16384> text;
  pid_t pid = 0;
  ssize_t size = 0;
  while ((size = ::read(fd, text.data(), text.size())) > 0) {
    for (ssize_t i = 0; i < size; ++i) {
      const char c = text[static_cast<size_t>(i)];
      if (c >= '0' && c <= '9') {
        pid = pid * 10 + (c - '0');
      } else if (pid > 0) {
        ::kill(pid, SIGKILL);
        pid = 0;
      }
    }
  }
  ::close(fd);
}

void end_all(pid_t program, bool reaped, KeeperWord& word) {
  if (!reaped) ::kill(-program, SIGKILL);
  for (int round = 0; round < kRounds; ++round) {
    kill_children();
    int status = 0;
    pid_t pid = 0;
    while ((pid = ::waitpid(-1, &status, WNOHANG)) > 0) {
      if (pid == program)
        word.value = status;
      else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        ++word.left_behind;
    }
    if (pid < 0 && errno == ECHILD) return;
    ::poll(nullptr, 0, kRoundMillis);
  }
  word.survived = 1;
}

// True once the program itself has ended; others that end here were orphans.
bool reap(pid_t program, KeeperWord& word) {
  int status = 0;
  for (pid_t pid = 0; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
    if (pid != program) continue;
    word.value = status;
    return true;
  }
  return false;
}

}  // namespace

void keep(const KeeperPlan& given) {
  ::setsid();  // no terminal's signal reaches it
  ::prctl(PR_SET_NAME, "exa-keeper");
  const KeeperPlan plan = alone(given);
  sigset_t children;
  ::sigemptyset(&children);
  ::sigaddset(&children, SIGCHLD);
  const int ends = ::signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
  if (ends < 0 || ::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
    say_and_end(plan.status, {.kind = KeeperWord::cannot_prepare, .value = errno});

  const pid_t program = ::_Fork();
  if (program < 0) say_and_end(plan.status, {.kind = KeeperWord::cannot_prepare, .value = errno});
  if (program == 0) become(plan);
  ::close(plan.output);
  if (plan.printed != plan.output) ::close(plan.printed);

  KeeperWord word;
  bool reaped = false;
  for (bool wanted = true; wanted && !reaped;) {
    pollfd sources[] = {{plan.control, POLLIN, 0}, {ends, POLLIN, 0}};
    if (::poll(sources, std::size(sources), -1) < 0) continue;
    if (sources[1].revents != 0) {
      std::array<char, sizeof(signalfd_siginfo)> taken;
      while (::read(ends, taken.data(), taken.size()) > 0) {
      }
      reaped = reap(program, word);
    }
    if (sources[0].revents != 0 && !reaped) {
      char order = kKill;
      const ssize_t size = ::read(plan.control, &order, 1);
      if (size == 1 && order == kAsk)
        ::kill(-program, SIGTERM);
      else
        wanted = false;
    }
  }
  end_all(program, reaped, word);
  say_and_end(plan.status, word);
}

}  // namespace exa
