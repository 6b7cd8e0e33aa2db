// The texts that Kubernetes takes as names, labels and keys of annotations. Pure.
#pragma once

#include <string_view>

namespace exa {

// DNS-1123: lower-case letters, digits and '-', beginning and ending with a letter or digit; a
// label has at most 63 characters, a subdomain is labels with dots between and at most 253.
bool is_dns_label(std::string_view text);
bool is_dns_subdomain(std::string_view text);

// "NAME" or "SUBDOMAIN/NAME"; a name has at most 63 letters, digits, '-', '_' and '.'.
bool is_label_key(std::string_view text);
// As the name of a key; may be empty.
bool is_label_value(std::string_view text);

}  // namespace exa
