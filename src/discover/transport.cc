#include "discover/transport.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/quote.h"
#include "base/text.h"

namespace exa {
namespace {

constexpr size_t kLargestFile = size_t{64} << 20;  // far beyond any file that a probe asks for

Failure file_failure(const std::string& path, int error) {
  const bool absent = error == ENOENT || error == ENOTDIR;
  return fail(absent ? Code::not_found : Code::probe_failed,
              "cannot read " + printable(path) + ": " + std::strerror(error));
}

Result<std::string> read_descriptor(int fd, const std::string& path) {
  // Not by size: files of /proc and /sys say 0 or 4096 and hold something else.
  std::string text;
  std::array<char, 65536> buffer;
  for (;;) {
    const ssize_t n = ::read(fd, buffer.data(), buffer.size());
    if (n == 0) return text;
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return file_failure(path, errno);
    text.append(buffer.data(), static_cast<size_t>(n));
    if (text.size() > kLargestFile)
      return fail(Code::probe_failed, printable(path) + " is larger than " +
                                          std::to_string(kLargestFile >> 20) + " MiB");
  }
}

class Local final : public Transport {
 public:
  Local(Duration timeout, Unwanted unwanted) : timeout_(timeout), unwanted_(std::move(unwanted)) {}

  Result<Finished> run(const std::vector<std::string>& argv) override {
    Command command;
    command.argv = argv;
    command.timeout = timeout_;
    command.unwanted = unwanted_;
    return run_command(command);
  }

  Result<std::string> read_file(const std::string& path) override {
    // O_NONBLOCK: a pipe with no writer must not hold a probe up.
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) return file_failure(path, errno);
    Result<std::string> text = read_descriptor(fd, path);
    ::close(fd);
    return text;
  }

  Result<std::vector<std::string>> list_folder(const std::string& path) override {
    std::error_code error;
    std::vector<std::string> names;
    for (std::filesystem::directory_iterator entry(path, error), end; !error && entry != end;
         entry.increment(error))
      names.push_back(entry->path().filename());
    if (error) return file_failure(path, error.value());
    std::sort(names.begin(), names.end());
    return names;
  }

  std::string describe() const override { return "local"; }

 private:
  Duration timeout_;
  Unwanted unwanted_;
};

// ssh(1): its own failures end with 255, the remote shell's "no such program" with 127.
constexpr int kSshFailed = 255;
constexpr int kNoSuchProgram = 127;

std::string last_line(std::string_view text) {
  text = trim(text);
  return printable(
      trim(text.substr(text.rfind('\n') == std::string_view::npos ? 0 : text.rfind('\n') + 1)));
}

class Ssh final : public Transport {
 public:
  Ssh(SshAddress address, Duration timeout, Unwanted unwanted)
      : address_(std::move(address)), timeout_(timeout), unwanted_(std::move(unwanted)) {}

  Result<Finished> run(const std::vector<std::string>& argv) override {
    EXA_TRY(check_ssh_destination(address_.destination));
    Command command;
    command.argv = ssh_words();
    command.argv.push_back(shell_line(argv));
    command.timeout = timeout_;
    command.unwanted = unwanted_;
    Result<Finished> finished = run_command(command);
    if (!finished && finished.error().code == Code::interrupted) return finished;
    if (!finished) return unreachable(finished.error().message);
    if (finished->exit_code == kSshFailed) {
      const std::string said = last_line(finished->err);
      return unreachable(said.empty() ? "ssh ended with 255" : said);
    }
    if (finished->exit_code == kNoSuchProgram)
      return fail(Code::not_found,
                  "there is no program " + printable(argv.front()) + " on " + address_.destination);
    return finished;
  }

  Result<std::string> read_file(const std::string& path) override {
    EXA_ASSIGN(Finished finished, run({"cat", "--", path}));
    if (finished.exit_code == 0) return std::move(finished.out);
    return refused(path, finished);
  }

  Result<std::vector<std::string>> list_folder(const std::string& path) override {
    EXA_ASSIGN(Finished finished, run({"ls", "-1A", "--", path + "/"}));
    if (finished.exit_code != 0) return refused(path, finished);
    std::vector<std::string> names;
    for (std::string_view name : split(finished.out, '\n'))
      if (!name.empty()) names.emplace_back(name);
    std::sort(names.begin(), names.end());
    return names;
  }

  std::string describe() const override {
    const std::string port = address_.port == 0 ? "" : ":" + std::to_string(address_.port);
    return "ssh " + address_.destination + port;
  }

 private:
  // Everything else (keys, proxies, host keys, shared connections behind a second factor) stays
  // with the user's own ssh configuration.
  std::vector<std::string> ssh_words() const {
    const int64_t wait = std::max<int64_t>(1, timeout_.micros / seconds(1).micros);
    std::vector<std::string> words = {
        "ssh", "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=" + std::to_string(wait)};
    if (address_.port != 0) words.insert(words.end(), {"-p", std::to_string(address_.port)});
    if (!address_.identity_file.empty()) words.insert(words.end(), {"-i", address_.identity_file});
    words.insert(words.end(), {"--", address_.destination});
    return words;
  }

  Failure unreachable(const std::string& why) const {
    return fail(Code::probe_failed, "cannot reach " + address_.destination + " by ssh: " + why,
                "ssh " + address_.destination + " true");
  }

  // The message of cat and ls depends on the other side's language, so the question is asked anew.
  Failure refused(const std::string& path, const Finished& finished) {
    const Result<Finished> exists = run({"test", "-e", path});
    const bool absent = exists && exists->exit_code == 1;
    return fail(absent ? Code::not_found : Code::probe_failed, "cannot read " + printable(path) +
                                                                   " on " + address_.destination +
                                                                   ": " + last_line(finished.err));
  }

  SshAddress address_;
  Duration timeout_;
  Unwanted unwanted_;
};

bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool made_of(std::string_view text, std::string_view also) {
  return !text.empty() && text.front() != '-' && std::all_of(text.begin(), text.end(), [&](char c) {
    return is_alphanumeric(c) || also.find(c) != std::string_view::npos;
  });
}

}  // namespace

Result<void> check_ssh_destination(std::string_view destination) {
  // Domain accounts hold an '@' of their own: user@domain@host.
  const size_t at = destination.rfind('@');
  const bool has_user = at != std::string_view::npos;
  const std::string_view host = has_user ? destination.substr(at + 1) : destination;
  // Strict on purpose: ssh puts the host into ProxyCommand and other shell lines of its
  // configuration.
  if (made_of(host, "._-:%") && (!has_user || made_of(destination.substr(0, at), "._-+@")))
    return {};
  return fail(Code::invalid_input,
              "an ssh destination is HOST or USER@HOST, not \"" + printable(destination) + "\"");
}

std::unique_ptr<Transport> local_transport(Duration timeout, Unwanted unwanted) {
  return std::make_unique<Local>(timeout, std::move(unwanted));
}

std::unique_ptr<Transport> ssh_transport(SshAddress address, Duration timeout, Unwanted unwanted) {
  return std::make_unique<Ssh>(std::move(address), timeout, std::move(unwanted));
}

}  // namespace exa
