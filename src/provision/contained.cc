#include "provision/contained.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/text.h"
#include "provision/keeper.h"

namespace exa {
namespace {

using Steady = std::chrono::steady_clock;

constexpr int kLookMillis = 50;

struct Pipe {
  std::optional<Descriptor> read;
  std::optional<Descriptor> write;

  bool make() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return false;
    read.emplace(ends[0]);
    write.emplace(ends[1]);
    return true;
  }
};

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> list;
  list.reserve(words.size() + 1);
  for (std::string& word : words) list.push_back(word.data());
  list.push_back(nullptr);
  return list;
}

// The pipes to a keeper, and its number.
struct Keeper {
  Pipe control;
  Pipe status;
  Pipe printed;
  pid_t pid = -1;

  ~Keeper() {
    control.write.reset();  // kills, if it still keeps
    if (pid <= 0) return;
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
};

Failure cannot_start(const ContainedProgram& program, int error) {
  return fail(Code::unexpected, fmt::format("{} cannot be started: {}", printable(program.argv[0]),
                                            std::strerror(error)));
}

Result<void> start(const ContainedProgram& program, Keeper& keeper) {
  if (!keeper.control.make() || !keeper.status.make() || !keeper.printed.make())
    return cannot_start(program, errno);
  std::vector<std::string> words = program.argv;
  std::vector<std::string> variables = program.environment;
  const std::vector<char*> argv = pointers(words);
  const std::vector<char*> environment = pointers(variables);
  KeeperPlan plan;
  plan.path = argv[0];
  plan.argv = argv.data();
  plan.environment = environment.data();
  plan.folder = program.folder;
  plan.rules = program.rules;
  plan.held = program.held;
  plan.printed = keeper.printed.write->get();
  plan.output = program.output >= 0 ? program.output : plan.printed;
  plan.control = keeper.control.read->get();
  plan.status = keeper.status.write->get();
  plan.file_limit_bytes = program.file_limit_bytes;

  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  keeper.pid = ::_Fork();
  if (keeper.pid == 0) keep(plan);
  const int error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (keeper.pid < 0) return cannot_start(program, error);
  keeper.control.read.reset();
  keeper.status.write.reset();
  keeper.printed.write.reset();
  ::fcntl(keeper.printed.read->get(), F_SETFL, O_NONBLOCK);
  return {};
}

enum class Stream { goes_on, is_empty, is_over };

Stream read_some(const ContainedProgram& program, int fd) {
  std::array<char, 65536> buffer;
  const ssize_t size = ::read(fd, buffer.data(), buffer.size());
  if (size > 0) program.printed({buffer.data(), static_cast<size_t>(size)});
  if (size > 0 || (size < 0 && errno == EINTR)) return Stream::goes_on;
  return size < 0 && errno == EAGAIN ? Stream::is_empty : Stream::is_over;
}

// Both ends of a pipe are ours: a keeper that is gone must not end us by SIGPIPE. It only writes
// while it lives, and the pipe is empty, so this never waits.
void order(Keeper& keeper, char word) {
  sigset_t sigpipe;
  sigset_t before;
  ::sigemptyset(&sigpipe);
  ::sigaddset(&sigpipe, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &sigpipe, &before);
  const timespec at_once{0, 0};
  if (::write(keeper.control.write->get(), &word, 1) < 0 && errno == EPIPE)
    ::sigtimedwait(&sigpipe, nullptr, &at_once);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Result<ContainedResult> result_of(const ContainedProgram& program, const KeeperWord& word,
                                  ContainedEnd end) {
  if (word.kind == KeeperWord::cannot_execute)
    return fail(Code::not_found, fmt::format("cannot run {}: {}", printable(program.argv[0]),
                                             std::strerror(word.value)));
  if (word.kind == KeeperWord::cannot_prepare) return cannot_start(program, word.value);
  ContainedResult result;
  result.end = end;
  result.signal = WIFSIGNALED(word.value) ? WTERMSIG(word.value) : 0;
  result.exit_code = result.signal > 0 ? 128 + result.signal : WEXITSTATUS(word.value);
  result.left_behind = word.left_behind;
  result.survived = word.survived != 0;
  return result;
}

// When it was first asked to end, and why.
struct Ending {
  ContainedEnd why = ContainedEnd::by_itself;
  Steady::time_point killed_at;
  bool killed = false;
};

void end_if_due(const ContainedProgram& program, Keeper& keeper, Steady::time_point deadline,
                Ending& ending) {
  const auto now = Steady::now();
  if (ending.why == ContainedEnd::by_itself) {
    if (now >= deadline) ending.why = ContainedEnd::too_late;
    if (program.unwanted && program.unwanted()) ending.why = ContainedEnd::unwanted;
    if (ending.why == ContainedEnd::by_itself) return;
    ending.killed_at = now + std::chrono::microseconds(program.grace.micros);
    order(keeper, kAsk);
  } else if (!ending.killed && now >= ending.killed_at) {
    ending.killed = true;
    order(keeper, kKill);
  }
}

}  // namespace

Result<ContainedResult> run_contained(const ContainedProgram& program) {
  EXA_ASSERT(!program.argv.empty() && program.printed);
  const auto deadline = Steady::now() + std::chrono::microseconds(program.time_limit.micros);
  Keeper keeper;
  EXA_TRY(start(program, keeper));
  const int printed = keeper.printed.read->get();
  std::optional<KeeperWord> last;
  Ending ending;
  bool speaks = true;
  while (true) {
    end_if_due(program, keeper, deadline, ending);
    // poll ignores entries whose descriptor is negative.
    pollfd sources[] = {{keeper.status.read->get(), POLLIN, 0}, {speaks ? printed : -1, POLLIN, 0}};
    if (::poll(sources, std::size(sources), kLookMillis) <= 0) continue;
    if (sources[1].revents != 0) speaks = read_some(program, printed) != Stream::is_over;
    if (sources[0].revents == 0) continue;
    KeeperWord word;
    const ssize_t size = ::read(keeper.status.read->get(), &word, sizeof word);
    if (size < 0 && errno == EINTR) continue;
    if (size != sizeof word) break;  // the keeper is gone
    // a program that could not be executed says so itself; then the keeper says that it ended
    if (!last) last = word;
  }
  while (read_some(program, printed) == Stream::goes_on) {
  }
  if (!last)
    return fail(Code::outcome_unknown,
                fmt::format("the keeper of {} was killed: what became of it is not known",
                            printable(program.argv[0])));
  return result_of(program, *last, ending.why);
}

}  // namespace exa
