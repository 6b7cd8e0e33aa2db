#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "base/text.h"
#include "cli/local_commands.h"
#include "cli/testing.h"

namespace exa {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;
using testing_cli::ok;
using testing_cli::Shell;

constexpr const char* kList = "GET /api/v1/hardware-profiles";
constexpr const char* kDelete = "DELETE /api/v1/hardware-profiles/small";
constexpr const char* kTwo =
    R"({"items":[
  {"name":"small","version":3,"accelerator_family":"cpu","gpu_count":0,"cpu":0.5,"memory_gb":4,"nodes":1,
   "applicability":["any"],"resolutions":[{"status":"verified","cluster":"hpc"}],"created_at":"2026-11-29T12:00:00Z"},
  {"name":"big","version":null,"note":"no active version"}],"next_cursor":null}
)";

Reply failing(Code code, std::vector<Problem> problems = {}) {
  return reply_of(
      Error{code, "it did not work", std::move(problems), "exa cluster list", {"other"}}, "r1");
}

TEST(CommandLine, FlagsBecomeARequestByTheirKind) {
  Shell shell;
  EXPECT_EQ(
      shell.run({"hardware", "profile", "set", "small", "--accelerator-family", "nvidia", "--gpu",
                 "2", "--cpu=0.5", "--applicability", "training, serving", "--applicability", "any",
                 "--description", "", "--project", "vision", "--dry-run"}),
      0);
  ASSERT_EQ(shell.requests.size(), 1U);
  const Request& request = shell.requests[0];
  EXPECT_EQ(request.method, Method::post);
  EXPECT_EQ(request.path, "/api/v1/hardware-profiles/small/versions");
  EXPECT_EQ(request.body,
            R"({"accelerator_family":"nvidia","gpu_count":2,"cpu":0.5,"applicability":)"
            R"(["training","serving","any"],"description":""})");
  EXPECT_THAT(request.query,
              ElementsAre(std::pair("project", "vision"), std::pair("dry_run", "true")));
  EXPECT_THAT(shell.err, HasSubstr("Dry run: nothing was changed."));
}

// A variable of a script that is not set must not make the next word the value: here a dry run
// would become a change.
TEST(CommandLine, AFlagWithAnEmptyValueDoesNotSwallowTheNextWord) {
  for (const std::string flag :
       {"--description=", "--project=", "--output=", "--data=", "--gpu="}) {
    Shell shell;
    EXPECT_EQ(shell.run({"hardware", "profile", "set", "s", flag, "--dry-run"}), 2);
    EXPECT_THAT(shell.err, HasSubstr(flag.substr(0, flag.size() - 1) + ": needs a value"));
    EXPECT_THAT(shell.requests, IsEmpty());
  }
  Shell shell;
  EXPECT_EQ(shell.run({"hardware", "--project=", "profile", "list"}), 2);
  // a text that looks like a flag is one when it is attached
  EXPECT_EQ(shell.run({"hardware", "profile", "set", "s", "--description=--dry-run"}), 0);
  EXPECT_EQ(shell.requests.at(0).body, R"({"description":"--dry-run"})");
}

TEST(CommandLine, ABooleanIsTrueOrFalseAndNothingElse) {
  for (const std::string text : {"1", "0", "yes", "no", "", "True", "on"}) {
    for (const std::string flag : {"--yes=", "--dry-run=", "--json=", "-q --quiet="}) {
      Shell shell;
      const std::string word = flag.substr(flag.find_last_of(' ') + 1) + text;
      EXPECT_EQ(shell.run({"hardware", "profile", "delete", "small", word}), 2) << word;
      EXPECT_THAT(shell.err, HasSubstr("is true or false, not \"" + text + "\""));
      EXPECT_THAT(shell.requests, IsEmpty());
    }
  }
}

TEST(CommandLine, AFalseBooleanIsFalse) {
  Shell shell;
  EXPECT_EQ(shell.run({"hardware", "profile", "delete", "small", "--yes=false"}), 8);
  EXPECT_THAT(shell.requests, IsEmpty());
  EXPECT_EQ(shell.run({"hardware", "profile", "delete", "small", "--yes=true", "--dry-run=false"}),
            0);
  EXPECT_THAT(shell.requests.at(0).query, ElementsAre(std::pair("dry_run", "false")));
  EXPECT_THAT(shell.err, Not(HasSubstr("Dry run")));
  shell.replies[kList] = ok(kTwo);
  EXPECT_EQ(shell.run({"hardware", "profile", "list", "--json=false"}), 0);
  EXPECT_THAT(shell.out, StartsWith("NAME"));
}

