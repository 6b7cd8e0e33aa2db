// What programs put out, as each driver finds it, and the files that they were given.
#include "launch/outputs.h"

#include <chrono>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/driver.h"
#include "launch/manifests_for_test.h"
#include "launch/shell_bench_for_test.h"
#include "launch/specs_for_test.h"

namespace exa {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

struct Printed {
  std::string_view text;
  bool is_cut;
  std::string_view put_out;  // "-": nothing yet
};

TEST(LaunchOutputs, TheLastLineThatSaysSoCounts) {
  constexpr Printed kPrinted[] = {
      {"", false, "-"},
      {"starting\nready\n", false, "-"},
      {"EXA_OUTPUTS {\"a\":1}\n", false, "{\"a\":1}"},
      {"x\nEXA_OUTPUTS {\"a\":1}\ny\nEXA_OUTPUTS {\"a\":2}\nz\n", false, "{\"a\":2}"},
      {"EXA_OUTPUTS {\"a\":1}\r\n", false, "{\"a\":1}"},
      {"EXA_OUTPUTS {\"a\":1}", false, "{\"a\":1}"},
      {"EXA_OUTPUTS {\"a\":1}\nEXA_OUTPUTS {\"a\":", true, "{\"a\":1}"},
      {"EXA_OUTPUTS {\"a\":1}", true, "-"},
      {" EXA_OUTPUTS {\"a\":1}\nsaid EXA_OUTPUTS {}\nEXA_OUTPUTS_DIR {}\nEXA_OUTPUTS\n", false,
       "-"},
  };
  for (const Printed& row : kPrinted) {
    const auto found = outputs_in_log(row.text, row.is_cut);
    EXPECT_EQ(found ? *found : "-", row.put_out) << row.text;
    if (!found) {
      EXPECT_EQ(found.error().code, Code::not_found);
    }
  }
  const auto flood =
      outputs_in_log("EXA_OUTPUTS " + std::string(kMostLaunchOutputs + 1, 'x') + "\n", false);
  ASSERT_FALSE(flood);
  EXPECT_EQ(flood.error().code, Code::unreadable_output);
}

// A folder of a launch, here and behind an `ssh` that does what sshd does.
class OutputsInFolder : public testing::TestWithParam<const char*> {
 protected:
  OutputsInFolder() : path_(::getenv("PATH")) {
    bench_.put("bin/ssh", "#!/bin/sh\nfor last; do :; done\nexec sh -c \"$last\"\n");
    bench_.put("bin/sbatch", "#!/bin/sh\ncat >/dev/null\necho 42\n");
    bench_.put("bin/flux", "#!/bin/sh\ncat >/dev/null\necho f42\n");
    ::setenv("PATH", (bench_.at("bin").string() + ":" + path_).c_str(), 1);
    spec_.project = "default";
    spec_.name = "run";
    spec_.id = fmt::format("test-{}", ::getpid());
    spec_.folder = bench_.folder();
    spec_.command = {"sh", spec_.folder + "/run", "apply"};
    spec_.environment = {{"EXA_OUTPUTS", spec_.folder + "/outputs.json"}};
  }
  ~OutputsInFolder() override { ::setenv("PATH", path_.c_str(), 1); }

  std::unique_ptr<Transport> transport() const {
    return std::string(GetParam()) == "ssh" ? ssh_transport({.destination = "login"}, seconds(20))
                                            : local_transport(seconds(20));
  }
  std::vector<std::unique_ptr<Driver>> drivers() const {
    std::vector<std::unique_ptr<Driver>> all;
    all.push_back(slurm_driver(transport()));
    all.push_back(flux_driver(transport()));
    all.push_back(local_driver(transport()));
    return all;
  }
  // The same of every driver that keeps a folder.
  void expect(const std::optional<std::string>& text, Code code = Code::not_found) {
    for (const auto& driver : drivers()) {
      const auto found = driver->outputs(spec_, "1");
      ASSERT_EQ(found.has_value(), text.has_value());
      if (text) {
        EXPECT_EQ(*found, *text);
      } else {
        EXPECT_EQ(found.error().code, code) << found.error().message;
      }
    }
  }

