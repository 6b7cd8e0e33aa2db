// A reply in the format that was asked for. JSON is the body byte for byte; everything else is made
// from it.
#pragma once

#include <string>

#include "base/time.h"
#include "cli/command_tree.h"
#include "cli/table.h"

namespace exa {

struct Printed {
  std::string out;
  std::string hint;  // for standard error: what to do when there is nothing to show
};

struct Rendering {
  Format format = Format::table;
  Screen screen;
  Time now;
  bool dry_run = false;  // the headline must not say that it was done
};

// What a change did, in one line without a line break; empty where the view has none.
std::string deed_of(const Reply& reply, std::string_view route_id);

Result<Printed> render(const Reply& reply, std::string_view route_id, const Rendering& how);

// For reading by spreadsheets: a cell that they would take for a formula gets a leading '.
std::string csv_cell(std::string_view text);

}  // namespace exa
