#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/testing.h"

namespace exa {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing_cli::ok;
using testing_cli::Shell;

Shell shell_with_names() {
  Shell shell;
  shell.replies["GET /api/v1/hardware-profiles"] =
      ok(R"x({"items":[{"name":"small"},{"name":"train"},{"name":"$(reboot)"}]})x");
  shell.replies["GET /api/v1/clusters"] = ok(R"({"items":[{"name":"hpc"}]})");
  shell.replies["GET /api/v1/projects"] = ok(R"({"items":[{"name":"vision"}]})");
  return shell;
}

std::vector<std::string> completed(Shell& shell, std::vector<std::string> words) {
  words.insert(words.begin(), {"__complete", "--"});
  EXPECT_EQ(shell.run(words), 0);
  EXPECT_THAT(shell.err, IsEmpty());
  std::vector<std::string> lines;
  for (const auto line : split(shell.out, '\n')) {
    if (!line.empty()) lines.emplace_back(line);
  }
  return lines;
}

TEST(Completion, AnswersFromTheTableAndLiveNames) {
  Shell shell = shell_with_names();
  EXPECT_THAT(completed(shell, {"h"}), ElementsAre("hardware", "help"));
  EXPECT_THAT(completed(shell, {"hardware", ""}), ElementsAre("profile"));
  EXPECT_THAT(completed(shell, {"hardware", "profile", "s"}), ElementsAre("set", "show"));
  EXPECT_THAT(completed(shell, {"hardware", "profile", "set", "--g"}), ElementsAre("--gpu"));
  EXPECT_THAT(completed(shell, {"hardware", "profile", "set", "--accelerator-family", ""}),
              ElementsAre("amd", "cpu", "nvidia"));
  EXPECT_THAT(completed(shell, {"hardware", "profile", "set", "--accelerator-family=n"}),
              ElementsAre("--accelerator-family=nvidia"));
  EXPECT_THAT(completed(shell, {"hardware", "profile", "set", "--applicability", "training,s"}),
              ElementsAre("training,serving"));
  EXPECT_THAT(completed(shell, {"hardware", "profile", "list", "-o", "j"}),
              ElementsAre("json", "jsonl"));
  EXPECT_THAT(completed(shell, {"--json", "cluster", "d"}), ElementsAre("discover"));
  EXPECT_THAT(completed(shell, {"cluster", "discover", "hpc", "--from", ""}),
              ElementsAre(":files"));
  EXPECT_THAT(completed(shell, {"completion", ""}), ElementsAre("bash", "fish", "zsh"));
  EXPECT_THAT(shell.folders, IsEmpty());  // nothing so far needed the store

  EXPECT_THAT(completed(shell, {"hardware", "profile", "show", "--project", "p", "s"}),
              ElementsAre("small"));
  EXPECT_THAT(shell.requests.back().query, ElementsAre(std::pair("project", "p")));
  EXPECT_THAT(completed(shell, {"hardware", "profile", "resolve", "x", "--cluster", ""}),
              ElementsAre("hpc"));
  EXPECT_THAT(completed(shell, {"hardware", "profile", "list", "--project", "v"}),
              ElementsAre("vision"));
  EXPECT_THAT(completed(shell, {"hardware", "profile", "show", "small", ""}), IsEmpty());
}

TEST(Completion, VersionsAndLabelsAreThoseOfTheProfile) {
  Shell shell = shell_with_names();
  shell.replies["GET /api/v1/hardware-profiles/train/versions"] =
      ok(R"({"items":[{"version":1,"labels":["stable"],"deleted_at":null},
                      {"version":2,"labels":[],"deleted_at":"2026-11-30T12:00:00Z"},
                      {"version":3,"labels":["active"],"deleted_at":null}]})");
  EXPECT_THAT(completed(shell, {"hardware", "profile", "show", "train@"}),
              ElementsAre("train@1", "train@3", "train@active", "train@stable"));
  EXPECT_THAT(completed(shell, {"hardware", "profile", "show", "--project", "p", "train@a"}),
              ElementsAre("train@active"));
  EXPECT_THAT(shell.requests.back().query, ElementsAre(std::pair("project", "p")));
  EXPECT_THAT(completed(shell, {"hardware", "profile", "label", "train", ""}),
              ElementsAre("active", "stable"));
  EXPECT_THAT(completed(shell, {"hardware", "profile", "label", "train", "x", "--version", ""}),
              ElementsAre("1", "3"));
  EXPECT_THAT(completed(shell, {"hardware", "profile", "label", "train", "x", "--version=3"}),
              ElementsAre("--version=3"));
  EXPECT_THAT(completed(shell, {"hardware", "profile", "show", "nosuch@"}), IsEmpty());
}

