// vLLM's server. docs.vllm.ai, "Parallelism and scaling": tensor parallel size is the devices of a
// node, pipeline parallel size the nodes; on several nodes every one runs the same command with its
// rank, and all but the first with --headless.
#include <fmt/format.h>

#include "base/quantity.h"
#include "hardware/engine.h"
#include "launch/serving.h"

namespace exa {
namespace {

// Fixed text; what is run stands behind it as arguments and is never read by the shell.
constexpr const char* kHeadlessBehindTheFirst =
    R"(rank=$1; shift; if [ "$rank" != 0 ]; then set -- "$@" --headless; fi; exec "$@")";

// vLLM takes nine tenths of a device's memory unless told otherwise, which leaves room for what it
// does not count; of a part of a device, nine tenths of that part.
std::string utilization_of(int64_t fraction_milli) {
  return format_milli(std::max<int64_t>(fraction_milli * 9 / 10, 1));
}

}  // namespace

CommandLine vllm_command(const ServedModel& model, const Resources& resources) {
  CommandLine command;
  const bool several = resources.nodes > 1;
  if (several) command = {"sh", "-c", kHeadlessBehindTheFirst, "vllm", Word{RunTime::node_rank}};
  const auto add = [&](std::initializer_list<Word> words) {
    command.insert(command.end(), words.begin(), words.end());
  };
  add({"vllm", "serve", model.model, "--served-model-name", model.name, "--port",
       std::to_string(model.port), "--tensor-parallel-size", std::to_string(resources.gpus),
       "--pipeline-parallel-size", std::to_string(resources.nodes)});
  if (several) {
    add({"--nnodes", std::to_string(resources.nodes), "--node-rank", Word{RunTime::node_rank},
         "--master-addr", Word{RunTime::head_node}});
  }
  if (resources.fraction_milli < 1000)
    add({"--gpu-memory-utilization", utilization_of(resources.fraction_milli)});
  for (const std::string& word : model.words) command.emplace_back(word);
  return command;
}

std::vector<Problem> problems_of_vllm(const ServedModel& model, const Resources& resources) {
  std::vector<Problem> problems;
  const std::string base = pointer(pointer("", model.name), "resources");
  const auto say = [&](std::string_view field, std::string message, std::string suggestion) {
    problems.push_back({base + std::string(field), std::move(message), std::move(suggestion)});
  };
  const Engine* engine = find_engine(shipped_engines(), "vllm");
  if (resources.gpus == 0) {
    say("/gpu", "vLLM serves on devices, and none is asked for", "1 or more");
  } else if (const std::string why = why_not_portable(*engine, resources.family); !why.empty()) {
    say("/accelerator_family", why, "");
  }
  // a process of CUDA sees one instance, whatever it was given
  if (!resources.mig_profile.empty() && resources.gpus > 1) {
    say("/mig_profile", fmt::format("a model is not spread over {} MIG instances", resources.gpus),
        "one instance, or whole devices");
  }
  if (resources.fraction_milli < 1000 && resources.gpus > 1) {
    say("/gpu_fraction",
        fmt::format("a model is not spread over parts of {} devices", resources.gpus),
        "one device, or a fraction of 1");
  }
  return problems;
}

}  // namespace exa
