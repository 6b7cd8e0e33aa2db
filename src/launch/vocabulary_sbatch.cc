// sbatch's options, as of Slurm 22.05 to 24.11.
#include <fmt/format.h>

#include "base/text.h"
#include "launch/vocabulary_slurm.h"
#include "launch/vocabulary_table.h"

namespace exa::vocabulary {
namespace {

constexpr Takes kFlag = Takes::nothing;
constexpr Takes kMaybe = Takes::maybe;

constexpr OptionRow kOptions[] = {
    {"--account", 'A'},
    {"--acctg-freq"},
    {"--array", 'a'},
    {"--batch"},
    {"--bb"},
    {"--bbf"},
    {"--begin", 'b'},
    {"--chdir", 'D'},
    {"--cluster-constraint"},
    {"--clusters", 'M'},
    {"--comment"},
    {"--constraint", 'C'},
    {"--container"},
    {"--container-id"},
    {"--contiguous", 0, kFlag},
    {"--core-spec", 'S'},
    {"--cores-per-socket"},
    {"--cpu-freq"},
    {"--cpus-per-gpu"},
    {"--cpus-per-task", 'c'},
    {"--deadline"},
    {"--delay-boot"},
    {"--dependency", 'd'},
    {"--distribution", 'm'},
    {"--error", 'e'},
    {"--exclude", 'x'},
    {"--exclusive", 0, kMaybe},
    {"--export"},
    {"--export-file"},
    {"--extra"},
    {"--extra-node-info", 'B'},
    {"--get-user-env", 0, kMaybe},
    {"--gid"},
    {"--gpu-bind"},
    {"--gpu-freq"},
    {"--gpus", 'G'},
    {"--gpus-per-node"},
    {"--gpus-per-socket"},
    {"--gpus-per-task"},
    {"--gres"},
    {"--gres-flags"},
    {"--help", 'h', kFlag},
    {"--hint"},
    {"--hold", 'H', kFlag},
    {"--ignore-pbs", 0, kFlag},
    {"--input", 'i'},
    {"--job-name", 'J'},
    {"--kill-on-invalid-dep"},
    {"--licenses", 'L'},
    {"--mail-type"},
    {"--mail-user"},
    {"--mcs-label"},
    {"--mem"},
    {"--mem-bind"},
    {"--mem-per-cpu"},
    {"--mem-per-gpu"},
    {"--mincpus"},
    {"--network"},
    {"--nice", 0, kMaybe},
    {"--no-kill", 'k', kMaybe},
    {"--no-requeue", 0, kFlag},
    {"--nodefile", 'F'},
    {"--nodelist", 'w'},
    {"--nodes", 'N'},
    {"--ntasks", 'n'},
    {"--ntasks-per-core"},
    {"--ntasks-per-gpu"},
    {"--ntasks-per-node"},
    {"--ntasks-per-socket"},
    {"--oom-kill-step", 0, kMaybe},
    {"--open-mode"},
    {"--output", 'o'},
    {"--overcommit", 'O', kFlag},
    {"--oversubscribe", 's', kFlag},
    {"--parsable", 0, kFlag},
    {"--partition", 'p'},
    {"--power"},
    {"--prefer"},
    {"--priority"},
    {"--profile"},
    {"--propagate", 0, kMaybe},
    {"--qos", 'q'},
    {"--quiet", 'Q', kFlag},
    {"--reboot", 0, kFlag},
    {"--requeue", 0, kFlag},
    {"--reservation"},
    {"--resv-ports", 0, kMaybe},
    {"--segment"},
    {"--signal"},
    {"--sockets-per-node"},
    {"--spread-job", 0, kFlag},
    {"--stepmgr", 0, kFlag},
    {"--switches"},
    {"--test-only", 0, kFlag},
    {"--thread-spec"},
    {"--threads-per-core"},
    {"--time", 't'},
    {"--time-min"},
    {"--tmp"},
    {"--tres-bind"},
    {"--tres-per-task"},
    {"--uid"},
    {"--usage", 0, kFlag},
    {"--use-min-nodes", 0, kFlag},
    {"--verbose", 'v', kFlag},
    {"--version", 'V', kFlag},
    {"--wait", 'W', kFlag},
    {"--wait-all-nodes"},
    {"--wckey"},
    {"--wrap"},
};

constexpr std::string_view kPrefix = "#SBATCH";
constexpr std::string_view kPrograms[] = {"sbatch"};

size_t head(std::string_view line) {
  if (!line.starts_with(kPrefix) || line.size() == kPrefix.size()) return line.npos;
  const char next = line[kPrefix.size()];
  return next == ' ' || next == '\t' ? kPrefix.size() : line.npos;
}

constexpr OptionGrammar kGrammar = {kPrograms, kOptions, head, "#SBATCH "};

}  // namespace

bool is_slurm_script(std::string_view) {
  return true;
}

bool recognises_sbatch(const Source& source) {
  return has_head(source.text, kGrammar) || begins_with_program(source.text, kPrograms) ||
         is_options_alone(source.text);
}

void read_sbatch(const Source& source, Reading& reading) {
  read_slurm(parse_options(source, kGrammar, reading), reading);
}

void write_sbatch(const Writing& writing, Source& target) {
  target.form = Form::script;
  if (!target.text.empty()) return rewrite_slurm(writing, kGrammar, target);
  target.text = fmt::format("#!/bin/sh\n#SBATCH --job-name={}\n", writing.name);
  for (const std::string& option : slurm_options(writing))
    target.text += fmt::format("#SBATCH {}\n", option);
}

}  // namespace exa::vocabulary
