// What a run does, driver by driver: its program gets what it was given, and what it puts out and
// how it ended is told.
#include "provision/provision.h"

#include <random>

#include "base/encoding.h"
#include "base/text.h"
#include "provision/driver_table.h"
#include "provision/provision_bench_for_test.h"

namespace exa {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

class Provision : public ProvisionBench {};

TEST_F(Provision, AScriptGetsItsActionAndInputsAndPutsOutWhatItDeclares) {
  ProvisionRun run = script(
      "echo \"$1 $EXA_ACTION\"; cat \"$EXA_INPUTS\" inputs.json; pwd; cat cluster.yaml\n"
      "printf '{\"address\": \"10.0.0.1\", \"nodes\": [1, 2], \"other\": {}}' >\"$EXA_OUTPUTS\"");
  run.inputs = {{"size", 3}};
  run.files = {{"cluster.yaml", "nodes: 3\n"}};
  run.outputs = {"address", "nodes"};
  int64_t ticks = 0;
  const auto result = run_provision(run, [&] { return Time{++ticks}; });
  ASSERT_TRUE(result);
  EXPECT_EQ(result->outcome, ProvisionOutcome::succeeded) << result->reason;
  EXPECT_EQ(result->reason, "");
  EXPECT_EQ(result->exit_code, 0);
  EXPECT_EQ(result->outputs, (json::object{{"address", "10.0.0.1"}, {"nodes", {1, 2}}}));
  EXPECT_EQ(result->log, "apply apply\n{\"size\":3}{\"size\":3}" + work.string() + "\nnodes: 3\n");
  EXPECT_EQ(text_of(work / "log"), result->log);
  EXPECT_EQ(result->started, Time{1});
  EXPECT_EQ(result->ended, Time{2});
}

TEST_F(Provision, AFailureIsToldInWords) {
  const struct {
    const char* lines;
    const char* reason;
    std::optional<int> exit_code;
  } kCases[] = {
      {"exit 3", "ended with 3", 3},
      {"echo one; echo; echo 'no such host' >&2; echo; exit 3", "ended with 3: no such host", 3},
      {"kill -9 $$", "was killed by signal 9 (Killed)", std::nullopt},
      {"head -c 3000000 /dev/zero >large; exit 1", "ended with 1", 1},
  };
  for (const auto& one : kCases) {
    ProvisionRun run = script(one.lines);
    run.file_limit_bytes = 2'000'000;
    const ProvisionResult result = done(run);
    EXPECT_EQ(result.outcome, ProvisionOutcome::failed) << one.lines;
    EXPECT_THAT(result.reason, StartsWith(one.reason)) << one.lines;
    EXPECT_EQ(result.exit_code, one.exit_code) << one.lines;
    EXPECT_THAT(result.outputs, IsEmpty());
  }
  EXPECT_EQ(std::filesystem::file_size(work / "large"), 2'000'000u);
}

TEST_F(Provision, OutputsThatAreNotWhatWasDeclaredFailTheRun) {
  const struct {
    std::string lines;
    const char* reason;
  } kCases[] = {
      {"true", "outputs.json was not written; it should hold address"},
      {"echo garbage >outputs.json", "outputs.json is no JSON object: "},
      {"head -c 100 /dev/urandom >outputs.json", "outputs.json is no JSON object: "},
      {"echo '[1]' >outputs.json", "outputs.json is no JSON object"},
      {"echo '{\"address\": 1, \"address\": 2}' >outputs.json", "outputs.json is no JSON object: "},
      {"echo '{\"addres\": 1}' >outputs.json", "outputs.json lacks address"},
      {"echo '{\"address\": {\"a\": 1}}' >outputs.json", "outputs.json: address is neither"},
      {"echo '{\"address\": [[1]]}' >outputs.json", "outputs.json: address is neither"},
      {"head -c 2000000 /dev/zero >outputs.json", "outputs.json is larger than 1048576 bytes"},
      {"ln -s /etc/passwd outputs.json", "outputs.json is a link, not a file"},
      {"mkfifo outputs.json", "outputs.json is no plain file"},
      {"mkdir outputs.json", "outputs.json is no plain file"},
      {"echo '{\"address\": 1}' >a; ln a outputs.json", "outputs.json is another file's second"},
  };
  for (const auto& one : kCases) {
    ProvisionRun run = script("rm -f a; " + one.lines);
    run.outputs = {"address"};
    const ProvisionResult result = done(run);
    EXPECT_EQ(result.outcome, ProvisionOutcome::failed) << one.lines;
    EXPECT_THAT(result.reason, StartsWith(one.reason)) << one.lines;
    EXPECT_EQ(result.exit_code, 0) << one.lines;
    EXPECT_THAT(result.outputs, IsEmpty()) << one.lines;
  }
}

TEST_F(Provision, OutputsOfAnEarlierRunDoNotCount) {
  ProvisionRun run = script("echo '{\"address\": 1}' >outputs.json");
  run.outputs = {"address"};
  EXPECT_EQ(done(run).outcome, ProvisionOutcome::succeeded);
  put("run", "#!/bin/sh\n", true);
  EXPECT_THAT(done(run).reason, HasSubstr("was not written"));
}

TEST_F(Provision, AnotherRunFindsWhatTheDriverLeftAndAFreshTemplate) {
  ProvisionRun run = script(
      "echo run >>state; echo trash >template/trash; mkdir -p template/sub; ls template; wc -l "
      "<state");
  EXPECT_EQ(done(run).log, "run\nsub\ntrash\n1\n");
  put("extra", "");
  EXPECT_EQ(done(run).log, "extra\nrun\nsub\ntrash\n2\n");
}

TEST_F(Provision, TheTemplateIsAsItWas) {
  put("data", "as it was");
  const ProvisionRun run = script(
      "echo changed >template/data; rm template/run; chmod 000 template; "
      "echo changed >'" +
      (template_folder / "data").string() + "'");
  const auto before = picture(template_folder);
  const ProvisionResult result = done(run);
  ASSERT_TRUE(result.confined);  // a kernel without Landlock lets the last line through
  EXPECT_EQ(picture(template_folder), before);
  put("run", "#!/bin/sh\n", true);
  EXPECT_EQ(done(run).outcome, ProvisionOutcome::succeeded);  // also with a copy that was closed
}

TEST_F(Provision, WhatIsGivenArrivesByteForByteAndIsRunByNobody) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  std::string bytes;
  for (int i = 0; i < 100'000; ++i) bytes += static_cast<char>(random());
  const std::string canary = (work / "canary").string();
  const std::string evil = "$(touch " + canary + ")`touch " + canary + "`;touch " + canary +
                           "\n--help {{ lookup('pipe', 'touch " + canary + "') }}\"'\\\x01";
  ProvisionRun run =
      script("cat raw; cp raw seen; cp inputs.json inputs_seen; printenv GIVEN >given");
  run.inputs = {{"evil", json::string(evil)}, {"n", 1.5}, {"list", {1, "a", nullptr}}};
  run.files = {{"raw", bytes}};
  run.environment = {{"GIVEN", evil}};
  EXPECT_EQ(done(run).outcome, ProvisionOutcome::succeeded);
  EXPECT_EQ(text_of(work / "seen"), bytes);
  EXPECT_EQ(text_of(work / "inputs_seen"), to_text(run.inputs));
  EXPECT_EQ(text_of(work / "given"), evil + "\n");
  EXPECT_FALSE(std::filesystem::exists(canary));
  EXPECT_EQ(std::filesystem::status(work / "raw").permissions(), std::filesystem::perms(0600));
  EXPECT_EQ(std::filesystem::status(work / "inputs.json").permissions(),
            std::filesystem::perms(0600));
}

TEST_F(Provision, AllThatIsWrongWithARunIsToldAtOnce) {
  ProvisionRun run = run_of(ProvisionDriver::script);
  run.work_folder = "relative";
  run.inputs = {{"not a name", 1}, {"bytes", "\xff"}};
  run.files = {{"../up", ""}, {"a/b", ""}, {".exa", ""}, {"inputs.json", ""},
               {"log", ""},   {"-rf", ""}, {"", ""},     {"twice", ""},
               {"twice", ""}, {"..", ""},  {"a\nb", ""}};
  run.environment = {{"LD_PRELOAD", "x"},
                     {"PATH", "x"},
                     {"A B", "x"},
                     {"NUL", std::string("a\0b", 3)},
                     {"LONG", std::string(5000, 'x')}};
  run.outputs = {"no name"};
  const Error error = refusal(run);
  EXPECT_EQ(error.code, Code::invalid_input);
  std::vector<std::string> places;
  for (const Problem& problem : error.problems) places.push_back(problem.where);
  EXPECT_THAT(places,
              ElementsAre("/work_folder", "/inputs/not a name", "/inputs/bytes", "/files/..~1up",
                          "/files/a~1b", "/files/.exa", "/files/inputs.json", "/files/log",
                          "/files/-rf", "/files/", "/files/twice", "/files/..", "/files/a\\x0ab",
                          "/environment/LD_PRELOAD", "/environment/PATH", "/environment/A B",
                          "/environment/NUL", "/environment/LONG", "/outputs/no name",
                          template_folder.string()));
}

TEST_F(Provision, WorkAndTemplateFolderLieApart) {
  for (const std::filesystem::path& place :
       {template_folder, template_folder / "work", folder, folder / "work" / ".." / "template"}) {
    ProvisionRun run = script("true");
    run.work_folder = place;
    EXPECT_EQ(refusal(run).code, Code::invalid_input) << place;
  }
}

TEST_F(Provision, WhatADriverLacksIsKnownBeforeAnythingRuns) {
  const std::string no_programs = folder / "bin";
  for (const ProvisionDriverInfo& driver : provision_drivers()) {
    SCOPED_TRACE(driver.name);
    EXPECT_EQ(find_provision_driver(driver.name), &info(driver.driver));
    const auto problems =
        check_driver(driver.driver, ProvisionAction::apply, template_folder.string(), no_programs);
    ASSERT_THAT(problems, SizeIs(driver.program.empty() ? 1 : 2));
    EXPECT_EQ(problems.back().where, template_folder.string());
    if (driver.program.empty()) continue;
    EXPECT_EQ(problems[0].where, driver.program);
    EXPECT_THAT(problems[0].message, HasSubstr("is not in " + no_programs));
  }
  ProvisionRun run = playbook("[]\n");
  run.program_folders = no_programs;
  const Error error = refusal(run);
  EXPECT_EQ(error.code, Code::not_found);
  EXPECT_THAT(error.message, HasSubstr("no program ansible-playbook"));
  EXPECT_FALSE(std::filesystem::exists(work));
}

TEST_F(Provision, ATemplateHoldsFilesAndFoldersOnly) {
  const ProvisionRun run = script("true");
  put("sub/file", "");
  std::filesystem::create_symlink("/etc/passwd", template_folder / "sub" / "link");
  const Error error = refusal(run);
  ASSERT_THAT(error.problems, SizeIs(1));
  EXPECT_EQ(error.problems[0].where, "sub/link");
}

TEST_F(Provision, AScriptThatCannotBeExecutedIsToldBeforeAnythingRuns) {
  put("run", "#!/bin/sh\n");
  EXPECT_THAT(refusal(run_of(ProvisionDriver::script)).problems[0].message,
              HasSubstr("run is not executable"));
  put("run", "#!/no/such/interpreter\n", true);
  const Error error = refusal(run_of(ProvisionDriver::script));
  EXPECT_EQ(error.code, Code::not_found);
  EXPECT_THAT(error.message, HasSubstr("cannot run template/run"));
}

constexpr const char* kHello = R"(- hosts: all
  gather_facts: false
  tasks:
    - name: say what was given
      ansible.builtin.copy:
        dest: "{{ playbook_dir }}/../said"
        mode: "0600"
        content: "{{ exa_action }} {{ exa_inputs.text }}"
    - name: say it all
      ansible.builtin.copy:
        dest: "{{ playbook_dir }}/../all"
        mode: "0600"
        content: "{{ exa_inputs | to_json(ensure_ascii=false) }}"
    - name: hosts
      ansible.builtin.debug:
        msg: "I am {{ inventory_hostname }}"
    - name: put out
      ansible.builtin.copy:
        dest: "{{ exa_outputs_file }}"
        mode: "0600"
        content: "{{ {'address': '10.0.0.1'} | to_json }}"
)";

