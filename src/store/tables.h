// The tables that the migrations make, read out of their text: for whoever moves all of them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "store/store.h"

namespace exa {

struct TableKey {
  std::string table;
  std::vector<std::string> columns;  // of the primary key, in its order
  std::vector<size_t> places;        // of those columns in a row of SELECT *
};

// In the order in which they are made, so that a table stands after all that it refers to.
std::vector<TableKey> tables_of(std::span<const Migration> migrations);

}  // namespace exa