// The route's own check then names it together with all other problems.
TEST(CommandLine, WhatIsNoNumberIsSentAsText) {
  for (const std::string text : {"two", "2.5", "+2", "007", "1e3", "99999999999999999999"}) {
    Shell shell;
    shell.run({"hardware", "profile", "set", "s", "--gpu", text});
    EXPECT_EQ(shell.requests.at(0).body, fmt::format(R"({{"gpu_count":"{}"}})", text));
  }
  Shell shell;
  shell.run({"hardware", "profile", "set", "s", "--gpu", "-1", "--cpu", ".5"});
  EXPECT_EQ(shell.requests.at(0).body, R"({"gpu_count":-1,"cpu":".5"})");
}

TEST(CommandLine, GlobalFlagsMayStandAnywhere) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"--json", "hardware", "profile", "list", "--project", "p"},
           {"hardware", "--project=p", "profile", "list", "-o", "json"},
           {"--project", "p", "hardware", "profile", "list", "-ojson"}}) {
    Shell shell;
    shell.replies[kList] = ok(kTwo);
    EXPECT_EQ(shell.run(words), 0) << shell.err;
    EXPECT_EQ(shell.out, kTwo);  // byte for byte
    EXPECT_THAT(shell.requests.at(0).query, ElementsAre(std::pair("project", "p")));
  }
}

TEST(CommandLine, ARowMayHaveItsOwnVersionFlag) {
  Shell shell;
  EXPECT_EQ(shell.run({"hardware", "profile", "show", "small", "--version", "3"}), 0);
  EXPECT_THAT(shell.requests.at(0).query, ElementsAre(std::pair("version", "3")));
  EXPECT_EQ(shell.run({"--version"}), 0);
  EXPECT_THAT(shell.out, StartsWith("exa "));
}

TEST(CommandLine, TheDataFolderIsPassedOn) {
  Shell shell;
  shell.run({"cluster", "list", "--data", "/tmp/x"});
  EXPECT_THAT(shell.folders, ElementsAre("/tmp/x"));
}

TEST(CommandLine, FilesAreReadAndMissingOnesNamed) {
  Shell shell;
  shell.files = {{"nodes.txt", "NodeName=n1\n"}, {"-", "from stdin"}, {"bad", "\xff"}};
  shell.run({"cluster", "discover", "hpc", "--from", "nodes.txt"});
  EXPECT_EQ(shell.requests.at(0).body, R"({"from":"NodeName=n1\n"})");
  shell.run({"cluster", "discover", "hpc", "--from", "-"});
  EXPECT_EQ(shell.requests.at(1).body, R"({"from":"from stdin"})");
  EXPECT_EQ(shell.run({"cluster", "discover", "hpc", "--from", "gone.txt"}), 2);
  EXPECT_THAT(shell.err, HasSubstr("error invalid_input"));
  EXPECT_THAT(shell.err, HasSubstr("--from: gone.txt cannot be read"));
  EXPECT_EQ(shell.run({"cluster", "discover", "hpc", "--from", "bad"}), 2);
  EXPECT_EQ(shell.requests.size(), 2U);
}

// The next look may be asked for in another folder.
TEST(CommandLine, PathsThatAreKeptAreMadeAbsolute) {
  const std::pair<const char*, const char*> kPaths[] = {
      {"token", R"({"token_file":"/home/ada/site/token"})"},
      {"../keys/./token", R"({"token_file":"/home/ada/keys/token"})"},
      {"/etc/token", R"({"token_file":"/etc/token"})"}};
  for (const auto& [typed, sent] : kPaths) {
    Shell shell;
    EXPECT_EQ(shell.run({"cluster", "add", "k8s", "--token-file", typed}), 0) << shell.err;
    EXPECT_EQ(shell.requests.at(0).body, sent);
  }
}

struct Typo {
  std::vector<std::string> words;
  const char* says;
};

