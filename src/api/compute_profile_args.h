// What the rows of compute profiles take to write one: a document, and flags that win over it.
#pragma once

#include "api/handlers.h"
#include "service/skus.h"

namespace exa {

Param sku_name_param(std::string_view help);
std::vector<Param> sku_document_params(bool document_is_needed);
std::vector<Problem> check_sku_document(const json::object& args);
// Checked by check_sku_document.
Result<WriteSku> write_sku_arg(const Call& call);

}  // namespace exa