TEST(Completion, ErrorCodesAndChoicesOfLists) {
  Shell shell = shell_with_names();
  EXPECT_THAT(completed(shell, {"help", "error", "unr"}),
              ElementsAre("unreachable", "unreadable_output", "unresolvable"));
  EXPECT_THAT(completed(shell, {"hardware", "profile", "resolve", "a", "--fail-on", ""}),
              ElementsAre("unchecked", "unresolvable"));
  EXPECT_THAT(completed(shell, {"hardware", "profile", "resolve", "a", "--fail-on=unchecked,"}),
              ElementsAre("--fail-on=unchecked,unresolvable"));
  EXPECT_THAT(shell.folders, IsEmpty());
}

// Whatever is asked has one thing, by every name that a thing can have.
std::string candidates(const std::vector<std::string>& words) {
  std::string out;
  Environment environment;
  environment.out = [&](std::string_view text) {
    out += text;
    return Written::all;
  };
  environment.err = [](std::string_view) {};
  environment.variable = [](const char*) { return std::optional<std::string>(); };
  environment.working_folder = [] { return std::string("/"); };
  environment.clock = [] { return parse_rfc3339("2026-11-30T12:00:00Z").value(); };
  const Connect connect = [](const Where&) -> Result<Send> {
    return Send([](const Request&) {
      return ok(R"({"items":[{"name":"live","id":"live","version":7,"labels":["live"]},
                             {"name":"small","version":"v7","labels":[]},
                             {"name":"another","version":"v8","labels":[]}]})");
    });
  };
  EXPECT_EQ(run_cli(words, routes(), environment, connect), 0);
  return out;
}

TEST(Completion, EveryWordThatARowSaysItCompletesHasASource) {
  size_t asked = 0;
  for (const Route& route : routes()) {
    if (route.command.empty()) continue;
    std::vector<std::string> before = {"__complete", "--"};
    for (const auto word : split(route.command, ' ')) before.emplace_back(word);
    std::vector<std::string> given;  // the positional words before it
    for (const Param& param : route.params) {
      std::vector<std::string> words = before;
      const bool by_flag = !param.flag.empty();
      const bool is_version = param.completes.ends_with("version");
      const bool of_profile = is_version || param.completes == "label";
      if (!by_flag || of_profile) words.insert(words.end(), given.begin(), given.end());
      if (by_flag) words.emplace_back(param.flag);
      words.emplace_back("");
      if (!by_flag) given.emplace_back("small");
      if (param.completes.empty() || param.completes == "manifest-kind") continue;  // fixed words
      ++asked;
      EXPECT_THAT(candidates(words), HasSubstr(is_version ? "7" : "live"))
          << route.id << ": " << param.name << " completes " << param.completes;
    }
  }
  EXPECT_GT(asked, 50U);
}

TEST(Completion, NamesThatAShellWouldRunAreLeftOut) {
  Shell shell = shell_with_names();
  EXPECT_THAT(completed(shell, {"hardware", "profile", "show", ""}), ElementsAre("small", "train"));
}

TEST(Completion, TroubleIsSilent) {
  Shell shell;
  shell.replies["GET /api/v1/clusters"] =
      reply_of(Error{Code::store_locked, "locked", {}, "", {}}, "");
  EXPECT_THAT(completed(shell, {"cluster", "discover", ""}), IsEmpty());
  shell.replies["GET /api/v1/clusters"] = ok("garbage");
  EXPECT_THAT(completed(shell, {"cluster", "discover", ""}), IsEmpty());
  EXPECT_THAT(completed(shell, {"no", "such", ""}), IsEmpty());
  EXPECT_THAT(completed(shell, {}), Contains("hardware"));
}

int run_program(std::vector<std::string> argv) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::vector<char*> raw;
    for (std::string& word : argv) raw.push_back(word.data());
    raw.push_back(nullptr);
    ::execvp(raw[0], raw.data());
    ::_exit(127);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

