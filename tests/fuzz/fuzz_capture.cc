// Any bytes as a file given with --from: refused by name, or a capture that is saved and replayed
// as it was and that its reader answers.
#include "discover/readers.h"

namespace exa {
namespace {

constexpr Time kTakenAt{1'800'000'000'000'000};

void check_replay(const Capture& capture) {
  const auto saved = parse_json(to_text(to_json(capture)), "saved", tool_output_limits());
  EXA_ASSERT(saved.has_value());
  const auto replayed = capture_from_json(*saved);
  EXA_ASSERT(replayed && to_text(to_json(*replayed)) == to_text(to_json(capture)));
}

void check_reading(const Capture& capture) {
  const auto inventory = read_capture(capture);
  if (!inventory) {
    EXA_ASSERT(!inventory.error().message.empty());
    return;
  }
  EXA_ASSERT(inventory->kind == capture.kind);
  // nothing at all is never a reading: either a node was seen or the answer says what was not read
  EXA_ASSERT(!inventory->nodes.empty() || !inventory->unread.empty());
}

}  // namespace
}  // namespace exa

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto capture = exa::capture_from_file(text, "fuzz", std::nullopt, exa::kTakenAt);
  if (!capture) {
    EXA_ASSERT(!capture.error().message.empty());
    return 0;
  }
  exa::check_replay(*capture);
  exa::check_reading(*capture);
  return 0;
}
