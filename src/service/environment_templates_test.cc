// Rules of environment templates that need no store: what template.json may say, what a folder's
// digest rests on, what a job is given, and what a template and a compute profile must agree in.
#include "service/environment_templates.h"

#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace exa {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::vector<std::string> lines(const std::vector<Problem>& problems) {
  std::vector<std::string> all;
  for (const Problem& problem : problems) all.push_back(problem.where + " " + problem.message);
  return all;
}

std::string examples(std::string_view name) {
  return fmt::format("{}/environment_templates/{}", EXA_TESTDATA, name);
}

// --- template.json

struct Declared {
  std::string_view text;
  std::vector<std::string> problems;
};

TEST(TemplateFile, WhatItMayNotSayIsToldAllAtOnceWithItsPlace) {
  const Declared kDeclared[] = {
      {"{}", {}},
      {R"({"inputs": {"a": {"type": "secret"}}, "outputs": {"b": {"secret": true}}})", {}},
      {"[]", {"template.json must be an object, not []"}},
      {R"({"imputs": {}})", {"template.json/imputs is not a field of template.json"}},
      {R"({"inputs": []})", {"template.json/inputs must be an object of inputs by name"}},
      {R"({"inputs": {"a": {}}})", {"template.json/inputs/a/type is missing"}},
      {R"({"inputs": {"a": {"type": "int"}, "1b": {"type": "text", "default": 1}}})",
       {"template.json/inputs/a/type \"int\" is no type: text, number, bool, enum, json, "
        "expression, secret",
        "template.json/inputs/1b is no name of an input: letters, digits and '_', no digit first",
        "template.json/inputs/1b/default is not a field of a declared input"}},
      {R"({"inputs": {"a": {"type": "text", "required": "yes"}}})",
       {"template.json/inputs/a/required must be true or false, not \"yes\""}},
      {R"({"outputs": {"a b": {}, "c": {"secret": 1}, "d": {"type": "text"}}})",
       {"template.json/outputs/a b is no name of an output: letters, digits and '_', no digit "
        "first",
        "template.json/outputs/c/secret must be true or false, not 1",
        "template.json/outputs/d/type is not a field of a declared output"}},
  };
  for (const Declared& row : kDeclared) {
    std::vector<Problem> problems;
    declaration_from_json(parse_json(row.text, "template.json").value(), problems);
    EXPECT_EQ(lines(problems), row.problems) << row.text;
  }
}

TEST(TemplateFile, KeepsTheOrderInWhichItDeclares) {
  std::vector<Problem> problems;
  const TemplateDeclaration declared = read_declaration(examples("script"), problems);
  EXPECT_THAT(problems, IsEmpty());
  EXPECT_EQ(declared.inputs, (std::vector<DeclaredInput>{{"gpu_count", InputType::number, true},
                                                         {"greeting", InputType::text, false},
                                                         {"password", InputType::secret, false}}));
  EXPECT_EQ(declared.outputs,
            (std::vector<DeclaredOutput>{
                {"url", false}, {"gpu_count", false}, {"starts", false}, {"token", true}}));
}

// --- folders

class TemplateFolder : public testing::Test {
 protected:
  TemplateFolder() {
    std::string pattern = testing::TempDir() + "exa-template-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    put("template.json", R"({"inputs": {}, "outputs": {}})");
    put("run", "echo hello\n");
    fs::create_directory(folder_ / "files");
    put("files/a", "a");
  }
  ~TemplateFolder() override { fs::remove_all(folder_); }

