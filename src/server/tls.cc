#include "server/tls.h"

#include <fmt/format.h>
#include <openssl/ssl.h>
#include <sys/stat.h>

namespace exa {
namespace {

namespace ssl = boost::asio::ssl;

Failure unusable(const std::filesystem::path& file, std::string_view why) {
  return fail(Code::invalid_input, fmt::format("{}: {}", file.string(), why),
              "exa serve --tls-cert FILE --tls-key FILE");
}

Result<void> readable_by_owner_only(const std::filesystem::path& key) {
  struct stat status {};
  if (::stat(key.c_str(), &status) != 0) return unusable(key, "cannot be read");
  if ((status.st_mode & 077) != 0) {
    return unusable(key, fmt::format("may be read by others (mode {:04o}); chmod 600 it",
                                     status.st_mode & 07777));
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<TlsFiles>> TlsFiles::open(std::filesystem::path certificate,
                                                 std::filesystem::path key) {
  std::unique_ptr<TlsFiles> files(new TlsFiles(std::move(certificate), std::move(key)));
  EXA_TRY(files->reload());
  return files;
}

std::shared_ptr<ssl::context> TlsFiles::current() const {
  const std::lock_guard lock(mutex_);
  return context_;
}

Result<void> TlsFiles::reload() {
  EXA_TRY(readable_by_owner_only(key_));
  auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
  boost::system::error_code error;
  context->set_options(ssl::context::default_workarounds | ssl::context::no_sslv2 |
                           ssl::context::no_sslv3 | ssl::context::no_tlsv1 |
                           ssl::context::no_tlsv1_1 | ssl::context::single_dh_use,
                       error);
  if (error) return fail(Code::unexpected, "TLS could not be set up: " + error.message());
  SSL_CTX* native = context->native_handle();
  SSL_CTX_set_options(native, SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_cipher_list(native, "ECDHE+AESGCM:ECDHE+CHACHA20");
  context->use_certificate_chain_file(certificate_.string(), error);
  if (error) return unusable(certificate_, "holds no certificate chain in PEM: " + error.message());
  context->use_private_key_file(key_.string(), ssl::context::pem, error);
  if (error) return unusable(key_, "holds no key of that certificate: " + error.message());
  if (SSL_CTX_check_private_key(native) != 1)
    return unusable(key_, "is not the key of " + certificate_.string());
  const std::lock_guard lock(mutex_);
  context_ = std::move(context);
  return {};
}

}  // namespace exa
