// A folder in which a rendered script runs in bash, with stand-ins for srun, scontrol and flux that
// write down what reached them. EXECUTE=1: they run the program too, once per task.
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <stdlib.h>

#include "base/process.h"
#include "launch/launch_spec.h"

namespace exa {

inline constexpr const char* kScontrol = R"sh(#!/bin/bash
[ -z "${SCONTROL_FAILS:-}" ] || exit 1
case $1 in
show) printf '%s\n' "asked:$*" >>scontrol.calls; printf 'head-1\nnode-2\nnode-3\n' ;;
--oneliner) printf '%s\n' "asked:$*" >>scontrol.calls
    echo "NodeName=$4 Arch=x86_64 NodeAddr=10.1.2.3 NodeHostName=vm Version=22.05.8" ;;
esac
)sh";
// Everything after "--", run once per task. A word ":" would begin another program.
inline constexpr const char* kSrun = R"sh(#!/bin/bash
printf '%s\0' "$@" >srun.argv
echo x >>srun.calls
mapfile -t calls <srun.calls
[ "${#calls[@]}" -gt "${SRUN_FAILS:-0}" ] || exit 7
for word;
do shift; case $word in --ntasks=*) tasks=${word#*=} ;; --) break ;; esac; done
[ -n "${EXECUTE:-}" ] || { /usr/bin/env -0 >task.env; exit 0; }
for ((rank = 0; rank < tasks; rank++)); do SLURM_PROCID=$rank "$@" || exit; done
)sh";
// Words with two braces are Flux's templates, so none may come in.
inline constexpr const char* kFlux = R"sh(#!/bin/bash
case $1 in
hostlist) echo head-1; exit ;;
getattr) echo ƒ2Xy; exit ;;
esac
printf '%s\0' "$@" >srun.argv
shift
while case $1 in --ntasks=*) tasks=${1#*=} ;; --*) ;; *) false ;; esac; do shift; done
for word; do case $word in *'{{'*) exit 9 ;; esac; done
[ -n "${EXECUTE:-}" ] || { /usr/bin/env -0 >task.env; exit 0; }
for ((rank = 0; rank < tasks; rank++)); do FLUX_TASK_RANK=$rank "$@" || exit; done
)sh";
// The program: its words and variables, NUL-separated.
inline constexpr const char* kProgram = R"sh(#!/bin/bash
printf '%s\0' "$@" >"task-${SLURM_PROCID:-${FLUX_TASK_RANK:-0}}.argv"
)sh";

inline std::vector<std::string> split_at_nul(const std::string& text) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, '\0');) parts.push_back(part);
  return parts;
}

class Bench {
 public:
  Bench() {
    std::string pattern = (std::filesystem::temp_directory_path() / "exa-launch.XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    std::filesystem::create_directory(folder_ / "bin");
    put("bin/scontrol", kScontrol);
    put("bin/srun", kSrun);
    put("bin/flux", kFlux);
    put("bin/record", kProgram);
  }
  ~Bench() { std::filesystem::remove_all(folder_); }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  std::string folder() const { return folder_.string(); }
  std::filesystem::path at(const std::string& name) const { return folder_ / name; }

  void put(const std::string& name, std::string_view text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    std::filesystem::permissions(folder_ / name, std::filesystem::perms::owner_all);
  }

  std::string read(const std::string& name) const {
    std::ifstream file(folder_ / name, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  std::vector<std::string> argv(const std::string& name) const { return split_at_nul(read(name)); }
  std::map<std::string, std::string> variables() const {
    std::map<std::string, std::string> list;
    for (const std::string& entry : argv("task.env"))
      list[entry.substr(0, entry.find('='))] = entry.substr(entry.find('=') + 1);
    return list;
  }

  Finished run(std::vector<std::string> argv, Variables environment = {}) {
    environment.emplace_back("PATH", at("bin").string() + ":/usr/bin:/bin");
    auto finished = run_command({.argv = std::move(argv), .extra_env = std::move(environment)});
    if (finished) return *finished;
    ADD_FAILURE() << finished.error().message;
    return {};
  }

  // The script in bash, as the scheduler would start it; its parser sees it first.
  Finished run_script(const Rendered& rendered, Variables environment = {}) {
    put("job", rendered.files.at(0).text);
    const Finished parsed = run({"bash", "-n", at("job")});
    EXPECT_EQ(parsed.exit_code, 0) << parsed.err;
    environment.emplace_back("SLURM_JOB_NODELIST", "head-1,node-[2-3]");
    environment.emplace_back("SLURM_JOB_ID", "4711");
    return run({"bash", at("job")}, std::move(environment));
  }

 private:
  std::filesystem::path folder_;
};  // namespace

}  // namespace exa
