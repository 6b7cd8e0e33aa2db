// Any JSON as what an API server says of a launch: a state, never an end that nobody told.
#include "launch/kubernetes_status.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto said = exa::parse_json(text, "fuzz");
  if (!said) return 0;
  const exa::json::value* main = exa::find(*said, "main");
  const exa::json::value* pods = exa::find(*said, "pods");
  if (main == nullptr || pods == nullptr || !pods->is_array()) return 0;
  const exa::Observed seen = exa::kubernetes::observed_of(*main, pods->get_array());
  const bool over = seen.state == exa::JobState::succeeded || seen.state == exa::JobState::failed;
  EXA_ASSERT(over || !seen.ended);
  EXA_ASSERT(seen.job.empty());
  (void)exa::kubernetes::pod_with_the_log(pods->get_array());
  return 0;
}