  void put(const std::string& name, std::string_view text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  std::string digest() const {
    const auto digest = digest_of_folder(folder_);
    EXPECT_TRUE(digest) << digest.error().message;
    return digest.value_or("");
  }

  fs::path folder_;
};

TEST_F(TemplateFolder, ADigestChangesWithNamesContentsAndWhatMayRun) {
  const std::string before = digest();
  EXPECT_EQ(before.size(), 64u);
  const auto changes = [&](auto change, auto back) {
    change();
    EXPECT_NE(digest(), before);
    back();
    EXPECT_EQ(digest(), before);
  };
  const fs::path run = folder_ / "run";
  changes([&] { put("run", "echo HELLO\n"); }, [&] { put("run", "echo hello\n"); });
  changes([&] { fs::permissions(run, fs::perms::owner_all); },
          [&] { fs::permissions(run, fs::perms::owner_read | fs::perms::owner_write); });
  changes([&] { fs::rename(run, folder_ / "ran"); }, [&] { fs::rename(folder_ / "ran", run); });
  changes([&] { fs::rename(folder_ / "files/a", folder_ / "a"); },
          [&] { fs::rename(folder_ / "a", folder_ / "files/a"); });
  changes([&] { fs::create_directory(folder_ / "empty"); }, [&] { fs::remove(folder_ / "empty"); });
  changes([&] { put(".hidden", ""); }, [&] { fs::remove(folder_ / ".hidden"); });
  // who may read it besides its owner is no part of what runs
  fs::permissions(run, fs::perms::owner_read | fs::perms::group_read);
  EXPECT_EQ(digest(), before);
}

TEST_F(TemplateFolder, ADigestOfALargeFileSeesEveryByteOfIt) {
  std::string large(3'000'000, 'x');
  put("large", large);
  const std::string before = digest();
  large[2'999'999] = 'y';
  put("large", large);
  EXPECT_NE(digest(), before);
}

TEST_F(TemplateFolder, WhatIsNeitherFileNorFolderHasNoDigest) {
  const auto refused = [&](const std::string& name) {
    const auto digest = digest_of_folder(folder_);
    ASSERT_FALSE(digest) << name;
    EXPECT_EQ(digest.error().code, Code::invalid_input);
    EXPECT_EQ(digest.error().problems.at(0).where, name);
    fs::remove(folder_ / name);
  };
  fs::create_symlink("/etc/passwd", folder_ / "link");
  refused("link");
  ASSERT_EQ(::mkfifo((folder_ / "fifo").c_str(), 0600), 0);
  refused("fifo");
  // larger than a template may be, without taking the disk
  put("huge", "x");
  fs::resize_file(folder_ / "huge", uintmax_t{300} << 20);
  EXPECT_FALSE(digest_of_folder(folder_));
  EXPECT_FALSE(digest_of_folder(folder_ / "nowhere"));
}

TEST_F(TemplateFolder, AJobIsGivenTextsUnderPlainNames) {
  fs::remove_all(folder_ / "files");
  put("more.sh", "echo more\n");
  const TemplateFiles found = files_in_folder(folder_);
  EXPECT_THAT(found.problems, IsEmpty());
  EXPECT_EQ(found.files,
            (std::vector<RenderedFile>{{"more.sh", "echo more\n"}, {"run", "echo hello\n"}}));
}

TEST_F(TemplateFolder, WhatAJobCannotBeGivenIsNamed) {
  fs::remove(folder_ / "run");
  put("bytes", "\xff\xfe");
  put("inputs.json", "{}");
  put(".git", "");
  fs::create_symlink("/etc/passwd", folder_ / "link");
  std::vector<std::string> told = lines(files_in_folder(folder_).problems);
  std::ranges::sort(told);
  ASSERT_EQ(told.size(), 6u);
  EXPECT_THAT(told[0], HasSubstr(".git is no name of a job's file"));
  EXPECT_THAT(told[1], HasSubstr("bytes is no text"));
  EXPECT_THAT(told[2], HasSubstr("files is a folder"));
  EXPECT_THAT(told[3], HasSubstr("inputs.json is what exa gives a job itself"));
  EXPECT_THAT(told[4], HasSubstr("link is a link"));
  EXPECT_THAT(told[5], HasSubstr("run is missing"));
}

TEST_F(TemplateFolder, AJobIsGivenNoMoreThanASchedulerCarries) {
  fs::remove_all(folder_ / "files");
  put("large", std::string(kMostTemplateBytes, 'x'));
  EXPECT_THAT(lines(files_in_folder(folder_).problems),
              ElementsAre(HasSubstr("holds more than 524288 bytes")));
  put("large", "x");
  for (size_t i = 0; i < kMostTemplateFiles + 5; ++i) put(fmt::format("f{}", i), "x");
  EXPECT_THAT(lines(files_in_folder(folder_).problems),
              testing::Contains(HasSubstr("holds more than 64 files")));
}

// --- as a launch reads it

TEST_F(TemplateFolder, FilesThatWereChangedSinceActivationAreNotCarried) {
  fs::remove_all(folder_ / "files");
  EnvironmentTemplate what;
  what.name = "job";
  what.version = "v1";
  what.driver = TemplateDriver::slurm;
  what.folder = folder_;
  EXPECT_TRUE(files_of(what));  // a draft may change
  what.digest = digest();
  EXPECT_TRUE(files_of(what));
  EXPECT_TRUE(check_unchanged(what, what.folder));
  put("run", "echo other\n");
  const auto refused = files_of(what);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("job@v1 was changed since it was activated"));
  EXPECT_THAT(refused.error().next, HasSubstr("exa environment-template add job --version NEXT"));
  EXPECT_THAT(refused.error().next, Not(HasSubstr(folder_.string())));
}

