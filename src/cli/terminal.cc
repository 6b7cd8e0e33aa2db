#include "cli/terminal.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

namespace exa {
namespace {

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

size_t columns_of(int descriptor) {
  winsize size{};
  return ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

// Closes on every way out.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ > STDERR_FILENO) ::close(number_);
  }
  int get() const { return number_; }

 private:
  int number_;
};

Failure unreadable(const std::string& path) {
  return fail(Code::invalid_input,
              fmt::format("{} cannot be read: {}", printable(path), std::strerror(errno)));
}

Result<void> write_file(const std::string& path, std::string_view content) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  while (file.get() >= 0 && !content.empty()) {
    const ssize_t count = ::write(file.get(), content.data(), content.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) break;
    content.remove_prefix(static_cast<size_t>(count));
  }
  if (file.get() >= 0 && content.empty()) return {};
  return fail(Code::invalid_input,
              fmt::format("{} cannot be written: {}", printable(path), std::strerror(errno)));
}

// Of devices, a terminal is typed on until its end, and /dev/null is an empty file.
bool never_ends(int descriptor, const struct stat& facts) {
  if (S_ISBLK(facts.st_mode)) return true;
  if (!S_ISCHR(facts.st_mode) || ::isatty(descriptor) != 0) return false;
  struct stat nothing {};
  return ::stat("/dev/null", &nothing) != 0 || nothing.st_rdev != facts.st_rdev;
}

Result<std::string> read_file(const std::string& path, size_t most) {
  const bool standard_input = path == "-";
  const Descriptor file(standard_input ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return unreadable(path);
  struct stat facts {};
  if (::fstat(file.get(), &facts) == 0 && S_ISDIR(facts.st_mode)) {
    errno = EISDIR;
    return unreadable(path);
  }
  if (never_ends(file.get(), facts)) {
    return fail(Code::invalid_input,
                fmt::format("{} is a device, which has no end to be read to; name a file",
                            standard_input ? "standard input" : printable(path)));
  }
  std::string content;
  if (S_ISREG(facts.st_mode) && static_cast<size_t>(facts.st_size) <= most) {
    content.reserve(static_cast<size_t>(facts.st_size) + 1);
  }
  std::string chunk(size_t{1} << 16, '\0');
  while (true) {
    const ssize_t count = ::read(file.get(), chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return unreadable(path);
    if (count == 0) return content;
    content.append(chunk, 0, static_cast<size_t>(count));
    if (content.size() > most) {
      return fail(Code::invalid_input,
                  fmt::format("{} is longer than {} bytes", printable(path), most));
    }
  }
}

// One line of the terminal, byte by byte: nothing beyond it is taken from whoever reads next.
std::optional<std::string> ask(std::string_view question) {
  if (!write_all(STDERR_FILENO, question)) return std::nullopt;
  std::string line;
  char c = 0;
  while (true) {
    const ssize_t count = ::read(STDIN_FILENO, &c, 1);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      write_all(STDERR_FILENO, "\n");
      return std::nullopt;
    }
    if (c == '\n') return line;
    line += c;
  }
}

volatile std::sig_atomic_t interrupts = 0;

bool interrupted() {
  static const bool watched = [] {
    struct sigaction action {};
    action.sa_handler = [](int) {
      interrupts = 1;
      constexpr std::string_view kSaid = "\nCtrl-C again ends this at once.\n";
      if (::isatty(STDERR_FILENO) != 0)
        static_cast<void>(!::write(STDERR_FILENO, kSaid.data(), kSaid.size()));
    };
    action.sa_flags = SA_RESETHAND;
    return ::sigaction(SIGINT, &action, nullptr) == 0;
  }();
  return watched && interrupts != 0;
}

}  // namespace

void guard_descriptors() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // standard output for reading only: an answer that nobody can read is no success
    if (::fcntl(number, F_GETFD) == -1)
      ::open("/dev/null", number == STDERR_FILENO ? O_WRONLY : O_RDONLY);
  }
  // a handler, not SIG_IGN: programs that exa starts must not inherit a SIGPIPE that does nothing
  struct sigaction action {};
  action.sa_handler = [](int) {};
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGPIPE, &action, nullptr);
}

Environment terminal_environment() {
  Environment environment;
  environment.out = [](std::string_view text) {
    if (write_all(STDOUT_FILENO, text)) return Written::all;
    return errno == EPIPE ? Written::reader_gone : Written::failed;
  };
  environment.err = [](std::string_view text) { write_all(STDERR_FILENO, text); };
  environment.ask = ask;
  environment.read_file = read_file;
  environment.write_file = write_file;
  environment.variable = [](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
  environment.working_folder = [] {
    std::error_code unknown;  // a folder that was removed: paths stay as they were typed
    return std::filesystem::current_path(unknown).string();
  };
  environment.clock = system_clock();
  environment.interrupted = interrupted;
  environment.in_is_terminal = ::isatty(STDIN_FILENO) == 1;
  environment.out_is_terminal = ::isatty(STDOUT_FILENO) == 1;
  environment.err_is_terminal = ::isatty(STDERR_FILENO) == 1;
  environment.terminal_columns = environment.out_is_terminal ? columns_of(STDOUT_FILENO) : 0;
  return environment;
}

}  // namespace exa
