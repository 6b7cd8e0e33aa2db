// Asking Flux, and recognising what it printed.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "discover/flux_table.h"
#include "discover/probe.h"
#include "discover/readers.h"

namespace exa {
namespace {

struct Question {
  std::string_view name;
  std::vector<std::string> argv;
};

// {rlist} makes one look at the scheduler exact for every rank; '|' keeps empty fields apart.
constexpr std::string_view kListFormat =
    "{state}|{queue}|{properties}|{nnodes}|{ncores}|{ngpus}|{rlist}|{nodelist}";
constexpr std::string_view kStatusFormat = "{state}|{nnodes}|{nodelist}|{reason}";

const std::vector<Question>& questions() {
  static const std::vector<Question> all = {
      {"flux version", {"flux", "version"}},
      {"flux resource R", {"flux", "resource", "R"}},
      {"flux resource list", {"flux", "resource", "list", "-o", std::string(kListFormat)}},
      {"flux resource status", {"flux", "resource", "status", "-o", std::string(kStatusFormat)}},
      {"flux resource drain", {"flux", "resource", "drain"}},
      {"flux queue status", {"flux", "queue", "status"}},
      {"flux config get", {"flux", "config", "get"}},
  };
  return all;
}

// Asked when an older Flux refuses the question: it has no {rlist}, or no `flux resource R`.
const std::vector<Question>& instead_of(std::string_view name) {
  static const std::vector<Question> none;
  static const std::vector<Question> list = {
      {"flux resource list", {"flux", "resource", "list"}},
      {"flux resource R -s free", {"flux", "resource", "R", "-s", "free"}},
      {"flux resource R -s allocated", {"flux", "resource", "R", "-s", "allocated"}},
      {"flux resource R -s down", {"flux", "resource", "R", "-s", "down"}}};
  static const std::vector<Question> status = {
      {"flux resource status", {"flux", "resource", "status"}}};
  static const std::vector<Question> whole = {
      {"flux kvs get resource.R", {"flux", "kvs", "get", "resource.R"}}};
  if (name == "flux resource list") return list;
  if (name == "flux resource status") return status;
  if (name == "flux resource R") return whole;
  return none;
}

Result<CapturedOutput> ask(Transport& transport, const Question& question) {
  EXA_ASSIGN(Finished finished, transport.run(question.argv));
  return CapturedOutput{std::string(question.name), question.argv, finished.exit_code,
                        std::move(finished.out), std::move(finished.err)};
}

Result<void> ask_into(Capture& capture, Transport& transport, const Question& question) {
  auto output = ask(transport, question);
  if (!output && output.error().code == Code::not_found)
    return fail(Code::probe_failed, fmt::format("flux is not installed on {}, or not on its PATH",
                                                transport.describe()));
  if (!output) return fail(std::move(output).error());
  const std::vector<Question>& instead = instead_of(question.name);
  bool refused = output->exit_code != 0;
  if (!refused || instead.empty() || instead.front().name != question.name)
    capture.outputs.push_back(std::move(*output));
  if (!refused) return {};
  for (const Question& other : instead) {
    EXA_ASSIGN(CapturedOutput answer, ask(transport, other));
    capture.outputs.push_back(std::move(answer));
  }
  return {};
}

bool answered(const Capture& capture, std::string_view name) {
  return std::any_of(
      capture.outputs.begin(), capture.outputs.end(),
      [&](const CapturedOutput& output) { return output.name == name && output.exit_code == 0; });
}

std::optional<std::string> recognise_json(std::string_view text) {
  bool is_r = text.find("\"R_lite\"") != std::string_view::npos;
  bool may_be_config = text.size() < (size_t{1} << 20) &&
                       (text.find("\"queues\"") != std::string_view::npos ||
                        text.find("\"resource\"") != std::string_view::npos ||
                        text.find("\"sched-fluxion-resource\"") != std::string_view::npos);
  if (!is_r && !may_be_config) return std::nullopt;
  auto document = parse_json(text, "file", tool_output_limits());
  // What says R_lite but is no JSON is still R: reading it will name the place that is wrong.
  if (!document) return is_r ? std::optional<std::string>("flux resource R") : std::nullopt;
  if (const json::value* execution = find(*document, "execution");
      execution && find(*execution, "R_lite")) {
    const json::value* expiration = find(*execution, "expiration");
    bool ends =
        expiration != nullptr && expiration->is_number() && expiration->to_number<double>() > 0;
    return ends ? "flux job info R" : "flux resource R";
  }
  const json::value* resource = find(*document, "resource");
  const json::value* queues = find(*document, "queues");
  bool is_config = find(*document, "sched-fluxion-resource") != nullptr ||
                   (resource && (find(*resource, "path") || find(*resource, "exclude") ||
                                 find(*resource, "noverify"))) ||
                   (queues && queues->is_object() && !queues->get_object().empty() &&
                    find(queues->get_object().begin()->value(), "requires"));
  return is_config ? std::optional<std::string>("flux config get") : std::nullopt;
}

}  // namespace

Result<Capture> probe_flux(const ClusterAddress&, Transport& transport, Time now) {
  Capture capture;
  capture.kind = ClusterKind::flux;
  capture.taken_at = now;
  capture.transport = transport.describe();
  for (const Question& question : questions()) EXA_TRY(ask_into(capture, transport, question));
  if (answered(capture, "flux resource R") || answered(capture, "flux kvs get resource.R") ||
      answered(capture, "flux resource list"))
    return capture;
  std::string why;
  for (const CapturedOutput& output : capture.outputs)
    if (output.name == "flux resource R") why = printable(trim(output.err).substr(0, 300));
  return fail(Code::probe_failed,
              fmt::format("flux answered nothing about its resources on {}: {}",
                          transport.describe(), why.empty() ? "no reason given" : why));
}

std::optional<std::string> recognise_flux(std::string_view raw) {
  std::string_view start = trim(raw.substr(0, 4096));
  if (start.empty()) return std::nullopt;
  if (start.front() == '{') return recognise_json(raw);
  std::string plain = without_colour(start);
  std::string_view header = trim(std::string_view(plain).substr(0, plain.find('\n')));
  auto says = [&](std::string_view word) { return header.find(word) != std::string_view::npos; };
  if (says("Job submission is") || says("Scheduling is st")) return "flux queue status";
  if (header.starts_with("commands:") && plain.find("libflux-core:") != std::string::npos)
    return "flux version";
  if (header.starts_with("QUEUE") && (says("TLIMIT") || says("NNODES"))) return "flux queue list";
  if (!says("NODELIST")) return std::nullopt;
  if (header.starts_with("TIME") && says("STATE") && says("REASON")) return "flux resource drain";
  if (!header.starts_with("STAT") || !says("NNODES")) return std::nullopt;
  return says("NCORES") || says("NGPUS") || says("|LIST|") ? "flux resource list"
                                                           : "flux resource status";
}

}  // namespace exa
