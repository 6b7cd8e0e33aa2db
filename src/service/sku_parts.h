// What the files of compute profiles share.
#pragma once

#include "service/sku_rows.h"

namespace exa {

// A version as it is shown: the document, then what is known beside it. Whoever may not write it
// gets null for whom it is shared with, who wrote it and why.
Result<json::object> shown_sku(Transaction& tx, const Caller& caller, const std::string& project,
                               const FoundSku& found);
// Its keys beside those of the document.
std::span<const std::string_view> sku_facts();

// The shape that an instance is made with, where the profile says one and it is there.
Result<std::optional<Shape>> shape_of_sku(Transaction& tx, const std::string& owner,
                                          const ComputeSku& sku);

// What keeps a version from being launched, with pointers into its document; empty: nothing.
Result<std::vector<Problem>> problems_of_publishing(Transaction& tx, const std::string& owner,
                                                    const ComputeSku& sku);

}  // namespace exa
