#include "catalogue/compute_sku.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/json_or_null.h"
#include "base/object_reader.h"
#include "base/text.h"
#include "profile/validate.h"

namespace exa {
namespace {

constexpr size_t kLongestLine = 4'096;

using Pairs = std::vector<std::pair<std::string, std::string>>;

json::object pairs_to_json(const Pairs& pairs) {
  json::object object;
  for (const auto& [key, value] : pairs) object[key] = value;
  return object;
}

json::object to_json(const OutputSetting& output) {
  return {{"name", output.name},
          {"label", text_or_null(output.label)},
          {"description", text_or_null(output.description)},
          {"secret", output.is_secret}};
}

json::value template_to_json(const TemplateRef& ref) {
  return {{"name", text_or_null(ref.name)}, {"version", text_or_null(ref.version)}};
}

// --- reading

// Lines are kept: a text of several.
void read_lines(const ObjectReader& reader, std::string_view key, std::string& text) {
  const json::value* value = reader.given(key);
  if (value == nullptr) return;
  if (!value->is_string()) return reader.say(key, "must be a text");
  text = value->get_string();
}

void read_pairs(const ObjectReader& reader, std::string_view key, Pairs& pairs) {
  const json::value* value = reader.given(key);
  if (value == nullptr) return;
  if (!value->is_object()) return reader.say(key, "must be an object of texts");
  for (const auto& [name, text] : value->get_object()) {
    if (text.is_string())
      pairs.emplace_back(name, text.get_string());
    else
      reader.say(key, fmt::format("{} must be a text, not {}", printable(name), to_text(text)));
  }
}

void read_allocation(const ObjectReader& reader, SkuAllocation& allocation) {
  std::string text;
  if (!reader.text("allocation", kLongestLine, text)) return;
  if (const auto found = find_sku_allocation(text)) {
    allocation = *found;
    return;
  }
  const std::vector<std::string> known = {"dedicated", "shared"};
  reader.say("allocation", fmt::format("\"{}\" is not one of dedicated, shared", text),
             did_you_mean(text, known));
}

void read_template(const ObjectReader& reader, std::vector<Problem>& problems, TemplateRef& ref) {
  const json::value* value = reader.given("environment_template");
  if (value == nullptr) return;
  const ObjectReader inner(*value, reader.at("environment_template"), problems);
  inner.text("name", kLongestLine, ref.name);
  inner.text("version", kLongestLine, ref.version);
  inner.refuse_others({"name", "version"}, "the environment template");
}

void read_hardware_profile(const ObjectReader& reader, std::optional<ProfileRef>& profile) {
  std::string text;
  if (!reader.text("hardware_profile", kLongestLine, text)) return;
  if (auto ref = parse_reference(text))
    profile = std::move(*ref);
  else
    reader.say("hardware_profile", ref.error().message);
}

void read_shape_of(const ObjectReader& reader, std::vector<Problem>& problems,
                   std::optional<Shape>& shape) {
  const json::value* value = reader.given("shape");
  if (value == nullptr) return;
  if (!value->is_object()) return reader.say("shape", "must be an object");
  if (auto read = read_shape(value->get_object())) {
    shape = std::move(*read);
    return;
  }
  for (Problem& problem : problems_of_shape(value->get_object())) {
    problem.where = reader.at("shape") + problem.where;
    problems.push_back(std::move(problem));
  }
}

void read_price(const ObjectReader& reader, std::vector<Problem>& problems,
                std::optional<Money>& price) {
  const json::value* value = reader.given("price_per_hour");
  if (value == nullptr) return;
  const ObjectReader inner(*value, reader.at("price_per_hour"), problems);
  inner.refuse_others({"amount", "currency"}, "a price");
  if (!value->is_object()) return;
  inner.require({"amount"});
  std::string currency(kDefaultCurrency);
  inner.text("currency", kLongestLine, currency);
  if (!is_currency(currency))
    return inner.say("currency",
                     fmt::format("\"{}\" is no currency: three capital letters", currency));
  const json::value* amount = inner.given("amount");
  if (amount == nullptr) return;
  const std::string text =
      amount->is_string() ? std::string(amount->get_string()) : exa::to_text(*amount);
  if (auto money = parse_money(text, currency, "the price"))
    price = std::move(*money);
  else
    inner.say("amount", money.error().message);
}

void read_inputs(const ObjectReader& reader, std::vector<Problem>& problems,
                 std::vector<InputSetting>& inputs) {
  const json::array* list = reader.list("inputs", kMostInputs);
  if (list == nullptr) return;
  for (size_t i = 0; i < list->size(); ++i)
    inputs.push_back(input_setting_from_json(
        (*list)[i], pointer(reader.at("inputs"), std::to_string(i)), problems));
}

void read_outputs(const ObjectReader& reader, std::vector<Problem>& problems,
                  std::vector<OutputSetting>& outputs) {
  const json::array* list = reader.list("outputs", kMostOutputs);
  if (list == nullptr) return;
  for (size_t i = 0; i < list->size(); ++i) {
    const ObjectReader inner((*list)[i], pointer(reader.at("outputs"), std::to_string(i)),
                             problems);
    OutputSetting& output = outputs.emplace_back();
    inner.text("name", kLongestLine, output.name);
    inner.text("label", kLongestLine, output.label);
    inner.text("description", kLongestLine, output.description);
    inner.flag("secret", output.is_secret);
    inner.refuse_others({"name", "label", "description", "secret"}, "an output");
  }
}

// Of a value that could not be read, only that is told, not what its absence breaks.
bool is_told(const std::vector<Problem>& told, const Problem& problem) {
  return std::ranges::any_of(told, [&](const Problem& each) {
    const auto is_in = [](std::string_view inner, std::string_view outer) {
      return inner == outer || (inner.starts_with(outer) && inner[outer.size()] == '/');
    };
    return is_in(problem.where, each.where) || is_in(each.where, problem.where);
  });
}

}  // namespace

std::string_view name(SkuAllocation allocation) {
  return allocation == SkuAllocation::dedicated ? "dedicated" : "shared";
}

std::optional<SkuAllocation> find_sku_allocation(std::string_view name) {
  if (name == "dedicated") return SkuAllocation::dedicated;
  if (name == "shared") return SkuAllocation::shared;
  return std::nullopt;
}

json::object to_json(const ComputeSku& sku) {
  json::array inputs;
  for (const InputSetting& input : sku.inputs) inputs.push_back(to_json(input));
  json::array outputs;
  for (const OutputSetting& output : sku.outputs) outputs.push_back(to_json(output));
  json::object object = {{"name", sku.name},
                         {"display_name", text_or_null(sku.display_name)},
                         {"description", text_or_null(sku.description)},
                         {"allocation", name(sku.allocation)},
                         {"environment_template", template_to_json(sku.environment_template)}};
  object["hardware_profile"] =
      sku.hardware_profile ? json::value(to_text(*sku.hardware_profile)) : json::value(nullptr);
  object["shape"] = sku.shape ? json::value(shape_to_json(*sku.shape)) : json::value(nullptr);
  object["labels"] = pairs_to_json(sku.labels);
  object["annotations"] = pairs_to_json(sku.annotations);
  object["icon_url"] = text_or_null(sku.icon_url);
  object["readme"] = text_or_null(sku.readme);
  object["price_per_hour"] = price_or_null(sku.price_per_hour);
  object["inputs"] = std::move(inputs);
  object["outputs"] = std::move(outputs);
  return object;
}

Result<ComputeSku> compute_sku_from_json(const json::value& value) {
  std::vector<Problem> problems;
  const ObjectReader reader(value, "", problems);
  if (!value.is_object()) return fail(invalid("the compute profile", std::move(problems)));
  ComputeSku sku;
  reader.text("name", kLongestLine, sku.name);
  reader.text("display_name", kLongestLine, sku.display_name);
  read_lines(reader, "description", sku.description);
  read_allocation(reader, sku.allocation);
  read_template(reader, problems, sku.environment_template);
  read_hardware_profile(reader, sku.hardware_profile);
  read_shape_of(reader, problems, sku.shape);
  read_pairs(reader, "labels", sku.labels);
  read_pairs(reader, "annotations", sku.annotations);
  reader.text("icon_url", kLongestIconData, sku.icon_url);
  read_lines(reader, "readme", sku.readme);
  read_price(reader, problems, sku.price_per_hour);
  read_inputs(reader, problems, sku.inputs);
  read_outputs(reader, problems, sku.outputs);
  reader.refuse_others({"name", "display_name", "description", "allocation", "environment_template",
                        "hardware_profile", "shape", "labels", "annotations", "icon_url", "readme",
                        "price_per_hour", "inputs", "outputs"},
                       "a compute profile");
  const std::vector<Problem> told = problems;
  for (Problem& problem : problems_of(sku))
    if (!is_told(told, problem)) problems.push_back(std::move(problem));
  if (!problems.empty()) return fail(invalid("the compute profile", std::move(problems)));
  return sku;
}

}  // namespace exa