  std::string path_;
  Bench bench_;
  LaunchSpec spec_;
};

TEST_P(OutputsInFolder, AreTheTextOfTheFile) {
  expect(std::nullopt);
  bench_.put("outputs.json", R"({"url": "http://n1:8080"})");
  expect(R"({"url": "http://n1:8080"})");
  bench_.put("outputs.json", std::string(kMostLaunchOutputs, ' '));
  expect(std::string(kMostLaunchOutputs, ' '));
}

TEST_P(OutputsInFolder, AreReadOnlyFromAPlainFileOfASize) {
  const fs::path file = bench_.at("outputs.json");
  bench_.put("outputs.json", std::string(kMostLaunchOutputs + 1, ' '));
  expect(std::nullopt, Code::unreadable_output);
  fs::remove(file);
  fs::create_symlink("/etc/hostname", file);
  expect(std::nullopt, Code::unreadable_output);
  fs::remove(file);
  fs::create_symlink("/nowhere", file);
  expect(std::nullopt, Code::unreadable_output);
  fs::remove(file);
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  expect(std::nullopt, Code::unreadable_output);
  fs::remove(file);
  fs::create_directory(file);
  expect(std::nullopt, Code::unreadable_output);
}

TEST_P(OutputsInFolder, OfAnEarlierLaunchAreNotThoseOfTheNext) {
  spec_.files = {{"run", "exec sleep 60\n"}};
  for (const auto& driver : drivers()) {
    bench_.put("outputs.json", "{}");
    const auto job = driver->submit(spec_, driver->render(spec_).value());
    ASSERT_TRUE(job) << job.error().message;
    const auto found = driver->outputs(spec_, *job);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, Code::not_found);
  }
  // which of a machine without a scheduler runs already: a second start starts nothing
  const auto local = std::move(drivers().back());
  bench_.put("outputs.json", "{}");
  const auto job = local->submit(spec_, local->render(spec_).value());
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_TRUE(local->outputs(spec_, *job));
  ASSERT_TRUE(local->cancel(spec_, *job));
}

TEST_P(OutputsInFolder, AFileThatTheProgramWasNotToldIsSomebodysOwn) {
  spec_.environment.clear();
  spec_.command = {"true"};
  for (const auto& driver : drivers()) {
    bench_.put("outputs.json", "mine");
    ASSERT_TRUE(driver->submit(spec_, driver->render(spec_).value()));
    EXPECT_EQ(bench_.read("outputs.json"), "mine");
  }
}

TEST_P(OutputsInFolder, AScriptAmongTheFilesRunsByItsNameAndPutsOut) {
  spec_.files = {{"run",
                  "echo \"{\\\"did\\\": \\\"$1\\\"}\" >\"$EXA_OUTPUTS.part\"\n"
                  "mv \"$EXA_OUTPUTS.part\" \"$EXA_OUTPUTS\"\n"}};
  const auto local = local_driver(transport());
  const auto job = local->submit(spec_, local->render(spec_).value());
  ASSERT_TRUE(job) << job.error().message;
  for (int tries = 0; tries < 500 && !local->outputs(spec_, *job); ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(local->outputs(spec_, *job).value_or("nothing"), "{\"did\": \"apply\"}\n");
  struct stat info {};
  ASSERT_EQ(::stat(bench_.at("run").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600);

  fs::remove(bench_.at("outputs.json"));
  const auto ran =
      bench_.run_script(slurm_driver(transport())->render(spec_).value(), {{"EXECUTE", "1"}});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(bench_.read("outputs.json"), "{\"did\": \"apply\"}\n");
}

INSTANTIATE_TEST_SUITE_P(Through, OutputsInFolder, testing::Values("local", "ssh"),
                         [](const auto& row) { return std::string(row.param); });

// --- containers

TEST(ContainerOutputs, OfComposeAreTheLastLineOfItsLog) {
  const std::string path = ::getenv("PATH");
  Bench bench;
  bench.put("bin/docker",
            "#!/bin/sh\n[ \"$1\" = logs ] || exit 1\n"
            "echo 'EXA_OUTPUTS {\"a\": 1}'; echo 'EXA_OUTPUTS {\"a\": 2}' >&2; echo more\n");
  ::setenv("PATH", (bench.at("bin").string() + ":" + path).c_str(), 1);
  const auto driver = compose_driver(local_transport(seconds(20)));
  EXPECT_EQ(driver->outputs(workbench_for_test(), "c1").value_or("nothing"), "{\"a\": 2}");
  bench.put("bin/docker", "#!/bin/sh\nyes | head -c 3000000\n");
  const auto none = driver->outputs(workbench_for_test(), "c1");
  ::setenv("PATH", path.c_str(), 1);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Code::not_found);
}

TEST(KubernetesFiles, LieReadOnlyInTheFolderInWhichTheProgramRuns) {
  LaunchSpec spec = workbench_for_test();
  spec.folder.clear();
  spec.files = {{"run", "#!/bin/sh\necho ${HOME} $(id)\n"}, {"inputs.json", "{\"a\": \"é\"}\n"}};
  EXPECT_EQ(kinds_of(spec).front(), "ConfigMap");
  EXPECT_EQ(kinds_of(spec).back(), "Pod");
  const json::value files = object_of_kind(spec, "ConfigMap");
  EXPECT_EQ(at(files, "/data/run"), "#!/bin/sh\necho ${HOME} $(id)\n");
  EXPECT_EQ(at(files, "/data/inputs.json"), "{\"a\": \"é\"}\n");
  EXPECT_EQ(at(files, "/metadata/labels/exa~1launch-id"), json::value(spec.id));
  const json::value container = at(pod_spec(spec), "/containers/0");
  EXPECT_EQ(at(container, "/workingDir"), "/exa");
  bool mounted = false;
  const json::value mounts = at(container, "/volumeMounts");
  for (const json::value& mount : mounts.as_array())
    mounted =
        mounted || mount == json::value(json::object{
                                {"name", "files"}, {"mountPath", "/exa"}, {"readOnly", true}});
  EXPECT_TRUE(mounted);
  spec.folder = "/work";
  EXPECT_EQ(at(pod_spec(spec), "/containers/0/workingDir"), "/work");
}

TEST(KubernetesFiles, AreTextAndFewerThanAMegabyte) {
  LaunchSpec spec = workbench_for_test();
  spec.files = {{"run", std::string(1'000'000, 'x')}};
  EXPECT_TRUE(render_kubernetes(spec));
  spec.files.push_back({"more", "x"});
  spec.files.push_back({"bytes", "\xff"});
  const auto refused = render_kubernetes(spec);
  ASSERT_FALSE(refused);
  std::vector<std::string> places;
  for (const Problem& problem : refused.error().problems) places.push_back(problem.where);
  EXPECT_THAT(places, ElementsAre("/files/2", "/files"));
}

}  // namespace
}  // namespace exa