TEST_F(Provision, APlaybookGetsInputsThatItDoesNotReadAsTemplates) {
  const std::string canary = (work / "canary").string();
  ProvisionRun run = playbook(kHello);
  run.outputs = {"address"};
  run.inputs = {
      {"text", "{{ lookup('pipe', 'touch " + canary + "') }} $(touch " + canary + ") \"'\\ é \x7f"},
      {"deep", json::object{{"{{ 1 + 1 }}", json::array{"{{ 2 + 2 }}", 1, 2.5e300, true, nullptr}},
                            {"__ansible_unsafe", "!vault |"}}},
      {"empty", json::array{}}};
  const ProvisionResult result = done(run);
  EXPECT_EQ(result.outcome, ProvisionOutcome::succeeded) << result.reason << result.log;
  EXPECT_EQ(result.outputs, (json::object{{"address", "10.0.0.1"}}));
  EXPECT_THAT(result.log, HasSubstr("I am localhost"));
  EXPECT_FALSE(std::filesystem::exists(canary));
  EXPECT_EQ(text_of(work / "said"), "apply " + std::string(run.inputs.at("text").as_string()));
  EXPECT_EQ(parse_json(text_of(work / "all"), "all").value(), json::value(run.inputs));
}

TEST_F(Provision, APlaybookThatFailsNamesItsTaskAndHost) {
  const ProvisionRun run = playbook(R"(- hosts: all
  gather_facts: false
  tasks:
    - name: a failure that is ignored
      ansible.builtin.fail:
        msg: never mind
      ignore_errors: true
    - name: install [the] disk
      ansible.builtin.fail:
        msg: there is no disk
)");
  const ProvisionResult result = done(run);
  EXPECT_EQ(result.outcome, ProvisionOutcome::failed);
  EXPECT_EQ(result.reason,
            "ended with 2: task 'install [the] disk' failed on localhost: there is no disk");
}

