// Text that opens doors and is passed on, never shown.
#pragma once

#include <string>
#include <utility>

namespace exa {

// A token, password or key. It has no stream operator, no formatter and no JSON form, so that
// printing one is a compile error; reveal() marks the places that hand it on.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string text) : text_(std::move(text)) {}
  const std::string& reveal() const { return text_; }
  bool empty() const { return text_.empty(); }

 private:
  std::string text_;
};

}  // namespace exa
