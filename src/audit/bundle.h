// A whole log in one text that anyone can verify without exa's database, network or clock: a header
// line with the public key, one line for each entry (the stored leaf, verbatim), and each
// checkpoint on a line right after the entries that it covers. Format: docs/audit-format.md.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/key.h"
#include "audit/verify.h"
#include "base/error.h"

namespace exa {

inline constexpr int64_t kBundleFormat = 1;
inline constexpr size_t kMaxBundleLine = 131'072;

// What the reader of a bundle knows from elsewhere. Without a key, a bundle vouches only for
// itself: whoever made it may have signed it with a key of their own.
struct BundleAnchor {
  std::optional<PublicKey> key;
  std::vector<std::string> checkpoints;  // seen before: the bundle must contain their history
};

using WriteBytes = std::function<Result<void>(std::string_view bytes)>;

// Writes the rows that the largest checkpoint covers; later rows are left out, as nothing vouches
// for them. Of several checkpoints of one size the first is written. Fails with audit_broken when
// there are too few rows or no checkpoint at all, and with what `rows` and `write` fail with.
Result<void> write_bundle(const PublicKey& key, const std::vector<std::string>& checkpoints,
                          const NextRow& rows, const WriteBytes& write);

// Verifies a bundle as its bytes come in, in pieces of any length; holds at most one line.
class BundleCheck {
 public:
  explicit BundleCheck(BundleAnchor anchor);
  ~BundleCheck();
  BundleCheck(const BundleCheck&) = delete;
  BundleCheck& operator=(const BundleCheck&) = delete;

  bool feed(std::string_view bytes);  // false once the verdict is settled
  Verdict finish();                   // after the last byte

 private:
  class State;
  std::unique_ptr<State> state_;
};

Verdict verify_bundle(std::string_view text, BundleAnchor anchor = {});

}  // namespace exa
