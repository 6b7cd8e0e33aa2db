// The server's TLS: 1.2 and later, forward secrecy only. Certificates are read again on reload();
// connections that are open keep the ones they began with.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>

#include <boost/asio/ssl/context.hpp>

#include "base/error.h"

namespace exa {

class TlsFiles {
 public:
  // The certificate with its chain, and its key (PEM; the key for its owner's eyes only). Errors
  // name the file and what is wrong with it.
  static Result<std::unique_ptr<TlsFiles>> open(std::filesystem::path certificate,
                                                std::filesystem::path key);

  std::shared_ptr<boost::asio::ssl::context> current() const;  // any thread
  Result<void> reload();  // on an error the earlier ones stay in use

 private:
  TlsFiles(std::filesystem::path certificate, std::filesystem::path key)
      : certificate_(std::move(certificate)), key_(std::move(key)) {}

  std::filesystem::path certificate_;
  std::filesystem::path key_;
  mutable std::mutex mutex_;
  std::shared_ptr<boost::asio::ssl::context> context_;
};

}  // namespace exa
