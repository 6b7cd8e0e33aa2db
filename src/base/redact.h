// Secrets in places that are made for other things: a token pasted as a name, a password in an URL.
#pragma once

#include <string>
#include <string_view>

namespace exa {

// The text with what opens doors replaced by an ellipsis: what follows "exa_pat_" (API tokens), and
// what stands between "://" and "@" (user name and password of an URL). For whatever others may
// read later: logs, audit entries, messages. Pure; linear in the text.
std::string without_secrets(std::string_view text);

}  // namespace exa