class Scratch {
 public:
  Scratch() {
    std::string pattern = testing::TempDir() + "exa-XXXXXX";
    path_ = ::mkdtemp(pattern.data());
  }
  ~Scratch() { run_program({"rm", "-r", path_}); }
  std::string write(const std::string& name, std::string_view text, unsigned mode = 0600) const {
    const std::string path = path_ + "/" + name;
    std::ofstream(path) << text;
    ::chmod(path.c_str(), mode);
    return path;
  }
  std::string read(const std::string& name) const {
    std::ifstream file(path_ + "/" + name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string script_of(const std::string& shell_name) {
  Shell shell;
  shell.run({"completion", shell_name});
  return shell.out;
}

// A real bash runs the script's function as readline would.
TEST(Completion, BashGetsTheCandidates) {
  const Scratch scratch;
  scratch.write("exa",
                "#!/bin/sh\nprintf '%s\\n' \"$@\" > \"$0.args\"\n"
                "case \"$*\" in *--from*) echo :files;; *--output=*) echo --output=json;; *@*) "
                "printf 'a@1\\na@active\\n';; *) "
                "printf 'small\\ntrain\\n';; esac\n",
                0700);
  scratch.write("script", script_of("bash"));
  scratch.write("nodes.txt", "");
  const std::string test = scratch.write("test", fmt::format(R"(
set -u
cd {0}
source ./script
complete -p exa > registered
COMP_WORDS=(./exa hardware profile show --label = x ""); COMP_CWORD=7
COMP_LINE="./exa hardware profile show --label=x "; _exa
printf '%s\n' "${{COMPREPLY[@]}}" > names
COMP_WORDS=(./exa cluster discover --from no); COMP_CWORD=4
COMP_LINE="./exa cluster discover --from no"; _exa
printf '%s\n' "${{COMPREPLY[@]}}" > files
COMP_WORDS=(./exa hardware profile show a @); COMP_CWORD=5
COMP_LINE="./exa hardware profile show a@"; _exa
printf '%s\n' "${{COMPREPLY[@]}}" > versions
COMP_WORDS=(./exa hardware profile show a @ a); COMP_CWORD=6
COMP_LINE="./exa hardware profile show a@a"; _exa
printf '%s\n' "${{COMPREPLY[@]}}" > labels
COMP_WORDS=(./exa hardware --output = j); COMP_CWORD=4
COMP_LINE="./exa hardware --output=j"; _exa
printf '%s\n' "${{COMPREPLY[@]}}" > value
)",
                                                             scratch.path()));
  ASSERT_EQ(run_program({"bash", "--norc", test}), 0);
  EXPECT_EQ(scratch.read("registered"), "complete -F _exa exa\n");
  EXPECT_EQ(scratch.read("names"), "small\ntrain\n");
  EXPECT_EQ(scratch.read("files"), "nodes.txt\n");
  EXPECT_EQ(scratch.read("versions"), "@1\n@active\n");  // readline keeps an @ in the word
  EXPECT_EQ(scratch.read("labels"), "@1\n@active\n");
  EXPECT_EQ(scratch.read("value"), "json\n");
  EXPECT_EQ(scratch.read("exa.args"), "__complete\n--\nhardware\n--output=j\n");
}

TEST(Completion, EveryShellThatIsHereReadsItsScript) {
  for (const auto& [shell, check] : {std::pair<std::string, std::string>{"bash", "-n"},
                                     {"zsh", "-n"},
                                     {"fish", "--no-execute"}}) {
    const Scratch scratch;
    const std::string script = scratch.write("script", script_of(shell));
    ASSERT_THAT(scratch.read("script"), HasSubstr("__complete --"));
    const int code = run_program({shell, check, script});
    EXPECT_TRUE(code == 0 || (code == 127 && shell != "bash")) << shell << " " << code;
  }
}

TEST(ManPage, GroffFindsNothingToWarnAbout) {
  const Scratch scratch;
  Shell shell;
  ASSERT_EQ(shell.run({"man"}), 0);
  EXPECT_THAT(shell.out, HasSubstr(".SH COMMANDS\n"));
  EXPECT_THAT(shell.out, HasSubstr("\\fB\\-\\-accelerator\\-family CHOICE\\fR"));
  const std::string page = scratch.write("exa.1", shell.out);
  const std::string test = scratch.write(
      "test",
      fmt::format("groff -ww -man -Tutf8 {0}/exa.1 > {0}/page 2> {0}/warnings", scratch.path()));
  ASSERT_EQ(run_program({"sh", test}), 0);
  EXPECT_EQ(scratch.read("warnings"), "");
  EXPECT_THAT(scratch.read("page"), HasSubstr("Create the next version."));
}

}  // namespace
}  // namespace exa