TEST(CommandLine, TyposSuggestAndNeverRun) {
  const Typo kTypos[] = {
      {{"hardwear", "profile", "list"}, "did you mean hardware?"},
      {{"hardware", "profil", "list"}, "did you mean profile?"},
      {{"hardware", "profile", "lst"}, "did you mean list?"},
      {{"profile", "list"}, "there is: exa hardware profile list"},
      {{"hardware", "profile", "list", "--projct", "x"},
       "--projct: there is no such flag here; did you mean --project?"},
      {{"hardware", "profile", "list", "-o", "jsn"}, "did you mean json"},
      {{"hardware", "profile", "list", "more"}, "\"more\": is one word too many"},
      {{"hardware", "profile", "show"}, "NAME: is missing"},
      {{"hardware", "profile", "show", ""}, "NAME: is empty"},
      {{"hardware", "profile", "show", "a", "--version"}, "--version needs a value"},
      {{"hardware", "profile", "show", "a", "--version", "--quiet"},
       "--version: needs a value, and --quiet is a flag; write --version=--quiet if"},
      {{"hardware", "profile", "show", "a", "--version", "1", "--version", "2"},
       "--version: is given twice"},
      {{"cluster", "list", "--yes"}, "--yes: there is no such flag here"},
      {{"cluster", "list", "--project", "p"}, "--project: there is no such flag here"},
      {{"hardware", "profile", "show", "\xff"}, "NAME: is not UTF-8 text"},
      {{"--nonsense"}, "--nonsense: there is no such flag here"},
      {{"", "x"}, "there is no command"},
  };
  for (const Typo& typo : kTypos) {
    Shell shell;
    EXPECT_EQ(shell.run(typo.words), 2) << typo.says;
    EXPECT_THAT(shell.err, StartsWith("error usage: ")) << typo.says;
    EXPECT_THAT(shell.err, HasSubstr(typo.says));
    EXPECT_THAT(shell.err, HasSubstr("next: exa "));
    EXPECT_THAT(shell.out, IsEmpty());
    EXPECT_THAT(shell.folders, IsEmpty());
  }
}

// An unset variable of a script must not mean the default, every cluster or no gate.
TEST(CommandLine, EmptyValuesAreNoValues) {
  const Typo kEmpty[] = {
      {{"cluster", "list", "--data", ""}, "--data: is empty"},
      {{"cluster", "list", "--data="}, "--data: needs a value"},
      {{"hardware", "profile", "list", "--project", ""}, "--project: is empty"},
      {{"hardware", "profile", "resolve", "a", "--cluster", ""}, "--cluster: is empty"},
      {{"cluster", "discover", "hpc", "--from", ""}, "--from: is empty"},
  };
  for (const Typo& typo : kEmpty) {
    Shell shell;
    EXPECT_EQ(shell.run(typo.words), 2) << typo.says;
    EXPECT_THAT(shell.err, HasSubstr("usage"));
    EXPECT_THAT(shell.err, HasSubstr(typo.says));
    EXPECT_THAT(shell.folders, IsEmpty());
  }
}

TEST(CommandLine, OneFormatAtATime) {
  Shell shell;
  for (const char* other : {"csv", "table"}) {
    EXPECT_EQ(shell.run({"hardware", "profile", "list", "--json", "-o", other}), 2);
    EXPECT_THAT(shell.err, HasSubstr(std::string("contradicts --output ") + other));
  }
  EXPECT_EQ(shell.run({"hardware", "profile", "list", "--json", "-o", "json"}), 0);
}

TEST(CommandLine, AnEmptyListOfChoicesInAQueryIsNoGate) {
  for (const char* nothing : {"", ",", " , "}) {
    Shell shell;
    EXPECT_EQ(shell.run({"hardware", "profile", "resolve", "a", "--fail-on", nothing}), 2);
    EXPECT_THAT(shell.err, HasSubstr("--fail-on: is empty; name some of unchecked, unresolvable"));
    EXPECT_THAT(shell.folders, IsEmpty());
  }
}

