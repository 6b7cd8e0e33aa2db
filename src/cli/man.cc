#include "cli/man.h"

#include <fmt/format.h>

#include "base/text.h"
#include "cli/help.h"

namespace exa {
namespace {

// A line that begins with . or ' would be a request, a bare - a hyphen that cannot be copied.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '\n') {
      out += ' ';
    } else if ((c == '.' || c == '\'') && out.empty()) {
      out += "\\&";
      out += c;
    } else {
      out += c;
    }
  }
  return out;
}

std::string entry(std::string_view term, std::string_view text) {
  return fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(term), roff(text));
}

std::string command_section(const Route& route) {
  std::string out = fmt::format(".SS \"{}\"\n{}.\n", roff(usage_line(route)), roff(route.summary));
  if (!route.detail.empty()) out += fmt::format(".PP\n{}\n", roff(route.detail));
  out += fmt::format(".PP\n{}\n", changes_sentence(route));
  for (const Param& param : route.params) out += entry(spelled(param), facts(param));
  if (route.examples.empty()) return out;
  out += ".PP\nExamples:\n.PP\n.nf\n";
  for (const std::string_view example : route.examples)
    out += fmt::format("    {}\n", roff(example));
  return out + ".fi\n";
}

}  // namespace

std::string man_page(CommandTable commands) {
  std::string out = fmt::format(".TH EXA 1 \"\" \"exa {}\" \"User Commands\"\n", EXA_VERSION);
  out += ".SH NAME\nexa \\- named compute shapes, honestly resolved against real clusters\n";
  out += ".SH SYNOPSIS\n.B exa\n.I COMMAND\n[\\fIflags\\fR]\n";
  out += ".SH DESCRIPTION\n";
  out += roff(
      "Data goes to standard output, everything else to standard error. Without a terminal "
      "nothing is ever asked.");
  out += "\n.SH OPTIONS\nEvery command takes these.\n";
  for (const GlobalFlag& flag : global_flags(nullptr)) out += entry(flag.names, flag.help);
  out += entry("--yes", "destructive commands: do it without asking");
  out += entry("--dry-run", "commands that change something: check everything, change nothing");
  out += ".SH COMMANDS\n";
  for (const Route* route : commands) out += command_section(*route);
  out += ".SH EXIT STATUS\n";
  out += entry("0", "done, or nothing to do");
  out += entry("1", "something unexpected; for diff: the two differ");
  for (const CodeInfo& code : all_codes()) {
    if (code.exit_code > 1)
      out += entry(std::to_string(code.exit_code), fmt::format("{}: {}", code.name, code.title));
  }
  out += ".SH ENVIRONMENT\n";
  out += entry("EXA_HOME", "the data folder, where --data does not say");
  out += entry("EXA_STORE", "where the tables are, as --store says");
  out += entry("EXA_SERVER", "address of the server that is asked, as --server says");
  out += entry("EXA_TOKEN_FILE", "file with the token for that server");
  out += entry("EXA_CA_FILE", "certificate authority of that server, in PEM, if it is your own");
  out += entry("EXA_LOCK_WAIT",
               "how long to wait for another process that writes, e.g. 5s (default 30s)");
  out += entry("NO_COLOR", "when set and not empty: no colour");
  out += entry("COLUMNS", "how wide tables may be where the terminal does not say");
  return out;
}

}  // namespace exa