// --- a template by itself

EnvironmentTemplate described(TemplateDriver driver) {
  EnvironmentTemplate what;
  what.name = "vm";
  what.version = "v1.2";
  what.driver = driver;
  what.folder = "/srv/vm";
  if (driver == TemplateDriver::slurm || driver == TemplateDriver::kubernetes) what.cluster = "c";
  if (driver == TemplateDriver::kubernetes) what.image = "registry.local/vm:1";
  return what;
}

struct Described {
  TemplateDriver driver;
  void (*change)(EnvironmentTemplate&);
  std::vector<std::string> places;
};

TEST(EnvironmentTemplates, WhatDoesNotBelongToADriverIsRefusedByName) {
  using enum TemplateDriver;
  const Described kDescribed[] = {
      {script, [](auto&) {}, {}},
      {ansible, [](auto&) {}, {}},
      {opentofu, [](auto&) {}, {}},
      {slurm, [](auto& t) { t.options = {"gpu", "lab", "high", "", {}, "", 0}; }, {}},
      {kubernetes, [](auto& t) { t.options.name_space = "labs"; }, {}},
      {script, [](auto& t) { t.name = "VM"; }, {"/name"}},
      {script, [](auto& t) { t.version = "v 1"; }, {"/version"}},
      {script, [](auto& t) { t.version = ""; }, {"/version"}},
      {script, [](auto& t) { t.folder = "vm"; }, {"/folder"}},
      {script, [](auto& t) { t.time_limit = {}; }, {"/time_limit"}},
      {script, [](auto& t) { t.time_limit = hours(25); }, {"/time_limit"}},
      {script,
       [](auto& t) {
         t.cluster = "c";
         t.image = "i";
         t.options.partition = "p";
       },
       {"/cluster", "/image", "/partition"}},
      {slurm, [](auto& t) { t.cluster = ""; }, {"/cluster"}},
      {slurm,
       [](auto& t) {
         t.image = "i";
         t.options.name_space = "n";
       },
       {"/image", "/namespace"}},
      {slurm, [](auto& t) { t.options.partition = "two words"; }, {"/partition"}},
      {kubernetes, [](auto& t) { t.image = ""; }, {"/image"}},
      {kubernetes, [](auto& t) { t.image = "two words"; }, {"/image"}},
      {kubernetes,
       [](auto& t) {
         t.options.qos = "q";
         t.options.name_space = "Not/One";
       },
       {"/qos", "/namespace"}},
      {slurm,
       [](auto& t) {
         t.inputs = {{"password", InputType::secret, false}};
         t.outputs = {{"token", true}};
       },
       {"template.json/inputs/password/type"}},
      {kubernetes,
       [](auto& t) {
         t.inputs = {{"password", InputType::secret, false}};
         t.outputs = {{"token", true}};
       },
       {"template.json/inputs/password/type", "template.json/outputs/token/secret"}},
  };
  for (const Described& row : kDescribed) {
    EnvironmentTemplate what = described(row.driver);
    row.change(what);
    std::vector<std::string> places;
    for (const Problem& problem : problems_of(what)) places.push_back(problem.where);
    EXPECT_EQ(places, row.places) << name(row.driver) << ": " << testing::PrintToString(row.places);
  }
}