TEST(CommandLine, ShortWordsAreNotGuessedAt) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"hardware", "profile", "list", "-x"},
                                             {"xy"},
                                             {"hardware", "profile", "zz"},
                                             {"hardware", "profile", "list", "-o", "x"}}) {
    Shell shell;
    EXPECT_EQ(shell.run(words), 2);
    EXPECT_THAT(shell.err, Not(HasSubstr("did you mean"))) << shell.err;
  }
}

TEST(Errors, LongValuesAreEchoedInPart) {
  const std::string longest(5000, 'x');
  Shell shell;
  EXPECT_EQ(shell.run({longest}), 2);
  EXPECT_LT(shell.err.size(), 400U);
  EXPECT_THAT(shell.err, HasSubstr("\"" + std::string(80, 'x') + "…\""));
  EXPECT_EQ(shell.run({"hardware", "profile", "list", "--" + longest}), 2);
  EXPECT_LT(shell.err.size(), 400U);
  EXPECT_EQ(shell.run({"help", "error", longest}), 3);
  EXPECT_LT(shell.err.size(), 400U);
  Reply reply =
      reply_of(Error{Code::not_found, "there is no \"" + longest + "\" here", {}, "", {}}, "");
  reply.status = 404;
  shell.replies[kList] = reply;
  EXPECT_EQ(shell.run({"hardware", "profile", "list"}), 3);
  EXPECT_EQ(shell.err, "error not_found: there is no \"" + std::string(80, 'x') + "…\" here\n");
  // what is no quote (a path of the system) stays whole
  shell.replies[kList] =
      reply_of(Error{Code::store_unwritable, "cannot open /" + longest, {}, "", {}}, "");
  shell.run({"hardware", "profile", "list"});
  EXPECT_THAT(shell.err, HasSubstr(longest));
}

TEST(CommandLine, AllMistakesAreNamedAtOnce) {
  Shell shell;
  shell.run({"hardware", "profile", "show", "--versoin=3", "--output", "jsn", "--outptu=x"});
  EXPECT_THAT(shell.err, HasSubstr("--versoin"));
  EXPECT_THAT(shell.err, HasSubstr("--output: "));
  EXPECT_THAT(shell.err, HasSubstr("--outptu"));
  EXPECT_THAT(shell.err, HasSubstr("NAME: is missing"));
}

TEST(CommandLine, GroupsAndCommandsHaveHelp) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {}, {"--help"}, {"hardware"}, {"hardware", "profile"}, {"help"}, {"help", "hardware"}}) {
    Shell shell;
    EXPECT_EQ(shell.run(words), 0);
    EXPECT_THAT(shell.out, HasSubstr("COMMAND --help explains one."));
    EXPECT_THAT(shell.err, IsEmpty());
  }
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"hardware", "profile", "set", "-h"},
           {"-h", "hardware", "profile", "set"},
           {"help", "hardware", "profile", "set"},
           {"hardware", "profile", "set", "x", "--help", "--gpu", "2"}}) {
    Shell shell;
    EXPECT_EQ(shell.run(words), 0);
    EXPECT_THAT(shell.out, StartsWith("Create the next version.\n\n  exa hardware profile set NAME "
                                      "--accelerator-family CHOICE [flags]\n"));
    for (const char* part :
         {"Counts are per node.", "family: nvidia, amd, cpu [required]", "(default default)",
          "Examples:\n  exa hardware profile set small", "Changes what is stored", "--output"}) {
      EXPECT_THAT(shell.out, HasSubstr(part));
    }
    EXPECT_THAT(shell.folders, IsEmpty());
  }
}

// Only what goes through the service is audited: a row without a route says itself what it changes.
TEST(CommandLine, HelpPromisesAnAuditEntryForRoutesAlone) {
  for (const Route& row : local_routes())
    EXPECT_EQ(row.changes.empty(), row.tier == Tier::read_only) << row.command;
  for (const Route& row : routes()) EXPECT_THAT(row.changes, IsEmpty()) << row.command;
  Shell shell;
  EXPECT_EQ(shell.run({"logout", "--help"}), 0);
  EXPECT_THAT(shell.out, HasSubstr("changes nothing at the server."));
  EXPECT_THAT(shell.out, Not(HasSubstr("is audited")));
}

