// srun's options, as of Slurm 22.05 to 24.11.
#include <fmt/format.h>

#include "base/quote.h"
#include "base/text.h"
#include "launch/vocabulary_slurm.h"
#include "launch/vocabulary_table.h"

namespace exa::vocabulary {
namespace {

constexpr Takes kFlag = Takes::nothing;
constexpr Takes kMaybe = Takes::maybe;

constexpr OptionRow kOptions[] = {
    {"--accel-bind"},
    {"--account", 'A'},
    {"--acctg-freq"},
    {"--bb"},
    {"--bbf"},
    {"--bcast", 0, kMaybe},
    {"--bcast-exclude", 0, kMaybe},
    {"--begin", 'b'},
    {"--chdir", 'D'},
    {"--cluster-constraint"},
    {"--clusters", 'M'},
    {"--comment"},
    {"--compress", 0, kMaybe},
    {"--constraint", 'C'},
    {"--container"},
    {"--container-id"},
    {"--contiguous", 0, kFlag},
    {"--core-spec", 'S'},
    {"--cores-per-socket"},
    {"--cpu-bind"},
    {"--cpu-freq"},
    {"--cpus-per-gpu"},
    {"--cpus-per-task", 'c'},
    {"--deadline"},
    {"--delay-boot"},
    {"--dependency", 'd'},
    {"--disable-status", 'X', kFlag},
    {"--distribution", 'm'},
    {"--epilog"},
    {"--error", 'e'},
    {"--exact", 0, kFlag},
    {"--exclude", 'x'},
    {"--exclusive", 0, kMaybe},
    {"--export"},
    {"--external", 0, kFlag},
    {"--extra"},
    {"--extra-node-info", 'B'},
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
    {"--het-group"},
    {"--hint"},
    {"--hold", 'H', kFlag},
    {"--immediate", 'I', kMaybe},
    {"--input", 'i'},
    {"--interactive", 0, kFlag},
    {"--job-name", 'J'},
    {"--jobid"},
    {"--kill-on-bad-exit", 'K', kMaybe},
    {"--label", 'l', kFlag},
    {"--licenses", 'L'},
    {"--mail-type"},
    {"--mail-user"},
    {"--mcs-label"},
    {"--mem"},
    {"--mem-bind"},
    {"--mem-per-cpu"},
    {"--mem-per-gpu"},
    {"--mincpus"},
    {"--mpi"},
    {"--msg-timeout"},
    {"--multi-prog", 0, kFlag},
    {"--network"},
    {"--nice", 0, kMaybe},
    {"--no-allocate", 'Z', kFlag},
    {"--no-kill", 'k', kMaybe},
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
    {"--overlap", 0, kFlag},
    {"--oversubscribe", 's', kFlag},
    {"--partition", 'p'},
    {"--power"},
    {"--prefer"},
    {"--preserve-env", 'E', kFlag},
    {"--priority"},
    {"--profile"},
    {"--prolog"},
    {"--propagate", 0, kMaybe},
    {"--pty", 0, kMaybe},
    {"--qos", 'q'},
    {"--quiet", 'Q', kFlag},
    {"--quit-on-interrupt", 0, kFlag},
    {"--reboot", 0, kFlag},
    {"--relative", 'r'},
    {"--reservation"},
    {"--resv-ports", 0, kMaybe},
    {"--segment"},
    {"--send-libs", 0, kMaybe},
    {"--signal"},
    {"--slurmd-debug"},
    {"--sockets-per-node"},
    {"--spread-job", 0, kFlag},
    {"--stepmgr", 0, kFlag},
    {"--switches"},
    {"--task-epilog"},
    {"--task-prolog"},
    {"--test-only", 0, kFlag},
    {"--thread-spec"},
    {"--threads", 'T'},
    {"--threads-per-core"},
    {"--time", 't'},
    {"--time-min"},
    {"--tmp"},
    {"--treewidth"},
    {"--tres-bind"},
    {"--tres-per-task"},
    {"--uid"},
    {"--unbuffered", 'u', kFlag},
    {"--usage", 0, kFlag},
    {"--use-min-nodes", 0, kFlag},
    {"--verbose", 'v', kFlag},
    {"--version", 'V', kFlag},
    {"--wait", 'W'},
    {"--wckey"},
    {"--whole", 0, kFlag},
    {"--x11", 0, kMaybe},
};

constexpr std::string_view kPrograms[] = {"srun"};

size_t head(std::string_view) {
  return std::string_view::npos;
}

constexpr OptionGrammar kGrammar = {kPrograms, kOptions, head, ""};

}  // namespace

bool recognises_srun(const Source& source) {
  return begins_with_program(source.text, kPrograms) || is_options_alone(source.text);
}

void read_srun(const Source& source, Reading& reading) {
  read_slurm(parse_options(source, kGrammar, reading), reading);
}

void write_srun(const Writing& writing, Source& target) {
  target.form = Form::script;
  if (!target.text.empty()) return rewrite_slurm(writing, kGrammar, target);
  std::vector<std::string> words = {"srun", fmt::format("--job-name={}", writing.name)};
  for (std::string& option : slurm_options(writing)) words.push_back(std::move(option));
  target.text = shell_line(words) + "\n";
}

}  // namespace exa::vocabulary
