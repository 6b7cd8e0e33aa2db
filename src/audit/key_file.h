// The files beside the database that the audit log rests on: the signing key, its public half, and
// the newest checkpoint. The only part of this folder that touches a disk.
//
// Errors: not_found (no such file), conflict (a key is there already), store_damaged (not a regular
// file, not what exa wrote, or a key that others may read), store_full, store_unwritable. None of
// them quotes the content of a key.
#pragma once

#include <string>
#include <string_view>

#include "audit/key.h"
#include "base/error.h"

namespace exa {

// Never replaces a key: of two processes that try at once, one gets conflict. Mode 0600, whole or
// absent after a crash.
Result<void> create_key_file(const std::string& path, const SigningKey& key);

// Refuses a key that its group or others may read, and a symbolic link.
Result<SigningKey> load_key_file(const std::string& path);

Result<void> write_public_key_file(const std::string& path, const PublicKey& key);  // mode 0644
Result<PublicKey> read_public_key_file(const std::string& path);

// Replaces the file in one step; on return the text is on the disk, under its name.
Result<void> write_checkpoint_file(const std::string& path, std::string_view checkpoint);
Result<std::string> read_checkpoint_file(const std::string& path);  // the text, unverified

}  // namespace exa
