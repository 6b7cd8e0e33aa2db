// Errors for people, on standard error: the code, one sentence, every problem with its place in the
// words of the command line, and what to do next.
#pragma once

#include "cli/command_tree.h"

namespace exa {

// A value from elsewhere inside a message: printable, and at most 80 characters of it.
std::string echoed(std::string_view value);

// `route` turns places of the request ("/gpu_count") back into flags ("--gpu"); may be nullptr.
std::string error_text(const Error& error, const Route* route);
// The same as an RFC 9457 document, for --json.
std::string error_document(const Error& error);

// Of an answer that standard output did not take (Written::failed).
Error unwritten();

}  // namespace exa