TEST(EnvironmentTemplates, AreReadBackAsTheyWereKept) {
  EnvironmentTemplate what = described(TemplateDriver::kubernetes);
  what.state = TemplateState::disabled;
  what.digest = std::string(64, 'a');
  what.time_limit = minutes(90);
  what.inputs = {{"a", InputType::choice, true}, {"b", InputType::expression, false}};
  what.outputs = {{"url", false}, {"token", true}};
  what.options.name_space = "labs";
  what.created_by = "ada";
  what.created_at = what.changed_at = Time{1'700'000'000'000'000};
  const auto read = environment_template_from_json(to_json(what));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(to_json(*read), to_json(what));
  json::object stored = to_json(what);
  stored["driver"] = "abacus";
  EXPECT_EQ(environment_template_from_json(stored).error().code, Code::store_damaged);
}

// --- a template and a compute profile

InputSetting setting(std::string name, InputType type) {
  InputSetting input;
  input.name = std::move(name);
  input.type = type;
  return input;
}

// Declares: gpu_count (number, required), size (text, required), note (text); puts out url and
// token (secret).
EnvironmentTemplate declaring(TemplateDriver driver) {
  EnvironmentTemplate what = described(driver);
  what.inputs = {{"gpu_count", InputType::number, true},
                 {"size", InputType::text, true},
                 {"note", InputType::text, false}};
  what.outputs = {{"url", false}, {"token", true}};
  return what;
}

ComputeSku fitting() {
  ComputeSku sku;
  sku.name = "small";
  sku.inputs = {setting("gpu_count", InputType::number), setting("size", InputType::choice)};
  sku.inputs[0].default_value = 1;
  sku.inputs[1].required = true;
  sku.outputs = {{"url", "", "", false}, {"token", "", "", true}};
  return sku;
}

struct Between {
  TemplateDriver driver;
  void (*change)(ComputeSku&);
  std::vector<std::string> problems;
};

TEST(EnvironmentTemplates, AndAComputeProfileMustAgree) {
  using enum TemplateDriver;
  const Between kBetween[] = {
      {script, [](auto&) {}, {}},
      {script, [](auto& s) { s.outputs.clear(); }, {}},
      {script, [](auto& s) { s.outputs[0].is_secret = true; }, {}},
      {script,
       [](auto& s) { s.inputs.push_back(setting("nota", InputType::text)); },
       {"/inputs/nota is no input of vm@v1.2"}},
      {script,
       [](auto& s) { s.inputs.push_back(setting("note", InputType::number)); },
       {"/inputs/note is of type number, and text in vm@v1.2"}},
      {script,
       [](auto& s) { s.inputs.pop_back(); },
       {"/inputs/size is missing, and vm@v1.2 needs it"}},
      {script,
       [](auto& s) { s.inputs[1].required = false; },
       {"/inputs/size may be left out: it is not required and has no default, and vm@v1.2 needs "
        "it"}},
      {script,
       [](auto& s) {
         s.inputs[1].depends_on = {"gpu_count", {2}};
       },
       {"/inputs/size is there only with some values of gpu_count, and vm@v1.2 needs it"}},
      {script,
       [](auto& s) {
         s.outputs.push_back({"uri", "", "", false});
       },
       {"/outputs/uri is no output of vm@v1.2"}},
      {script,
       [](auto& s) { s.outputs[1].is_secret = false; },
       {"/outputs/token is secret in vm@v1.2, and everybody would see it"}},
      {slurm,
       [](auto& s) { s.inputs.push_back(setting("key", InputType::secret)); },
       {"/inputs/key is secret, and vm@v1.2 is submitted to slurm, where it can be read",
        "/inputs/key is no input of vm@v1.2"}},
      {kubernetes,
       [](auto& s) { s.inputs.push_back(setting("note", InputType::secret)); },
       {"/inputs/note is secret, and vm@v1.2 is submitted to kubernetes, where it can be read",
        "/inputs/note is of type secret, and text in vm@v1.2"}},
  };
  for (const Between& row : kBetween) {
    ComputeSku sku = fitting();
    row.change(sku);
    EXPECT_EQ(lines(problems_between(sku, declaring(row.driver))), row.problems);
  }
}

}  // namespace
}  // namespace exa
