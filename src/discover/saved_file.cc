// Files given with --from: what they are, and the capture that they hold or are.
#include <utility>

#include "base/text.h"
#include "discover/readers.h"

namespace exa {
namespace {

using Readers = std::span<const Reader>;

constexpr std::string_view kCaptureMark = "\"exa_capture\"";
constexpr size_t kMarkWithin = 4096;  // exa writes it first

bool looks_like_a_capture(std::string_view text) {
  const std::string_view start = trim(text.substr(0, kMarkWithin));
  return start.starts_with('{') && start.find(kCaptureMark) != std::string_view::npos;
}

std::string in_quotes(std::string_view file) {
  return "\"" + printable(file) + "\"";
}

Result<Capture> saved_capture(std::string_view text, std::string_view file) {
  EXA_ASSIGN(const json::value value, parse_json(text, file, tool_output_limits()));
  Result<Capture> capture = capture_from_json(value);
  if (!capture) {
    Error error = std::move(capture).error();
    error.message = printable(file) + ": " + error.message;
    return fail(std::move(error));
  }
  return capture;
}

using Recognised = std::pair<ClusterKind, std::string>;

std::vector<Recognised> recognise(std::string_view text, Readers readers) {
  std::vector<Recognised> found;
  for (const Reader& reader : readers)
    if (auto question = reader.recognise(text))
      found.emplace_back(reader.kind, *std::move(question));
  return found;
}

Error wrong_kind(std::string_view file, std::string_view what, ClusterKind is, ClusterKind wanted) {
  return {Code::invalid_input,
          in_quotes(file) + " holds " + std::string(what) + ": its kind is " +
              std::string(name(is)) + ", not " + std::string(name(wanted)),
          {},
          "exa cluster add NAME --kind " + std::string(name(is)),
          {}};
}

Error not_recognised(std::string_view file, std::optional<ClusterKind> kind, Readers readers) {
  Error error;
  error.code = Code::unreadable_output;
  error.message = in_quotes(file) + " is neither a saved capture nor output that exa knows" +
                  (kind ? " of kind " + std::string(name(*kind)) : "");
  error.alternatives.emplace_back("a file of exa cluster capture");
  for (const Reader& reader : readers)
    if (!kind || reader.kind == *kind)
      error.alternatives.push_back(std::string(name(reader.kind)) + ": " +
                                   std::string(reader.raw_outputs));
  return error;
}

Error several_kinds(std::string_view file, const std::vector<Recognised>& found) {
  Error error;
  error.code = Code::unreadable_output;
  error.message =
      in_quotes(file) + " can be read in several ways: a cluster of one kind says which";
  for (const auto& [kind, question] : found)
    error.alternatives.push_back(std::string(name(kind)) + ": " + question);
  error.next = "exa cluster add NAME --kind " + std::string(name(found.front().first));
  return error;
}

Result<Recognised> choose(std::string_view text, std::string_view file,
                          std::optional<ClusterKind> kind, Readers readers) {
  std::vector<Recognised> found = recognise(text, readers);
  if (found.empty()) return fail(not_recognised(file, kind, readers));
  if (!kind) {
    if (found.size() > 1) return fail(several_kinds(file, found));
    return std::move(found.front());
  }
  for (Recognised& one : found)
    if (one.first == *kind) return std::move(one);
  return fail(wrong_kind(file, found.front().second, found.front().first, *kind));
}

}  // namespace

Result<Capture> capture_from_file(std::string_view text, std::string_view file,
                                  std::optional<ClusterKind> kind, Time taken_at, Readers readers) {
  if (trim(text).empty()) return fail(Code::unreadable_output, in_quotes(file) + " is empty");
  if (looks_like_a_capture(text)) {
    EXA_ASSIGN(Capture capture, saved_capture(text, file));
    if (kind && capture.kind != *kind)
      return fail(wrong_kind(file, "a saved capture", capture.kind, *kind));
    return capture;
  }
  EXA_ASSIGN(Recognised recognised, choose(text, file, kind, readers));
  Capture capture;
  capture.kind = recognised.first;
  capture.taken_at = taken_at;
  capture.transport = "file";
  capture.outputs.push_back({std::move(recognised.second), {}, 0, std::string(text), ""});
  return capture;
}

}  // namespace exa
