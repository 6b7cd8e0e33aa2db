// How a probe reaches the machine it asks: here, or through the system's OpenSSH. Argument vectors
// only; the ssh line is quoted by base/quote.h.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/process.h"
#include "base/progress.h"
#include "base/time.h"

namespace exa {

class Transport {
 public:
  virtual ~Transport() = default;
  // not_found when the program is not there; probe_failed when the machine cannot be reached.
  virtual Result<Finished> run(const std::vector<std::string>& argv) = 0;
  virtual Result<std::string> read_file(const std::string& path) = 0;  // not_found, probe_failed
  virtual Result<std::vector<std::string>> list_folder(
      const std::string& path) = 0;          // names, sorted
  virtual std::string describe() const = 0;  // "local", "ssh user@host:22"
  // Whoever waits for what is asked here, for probes that ask in other ways as well.
  virtual Progress& progress() { return unwatched(); }
};

struct SshAddress {
  std::string destination;  // [user@]host, checked: no leading '-', no white space
  int port = 0;             // 0: ssh's own configuration decides
  std::string identity_file;
};

// invalid_input unless it is HOST or USER@HOST; ssh_transport asks this before every run.
Result<void> check_ssh_destination(std::string_view destination);

// `unwanted` is asked while a program runs; once true, it is killed and the answer is interrupted.
using Unwanted = std::function<bool()>;
std::unique_ptr<Transport> local_transport(Duration timeout, Unwanted unwanted = {});
std::unique_ptr<Transport> ssh_transport(SshAddress address, Duration timeout,
                                         Unwanted unwanted = {});

}  // namespace exa