TEST_F(Provision, APlaybookThatIsNoneIsToldInAnsiblesWords) {
  EXPECT_THAT(done(playbook("nonsense\n")).reason, StartsWith("ended with 4: "));
}

TEST_F(Provision, APlaybookRunsOverTheInventoryOfTheRunElseOfTheTemplate) {
  ProvisionRun run = playbook(
      "- hosts: workers\n  gather_facts: false\n  tasks:\n"
      "    - ansible.builtin.debug: {msg: \"I am {{ inventory_hostname }}\"}\n");
  put("inventory.yaml", "workers: {hosts: {edge-1: {ansible_connection: local}}}\n");
  EXPECT_THAT(done(run).log, HasSubstr("I am edge-1"));
  run.files = {{"inventory.yaml", "workers: {hosts: {edge-2: {ansible_connection: local}}}\n"}};
  EXPECT_THAT(done(run).log, AllOf(HasSubstr("I am edge-2"), Not(HasSubstr("I am edge-1"))));
}

TEST_F(Provision, SiteYamlStandsForAnActionWithoutAPlaybook) {
  put("site.yaml",
      "- hosts: all\n  gather_facts: false\n  tasks:\n"
      "    - ansible.builtin.debug: {msg: \"asked to {{ exa_action }}\"}\n");
  ProvisionRun run = run_of(ProvisionDriver::ansible);
  run.action = ProvisionAction::destroy;
  EXPECT_THAT(done(run).log, HasSubstr("asked to destroy"));
}

