#include "base/private_folder.h"

#include <system_error>

#include <fmt/format.h>

namespace exa {

namespace fs = std::filesystem;

Result<void> make_private_folder(const fs::path& folder) {
  std::error_code error;
  if (fs::is_directory(folder, error)) return {};
  fs::create_directories(folder, error);
  if (!error) fs::permissions(folder, fs::perms::owner_all, error);
  if (!error) return {};
  return fail(
      error == std::errc::no_space_on_device ? Code::store_full : Code::store_unwritable,
      fmt::format("cannot create the data folder {}: {}", folder.string(), error.message()));
}

}  // namespace exa
