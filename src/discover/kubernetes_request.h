// Requests to an API server, and its own words in an answer.
#pragma once

#include <string>
#include <string_view>

#include "discover/http.h"
#include "discover/kubeconfig.h"

namespace exa {

// A GET of that path ("/api/v1/nodes?limit=1"), as whoever `access` says.
HttpRequest request_to(const KubernetesAccess& access, std::string_view path);

// The sentence of an answer of kind Status, fit for a terminal; empty when it is none.
std::string status_sentence(std::string_view body);

}  // namespace exa