TEST_F(Provision, AFileOfARunIsNoSettingsOfAnsible) {
  ProvisionRun run = playbook("- hosts: all\n  gather_facts: false\n  tasks: []\n");
  run.files = {{"ansible.cfg", "[defaults]\nstdout_callback = no_such_callback\n"}};
  EXPECT_EQ(done(run).outcome, ProvisionOutcome::succeeded);
  put("ansible.cfg", "[defaults]\nstdout_callback = no_such_callback\n");
  EXPECT_THAT(done(run).log, HasSubstr("no_such_callback"));
}

// OpenTofu is in no Debian package: a program of its name shows what exa asks of it.
TEST_F(Provision, OpentofuIsAskedToInitApplyAndPutOut) {
  const std::filesystem::path bin = folder / "bin";
  std::filesystem::create_directory(bin);
  std::ofstream(bin / "tofu") << R"(#!/bin/sh
echo "$@" >>asked
echo "asked: $2" >&2
case $2 in
  output) echo '{"address": {"sensitive": true, "type": "string", "value": "10.0.0.1"}}' ;;
  destroy) echo '| Error: no such machine'; exit 1 ;;
esac
)";
  std::filesystem::permissions(bin / "tofu", std::filesystem::perms(0755));
  put("main.tf", "");
  ProvisionRun run = run_of(ProvisionDriver::opentofu);
  run.program_folders = bin.string() + ":/usr/bin:/bin";
  run.outputs = {"address"};
  const ProvisionResult result = done(run);
  EXPECT_EQ(result.outcome, ProvisionOutcome::succeeded) << result.reason << result.log;
  EXPECT_EQ(result.outputs, (json::object{{"address", "10.0.0.1"}}));
  EXPECT_THAT(result.secret_outputs, ElementsAre("address"));
  EXPECT_EQ(result.log,
            "== tofu init\nasked: init\n== tofu apply\nasked: apply\n"
            "== tofu output\nasked: output\n");
  EXPECT_EQ(text_of(work / "asked"),
            "-chdir=template init -input=false -no-color\n"
            "-chdir=template apply -input=false -no-color -auto-approve "
            "-state=../terraform.tfstate -var-file=../inputs.json\n"
            "-chdir=template output -no-color -json -state=../terraform.tfstate\n");
  run.action = ProvisionAction::destroy;
  EXPECT_EQ(done(run).reason, "tofu destroy ended with 1: no such machine");
  run.action = ProvisionAction::stop;
  EXPECT_THAT(refusal(run).problems[0].message, HasSubstr("not stop"));
}

}  // namespace
}  // namespace exa
