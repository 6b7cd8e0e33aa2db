// What one client may take of the server.
#pragma once

#include <chrono>
#include <cstddef>

namespace exa {

struct Limits {
  size_t head_bytes = size_t{16} << 10;  // request line and headers
  size_t connections = 4096;
  std::chrono::milliseconds head_time{10'000};   // for a whole head, however slowly it drips
  std::chrono::milliseconds body_time{60'000};   // for a whole body
  std::chrono::milliseconds idle_time{75'000};   // between requests of a kept connection
  std::chrono::milliseconds write_time{30'000};  // for a client to take an answer
  std::chrono::milliseconds tls_time{10'000};    // for a handshake
};

}  // namespace exa
