// Projects: what profiles and consumers belong to.
#pragma once

#include "service/service.h"

namespace exa {

Result<Answer> create_project(Service& service, const Caller& caller, const std::string& name);
Result<Answer> list_projects(Service& service, const Caller& caller);  // those it may know of

}  // namespace exa