TEST(CommandLine, HelpFitsEightyColumns) {
  for (const Route& route : testing_cli::table()) {
    Shell shell;
    std::vector<std::string> words;
    for (const auto word : split(route.command, ' ')) words.emplace_back(word);
    words.push_back("--help");
    shell.run(words);
    for (const auto line : split(shell.out, '\n')) EXPECT_LE(line.size(), 80U) << line;
  }
}

TEST(Errors, EveryCodeHasItsExitCodeInEveryFormat) {
  for (const CodeInfo& code : all_codes()) {
    for (const char* format : {"table", "wide", "json", "jsonl", "yaml", "csv", "name"}) {
      Shell shell;
      shell.replies[kList] = failing(code.code);
      if (shell.replies[kList].status < 400) continue;  // fail_on: an answer, not a refusal
      EXPECT_EQ(shell.run({"hardware", "profile", "list", "-o", format}), code.exit_code)
          << code.name;
      EXPECT_THAT(shell.out, IsEmpty());
      EXPECT_THAT(shell.err, HasSubstr(code.name));
    }
  }
}

TEST(Errors, PlacesAreNamedAsTyped) {
  Shell shell;
  shell.replies["POST /api/v1/hardware-profiles/x/versions"] = failing(
      Code::invalid_input, {{"/gpu_count", "is not a whole number", ""},
                            {"/applicability/1", "is not one of these", "did you mean any?"},
                            {"/name", "has capitals", ""},
                            {"f.yaml:3:4", "stands twice", ""}});
  EXPECT_EQ(shell.run({"hardware", "profile", "set", "x"}), 2);
  EXPECT_EQ(shell.err,
            "error invalid_input: it did not work\n"
            "  --gpu: is not a whole number\n"
            "  --applicability: is not one of these; did you mean any?\n"
            "  NAME: has capitals\n"
            "  f.yaml:3:4: stands twice\n"
            "  there is: other\n"
            "next: exa cluster list\n");
}

TEST(Errors, InJsonTheyAreProblemDocuments) {
  Shell shell;
  shell.replies[kList] = failing(Code::not_found);
  EXPECT_EQ(shell.run({"hardware", "profile", "list", "--json"}), 3);
  EXPECT_EQ(shell.err, shell.replies[kList].body);
  EXPECT_EQ(shell.run({"hardware", "profile", "lst", "--json"}), 2);
  const json::value problem = parse_json(shell.err, "err").value();
  EXPECT_EQ(text_or(problem, "code", ""), "usage");
}

TEST(Errors, ForeignTextCannotMoveTheCursor) {
  Shell shell;
  Reply reply = reply_of(Error{Code::not_found, "no \x1b[2J here", {}, "", {"a\rb"}}, "");
  shell.replies[kList] = reply;
  shell.terminal = true;
  shell.run({"hardware", "profile", "list"});
  EXPECT_THAT(shell.err, Not(HasSubstr("\x1b")));
  EXPECT_THAT(shell.err, Not(HasSubstr("\r")));
}

TEST(Confirmation, WithoutATerminalNothingIsSent) {
  for (const char* extra : {"--json", "-q", "--no-color"}) {
    Shell shell;
    EXPECT_EQ(shell.run({"hardware", "profile", "delete", "small", extra}), 8);
    EXPECT_THAT(shell.err, HasSubstr("confirmation_needed"));
    EXPECT_THAT(shell.folders, IsEmpty());
    EXPECT_THAT(shell.asked, IsEmpty());
  }
}

TEST(Confirmation, YesAndDryRunDoNotAsk) {
  Shell shell;
  EXPECT_EQ(shell.run({"hardware", "profile", "delete", "small", "--yes"}), 0);
  EXPECT_THAT(shell.requests.at(0).query, IsEmpty());
  EXPECT_EQ(shell.run({"hardware", "profile", "delete", "small", "--dry-run"}), 0);
  EXPECT_THAT(shell.requests.at(1).query, ElementsAre(std::pair("dry_run", "true")));
  EXPECT_THAT(shell.asked, IsEmpty());
}

