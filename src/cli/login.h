// `exa login`, `exa logout`: a server and a token that later commands use by themselves, in a file
// that only its owner can read.
#pragma once

#include <filesystem>

#include "cli/connect.h"
#include "cli/local_commands.h"

namespace exa {

// $XDG_CONFIG_HOME/exa/login.json, else ~/.config/exa/login.json; nullopt where neither is known.
std::optional<std::filesystem::path> login_file(const Environment& environment);

// nullopt: nobody signed in. invalid_input for a file that others may read, or that is no login.
Result<std::optional<RemoteServer>> saved_login(const Environment& environment);

// What the server's answer to "who am I" says of a token: whose it is, or nothing where the token
// is good and was not given self:read, as most service accounts' are. A refusal otherwise.
Result<std::optional<std::string>> owner_of_token(const Reply& who_am_i);

Route login_row();
Route logout_row();
Result<LocalText> login(const LocalCall& call);
Result<LocalText> logout(const LocalCall& call);

}  // namespace exa
