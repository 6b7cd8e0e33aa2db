// A template and a work folder for the tests of runs, and what a run leaves to be seen.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include "provision/provision.h"

namespace exa {

inline std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// Cancels once a file is there.
class CancelWhen final : public Progress {
 public:
  explicit CancelWhen(std::filesystem::path file) : file_(std::move(file)) {}
  void at(std::string_view what, int64_t done, int64_t) override {
    told = std::to_string(done) + " " + std::string(what);
  }
  bool cancelled() const override { return std::filesystem::exists(file_); }
  std::string told;

 private:
  std::filesystem::path file_;
};

class ProvisionBench : public testing::Test {
 protected:
  ProvisionBench() {
    std::string name = (std::filesystem::temp_directory_path() / "exa_provision_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    folder = name;
    work = folder / "work";
    template_folder = folder / "template";
    std::filesystem::create_directory(template_folder);
  }
  ~ProvisionBench() override { std::filesystem::remove_all(folder); }

  void put(const std::string& name, const std::string& text, bool is_program = false) const {
    const std::filesystem::path file = template_folder / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    std::filesystem::permissions(
        file, is_program ? std::filesystem::perms(0755) : std::filesystem::perms(0644));
  }

  // A run of the driver script, whose program is this shell script.
  ProvisionRun script(const std::string& lines) const {
    put("run", "#!/bin/sh\n" + lines + "\n", true);
    return run_of(ProvisionDriver::script);
  }
  ProvisionRun playbook(const std::string& yaml) const {
    put("apply.yaml", yaml);
    return run_of(ProvisionDriver::ansible);
  }
  ProvisionRun run_of(ProvisionDriver driver) const {
    ProvisionRun run;
    run.driver = driver;
    run.template_folder = template_folder;
    run.work_folder = work;
    run.time_limit = minutes(2);
    run.grace = {300'000};
    return run;
  }

  static ProvisionResult done(const ProvisionRun& run, Progress& progress = unwatched()) {
    auto result = run_provision(run, system_clock(), progress);
    EXPECT_TRUE(result) << result.error().message
                        << (result.error().problems.empty() ? ""
                                                            : result.error().problems[0].message);
    return result ? *result : ProvisionResult{};
  }
  static Error refusal(const ProvisionRun& run) {
    const auto result = run_provision(run, system_clock());
    EXPECT_FALSE(result);
    return result ? Error{} : result.error();
  }

  // Names and contents of all that lies in a folder.
  static std::map<std::string, std::string> picture(const std::filesystem::path& of) {
    std::map<std::string, std::string> all;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(of))
      all[entry.path()] = entry.is_regular_file() ? text_of(entry.path()) : "";
    return all;
  }

  // Whether a process whose number a script wrote into this file of the work folder still runs.
  bool lives(const std::string& pid_file) const {
    const std::string pid = text_of(work / pid_file);
    EXPECT_FALSE(pid.empty()) << pid_file;
    const std::string state = text_of("/proc/" + pid.substr(0, pid.find('\n')) + "/stat");
    return !state.empty() && state.find(") Z") == std::string::npos;
  }

  static bool appears(const std::filesystem::path& file) {
    for (int i = 0; i < 1000; ++i) {
      if (std::filesystem::exists(file)) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }

  std::filesystem::path folder;
  std::filesystem::path work;
  std::filesystem::path template_folder;
};

}  // namespace exa
