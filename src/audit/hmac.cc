#include "audit/hmac.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/error.h"
#include "base/text.h"

namespace exa {

std::string hmac_sha256_hex(std::string_view key, std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  const unsigned char* done = HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes,
                                   text.size(), digest.data(), &size);
  EXA_ASSERT(done != nullptr && size == 32);
  return hex({digest.data(), size});
}

}  // namespace exa
