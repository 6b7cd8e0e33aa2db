// The route table: the single source for handlers, authorisation, audit, the command line, its
// help, completion and man page, and the API description. A command is a route with flags; both
// transports (in-process, HTTP) go through the same router. Rules: contract.md; recipe to add one:
// CONTRIBUTING.md.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "service/caller.h"

namespace exa {

enum class Method { get, put, post, del };
std::string_view name(Method method);  // "GET", …

// What a command does to the store; for any user interface that introspects the command line.
enum class Tier { read_only, mutating, destructive };
std::string_view name(Tier tier);  // "read-only", "mutating", "destructive"

enum class In { path, query, body };

enum class Kind {
  text,      // any text
  integer,   // whole number; sent as a JSON number when it is one, as text otherwise (the validator
             // says so)
  decimal,   // number with decimals; likewise
  flag,      // true when given
  csv,       // comma-separated; a JSON list in a body
  words,     // a JSON list in a body; command line: a flag that may be repeated, or what follows --
  choice,    // one of `choices`
  duration,  // "15m"
  path,      // a file on the machine that will read it; the command line makes it absolute
  secret,    // as file, without the newline that ends a file of one line: a password
  document,  // an object, or the text of one in JSON or YAML; command line: a path, as file
  file,      // command line: a path whose content is sent ("-": standard input); API: the content
  saved,     // command line: a path where the reply's text of this name is written; API: true asks
             // for that text
};
std::string_view name(Kind kind);

struct Param {
  std::string_view name;  // key in query or body, or {name} in the path
  In in = In::query;
  Kind kind = Kind::text;
  std::string_view flag;  // "--gpu"; empty: positional
  std::string_view help;  // one line, no final period
  bool required = false;
  std::string_view
      fallback;  // the default as text, filled in by the router when absent; shown in help
  std::vector<std::string_view> choices;
  bool is_line = false;  // a command line: begins with whatever its own options begin with
  int64_t least = 0;     // for integer: the range, both ends in it
  int64_t most = INT64_MAX;
  std::string_view
      completes;  // whose live names complete it (cli/complete.cc says of which list): "profile",
                  // "cluster", "version" and "label" (of the profile named before), …; or empty
  // for file, document and secret, on the command line: more is refused without being read to its
  // end
  size_t most_bytes = size_t{1} << 20;
};

// Of files that tools print or exa exports: what the readers take (tool_output_limits).
inline constexpr size_t kLargestCapture = size_t{1} << 30;

struct Request {
  Method method = Method::get;
  std::string path;  // "/api/v1/hardware-profiles/small", encoded
  std::vector<std::pair<std::string, std::string>> query;  // decoded
  std::string body;                                        // JSON or empty
  std::string idempotency_key;
  std::string if_match;         // the header If-Match as it came; empty: none
  bool requires_match = false;  // the transport wants it where a row takes it (428 without)
  Principal principal;
  std::string origin;  // host and process, or address: for the audit log
  std::string request_id;
  // For long routes. The transport may answer 202 and go on; `detached`: the caller wants that, and
  // does not wait for the end.
  bool respond_async = false;
  bool detached = false;
  Progress* progress = &unwatched();  // outlives the request
};

struct Reply {
  int status = 200;
  std::string body;  // JSON text with a final newline: printed as it is by --json
  std::string content_type = "application/json";
  int exit_code = 0;  // of the command: 6 for an unresolvable answer, 1 for a diff with differences
  std::vector<std::string> notices;  // for people, on stderr: "label candidate was dropped"
  std::string location;              // of what a 202 accepted; empty: none
  std::string etag;  // of the document that this answer shows, quoted; empty: it has none
};

// Checked arguments of one call: path, query and body merged under their names, types checked
// against the row, defaults filled in, unknown keys refused.
struct Call {
  const struct Route* route = nullptr;
  json::object args;
  Caller caller;

  std::string text(std::string_view name) const;  // "" when absent
  bool flag(std::string_view name) const;
  bool has(std::string_view name) const;
  int64_t integer(std::string_view name, int64_t otherwise) const;
};

// The flag `argument`, or any other argument of that name when it is given, asks for `action`
// instead of the row's own.
struct ActionWith {
  std::string_view argument;
  std::string_view action;
};

// As `project_from`: the project of the object that the call is about. The use case finds the
// object among those that the caller may know (Caller::known) and asks require_permitted.
inline constexpr std::string_view kOfObject = "(object)";

class Service;
using Handler = Result<Reply> (*)(Service&, const Call&);
// Domain rules of the arguments beyond their types; all problems, with pointers.
using Check = std::vector<Problem> (*)(const json::object& args);

struct Route {
  std::string_view id;  // "hardware_profile.set": audit verb and operationId
  Method method = Method::get;
  std::string_view path;     // "/api/v1/hardware-profiles/{name}"
  std::string_view command;  // "hardware profile set"; empty: API only
  Tier tier = Tier::read_only;
  // What authorisation asks for: an action of govern/roles.h, e.g. "hardware_profile:write". Where
  // its scope is a project, `project_from` names the argument that says which.
  std::string_view action;
  ActionWith action_with;  // a stronger action, when a flag is given
  std::string_view project_from = "project";
  std::string_view summary;  // one line
  std::string_view detail;   // a paragraph for --help, man page and API text; may be empty
  std::vector<Param> params;
  Handler handler = nullptr;
  std::string_view reply;  // schema of its answer (schema.h)
  bool is_long = false;    // may take more than 10 s: reports progress, can be cancelled
  bool alone = false;  // computes for long, or needs its commit before it can answer: shares none
  bool observes = false;  // keeps what was seen, for which the audit log does not vouch: no entry
  bool creates = false;   // answers 201 where something came to be
  bool if_match = false;  // replaces or removes what others may have changed: takes If-Match
  std::vector<Code> fails_with;  // errors beyond those that its parameters and tier tell of
  Check check = nullptr;
  std::vector<std::string_view> examples;  // command lines, shown in help and run by the tests
  // A sentence for help: what a row changes that has no route, so that nothing audits it.
  std::string_view changes;
  int error_exit = 0;  // how the command ends on any error; 0: by the error's code
};

std::span<const Route> routes();
const Route* find_route(std::string_view id);
const Route* find_command(std::string_view command);

// The request for a command: `args` by parameter name (as text, JSON numbers, booleans, lists).
Request build_request(const Route& route, const json::object& args);

}  // namespace exa
