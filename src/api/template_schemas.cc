// Replies about environment templates.
#include "api/schema.h"
#include "service/environment_templates.h"

namespace exa {

using namespace schema;

namespace {

Members environment_template() {
  return {
      {"name", text()},
      {"version", text()},
      {"driver", word(TemplateDriver::kubernetes)},
      {"state", word(TemplateState::disabled)},
      {"folder", maybe(text())},
      {"digest", maybe(text())},
      {"time_limit", text()},
      {"inputs",
       list(object({{"name", text()}, {"type", word(InputType::secret)}, {"required", yes_no()}}))},
      {"outputs", list(object({{"name", text()}, {"secret", yes_no()}}))},
      {"cluster", maybe(text())},
      {"image", maybe(text())},
      {"partition", maybe(text())},
      {"account", maybe(text())},
      {"qos", maybe(text())},
      {"namespace", maybe(text())},
      {"created_at", time()},
      {"created_by", text()},
      {"changed_at", time()}};
}

}  // namespace

std::vector<ReplySchema> template_schemas() {
  return {
      {"EnvironmentTemplate", object(environment_template() + Members{{"problems", list(text())}})},
      {"EnvironmentTemplateList", page(object(environment_template()))},
      {"RemovedEnvironmentTemplate",
       object({{"name", text()}, {"version", text()}, {"removed", yes_no()}})},
  };
}

}  // namespace exa
