// Commands that no route answers: they speak of the command line itself and open no store, or (`exa
// admin`) work on stores that no service is in front of. They are rows like the routes, so that
// help, completion, man page and `exa commands` treat all alike.
#pragma once

#include "cli/command_tree.h"
#include "cli/environment.h"

namespace exa {

struct LocalCall {
  const Invocation& invocation;
  CommandTable commands;  // all of them, for those that describe the command line
  const Environment& environment;
};

// What was typed for a parameter; else its default, else "".
std::string value_of(const LocalCall& call, std::string_view name);

// A document as the invocation wants it printed: -o table, json and so on.
Result<std::string> in_format(const LocalCall& call, const json::value& body);

// The text for standard output, in the format the invocation asks for, and how the command ends.
struct LocalText {
  LocalText(std::string given = {},
            int code = 0)  // NOLINT(google-explicit-constructor): most are texts
      : text(std::move(given)), exit_code(code) {}
  std::string text;
  int exit_code;
};
using LocalAnswer = Result<LocalText> (*)(const LocalCall&);

// Answered by run.cc itself: it shows the reply of another row.
inline constexpr std::string_view kOperationWait = "local.operation_wait";

std::span<const Route> local_routes();
LocalAnswer find_local(const Route& route);  // nullptr: a route of the table

}  // namespace exa
