// The readers: capture -> inventory. One file per source. A shape that a reader does not know is a
// named error (unreadable_output with the place), never a zero and never a guess.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "discover/capture.h"

namespace exa {

Result<Inventory> read_slurm(const Capture& capture);
Result<Inventory> read_flux(const Capture& capture);
Result<Inventory> read_kubernetes(const Capture& capture);
Result<Inventory> read_host(const Capture& capture);

// If `text` (a file given with --from) is raw output of a tool of this source, the name of the
// question it answers, as used in CapturedOutput::name; nullopt if it is not recognised.
std::optional<std::string> recognise_slurm(std::string_view text);
std::optional<std::string> recognise_flux(std::string_view text);
std::optional<std::string> recognise_kubernetes(std::string_view text);
std::optional<std::string> recognise_host(std::string_view text);

// One row per source; adding a scheduler is adding a row and a file.
struct Reader {
  ClusterKind kind;
  Result<Inventory> (*read)(const Capture&);
  std::optional<std::string> (*recognise)(std::string_view);
  std::string_view raw_outputs;  // for people: what recognise knows
};
std::span<const Reader> readers();

Result<Inventory> read_capture(const Capture& capture);

// A file given with --from: a saved capture (JSON that exa cluster capture prints), or the raw
// output of a tool. `kind`, when given, must agree with what the file is.
Result<Capture> capture_from_file(std::string_view text, std::string_view file,
                                  std::optional<ClusterKind> kind, Time taken_at);
// The same with these readers only.
Result<Capture> capture_from_file(std::string_view text, std::string_view file,
                                  std::optional<ClusterKind> kind, Time taken_at,
                                  std::span<const Reader> readers);

}  // namespace exa