TEST(Confirmation, OnATerminalTheImpactIsShownFirst) {
  for (const auto& [typed, code, requests] :
       {std::tuple<std::optional<std::string>, int, size_t>{"y", 0, 2},
        {"YES ", 0, 2},
        {"n", 8, 1},
        {"", 8, 1},
        {"yep", 8, 1},
        {std::nullopt, 8, 1}}) {
    Shell shell;
    shell.terminal = true;
    shell.typed = typed;
    shell.replies[kDelete] = ok(R"({"name":"small","deleted_versions":[1,2],"consumers":[]})");
    shell.replies[kDelete].notices = {"label active is dropped"};
    EXPECT_EQ(shell.run({"hardware", "profile", "delete", "small"}), code);
    EXPECT_EQ(shell.requests.size(), requests);
    EXPECT_THAT(shell.requests[0].query, ElementsAre(std::pair("dry_run", "true")));
    EXPECT_THAT(shell.err, HasSubstr("small: versions 1, 2 deleted"));
    EXPECT_THAT(shell.err, HasSubstr("label active is dropped"));
    EXPECT_THAT(shell.asked, HasSubstr("[y/N]"));
  }
}

TEST(Confirmation, WhatTheDryRunRefusesIsNotAskedFor) {
  Shell shell;
  shell.terminal = true;
  shell.replies[kDelete] = failing(Code::in_use);
  EXPECT_EQ(shell.run({"hardware", "profile", "delete", "small"}), 5);
  EXPECT_THAT(shell.asked, IsEmpty());
}

// Each way in which a surrounding may lack something: no prompt, no escape, the right code, and
// JSON that parses.
TEST(Manners, HoldInEverySurrounding) {
  struct Surrounding {
    const char* what;
    bool terminal;
    std::map<std::string, std::string> variables;
    size_t columns;
    bool may_paint;
  };
  const Surrounding kAll[] = {
      {"terminal", true, {{"TERM", "xterm"}}, 80, true},
      {"empty NO_COLOR", true, {{"NO_COLOR", ""}}, 80, true},
      {"no terminal", false, {}, 0, false},
      {"NO_COLOR", true, {{"NO_COLOR", "1"}}, 80, false},
      {"TERM=dumb", true, {{"TERM", "dumb"}}, 80, false},
      {"40 columns", false, {{"COLUMNS", "40"}}, 0, false},
      {"C locale", false, {{"LC_ALL", "C"}}, 0, false},
      {"nonsense in COLUMNS", false, {{"COLUMNS", "-3"}}, 0, false},
  };
  for (const Surrounding& around : kAll) {
    Shell shell;
    shell.terminal = around.terminal;
    shell.variables = around.variables;
    shell.columns = around.columns;
    shell.replies[kList] = ok(kTwo);
    EXPECT_EQ(shell.run({"hardware", "profile", "list"}), 0) << around.what;
    EXPECT_EQ(shell.out.find('\x1b') != std::string::npos, around.may_paint) << around.what;
    EXPECT_THAT(shell.out, HasSubstr("verified"));
    EXPECT_EQ(shell.run({"hardware", "profile", "list", "--no-color"}), 0);
    EXPECT_THAT(shell.out, Not(HasSubstr("\x1b"))) << around.what;
    EXPECT_EQ(shell.run({"hardware", "profile", "list", "--json"}), 0);
    EXPECT_TRUE(parse_json(shell.out, "out")) << around.what;
    EXPECT_THAT(shell.asked, IsEmpty()) << around.what;
  }
}

TEST(Manners, ABrokenPipeEndsQuietly) {
  Shell shell;
  shell.written = Written::reader_gone;
  shell.replies[kList] = ok(R"({"items":[],"next_cursor":null})");
  EXPECT_EQ(shell.run({"hardware", "profile", "list"}), 0);
  EXPECT_THAT(shell.err, IsEmpty());
}

TEST(Manners, AFullDiskIsNoSuccess) {
  Shell shell;
  shell.written = Written::failed;
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"hardware", "profile", "list"}, {"man"}, {"--help"}}) {
    EXPECT_EQ(shell.run(words), 1);
    EXPECT_THAT(shell.err, HasSubstr("cannot be written"));
  }
}

TEST(Manners, AChangeWhoseAnswerIsLostIsStillNamed) {
  Shell shell;
  shell.written = Written::failed;
  shell.replies["POST /api/v1/hardware-profiles/small/versions"] =
      ok(R"({"name":"small","version":3,"labels":["active"]})");
  EXPECT_EQ(shell.run({"hardware", "profile", "set", "small"}), 1);
  EXPECT_THAT(shell.err, HasSubstr("the change is stored: small@3 set (active); but its answer "
                                   "could not be written"));
  shell.replies[kDelete] = ok(R"({"name":"small","deleted_versions":[1]})");
  EXPECT_EQ(shell.run({"hardware", "profile", "delete", "small", "--yes", "--json"}), 1);
  EXPECT_THAT(shell.err, HasSubstr("the change is stored: small: version 1 deleted;"));
  EXPECT_EQ(shell.run({"hardware", "profile", "delete", "small", "--dry-run"}), 1);
  EXPECT_THAT(shell.err, Not(HasSubstr("stored")));
}

TEST(Manners, ADryRunLooksLikeOneWithoutNoticesToo) {
  Shell shell;
  shell.replies[kDelete] = ok(R"({"name":"small","deleted_versions":[1]})");
  EXPECT_EQ(shell.run({"hardware", "profile", "delete", "small", "--dry-run", "-q"}), 0);
  EXPECT_EQ(shell.out, "dry run: small: version 1 deleted\n");
  EXPECT_THAT(shell.err, IsEmpty());
}

TEST(Manners, AnEmptyListSaysWhatToDoNext) {
  Shell shell;
  shell.replies[kList] = ok(R"({"items":[],"next_cursor":null})");
  EXPECT_EQ(shell.run({"hardware", "profile", "list"}), 0);
  EXPECT_THAT(shell.out, IsEmpty());
  EXPECT_THAT(shell.err, StartsWith("No profiles yet. Create one: exa hardware profile set"));
  shell.run({"hardware", "profile", "list", "-q"});
  EXPECT_THAT(shell.err, IsEmpty());
}

TEST(Manners, TheExitCodeOfAnAnswerIsKept) {
  Shell shell;
  Reply reply = ok(
      R"({"name":"small","version":3,"target":"hpc","status":"unresolvable","reason":"too big"})");
  reply.exit_code = 6;
  shell.replies["POST /api/v1/hardware-profiles/small/resolution"] = reply;
  for (const char* format : {"table", "json", "yaml", "name"}) {
    EXPECT_EQ(shell.run({"hardware", "profile", "resolve", "small", "-o", format}), 6);
  }
}

TEST(LocalCommands, OpenNoStore) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"version"},
                                             {"man"},
                                             {"commands"},
                                             {"help", "error"},
                                             {"help", "error", "IN_USE"},
                                             {"completion", "bash"},
                                             {"completion", "zsh"},
                                             {"completion", "fish"}}) {
    Shell shell;
    EXPECT_EQ(shell.run(words), 0) << words[0];
    EXPECT_THAT(shell.out, Not(IsEmpty()));
    EXPECT_THAT(shell.folders, IsEmpty());
  }
}

TEST(LocalCommands, EveryCommandIsListedWithItsTier) {
  Shell shell;
  EXPECT_EQ(shell.run({"commands", "--json"}), 0);
  const json::value body = parse_json(shell.out, "out").value();
  std::map<std::string, std::string> tiers;
  for (const json::value& item : find(body, "items")->as_array()) {
    tiers[std::string(text_or(item, "name", ""))] = text_or(item, "tier", "");
  }
  EXPECT_EQ(tiers.size(),
            testing_cli::table().size() - 1 + local_routes().size());  // without the API-only row
  EXPECT_EQ(tiers["exa hardware profile delete"], "destructive");
  EXPECT_EQ(tiers["exa hardware profile set"], "mutating");
  EXPECT_EQ(tiers["exa commands"], "read-only");
  EXPECT_THAT(shell.out, HasSubstr("\"flag\": \"--gpu\""));
}

TEST(LocalCommands, ErrorCodesAreExplained) {
  Shell shell;
  EXPECT_EQ(shell.run({"help", "error", "unresolvable"}), 0);
  EXPECT_THAT(shell.out, StartsWith("unresolvable: "));
  EXPECT_THAT(shell.out, HasSubstr("exit code 6"));
  EXPECT_EQ(shell.run({"help", "error", "unresolvabel"}), 3);
  EXPECT_THAT(shell.err, HasSubstr("did you mean unresolvable?"));
}

}  // namespace
}  // namespace exa
