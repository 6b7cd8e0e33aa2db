#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "base/yaml.h"
#include "catalogue/input_values.h"
#include "catalogue/rafay.h"
#include "catalogue/rafay_fields.h"

namespace exa {
namespace {

// One part of the document: what is read of it is taken, and the rest is noted.
class Reader {
 public:
  std::vector<Problem> problems;
  std::vector<RafayNote> notes;
  std::map<std::string, std::string> places;  // pointers of the SKU's JSON: where that is read

  void take(std::string pointer) { taken_.insert(std::move(pointer)); }

  void note_rest(const json::value& value, const std::string& where) {
    if (taken_.contains(where)) return;
    const auto below = taken_.lower_bound(where + "/");
    const bool some_taken = below != taken_.end() && below->starts_with(where + "/");
    if (!some_taken)
      return notes.push_back({where, "is kept in the document and means nothing here"});
    if (const auto* object = value.if_object())
      for (const auto& member : *object) note_rest(member.value(), pointer(where, member.key()));
    if (const auto* list = value.if_array())
      for (size_t i = 0; i < list->size(); ++i)
        note_rest((*list)[i], pointer(where, std::to_string(i)));
  }

 private:
  std::set<std::string> taken_;
};

struct Variable {
  const json::object& object;
  std::string where;
  Reader& reader;

  // A member of nested objects as text ("options/override/type"); taken. Numbers and booleans are
  // texts in Rafay's documents as often as not.
  std::string text(std::string_view path) const {
    const json::value* value = rafay::at_path(object, path);
    if (value == nullptr || value->is_null()) return {};
    if (value->is_structured()) {
      reader.problems.push_back({at(path), "must be a text", ""});
      return {};
    }
    reader.take(at(path));
    return value->is_string() ? std::string(value->get_string()) : to_text(*value);
  }
  bool flag(std::string_view path) const { return text(path) == "true"; }
  std::string at(std::string_view path) const { return fmt::format("{}/{}", where, path); }
  void note(std::string_view path, std::string message) const {
    reader.notes.push_back({at(path), std::move(message)});
  }
};

// The value of a text, as the input's type has it.
std::optional<json::value> typed(const InputSetting& input, const std::string& text,
                                 const std::string& where, Reader& reader) {
  InputSetting plain = input;
  plain.override_ = InputOverride::allowed;
  auto value = input_from_text(plain, text);
  if (value) return std::move(*value);
  reader.problems.push_back({where, value.error().message, ""});
  return std::nullopt;
}

void read_type(const Variable& variable, InputSetting& input) {
  const std::string type = variable.text("valueType");
  const bool is_stepper = variable.text("options/displayMetadata/type") == "incrementDecrement";
  if (variable.flag("options/sensitive")) {
    input.type = InputType::secret;
  } else if (type == "json") {
    input.type = InputType::json;
  } else if (type == "expression") {
    input.type = InputType::expression;
  } else if (type == "hcl") {
    variable.note("valueType", "there is no HCL here: it is passed on as text");
  } else if (!type.empty() && type != "text") {
    variable.reader.problems.push_back(
        {variable.at("valueType"),
         fmt::format("\"{}\" is not one of text, expression, json, hcl", printable(type)), ""});
  } else if (is_stepper) {
    input.type = InputType::number;
  }
}

void read_bounds(const Variable& variable, InputSetting& input) {
  const std::pair<std::string_view, std::optional<int64_t>*> bounds[] = {
      {"options/displayMetadata/incrementDecrementMin", &input.min_micros},
      {"options/displayMetadata/incrementDecrementMax", &input.max_micros},
      {"options/displayMetadata/incrementDecrementStep", &input.step_micros}};
  if (input.type != InputType::number) return;
  for (const auto& [path, bound] : bounds) {
    const std::string text = variable.text(path);
    if (text.empty()) continue;
    const auto number = input_number(text);
    if (number)
      *bound = *number;
    else
      variable.reader.problems.push_back({variable.at(path), number.error().message, ""});
  }
}

void add_listed(const Variable& variable, std::string_view path, const json::value& value,
                InputSetting& input) {
  const std::string text = value.is_string() ? std::string(value.get_string()) : to_text(value);
  if (auto one = typed(input, text, variable.at(path), variable.reader))
    input.allowed_values.push_back(std::move(*one));
}

void read_restricted(const Variable& variable, InputSetting& input) {
  for (const std::string_view path :
       {"options/override/restrictedValues", "options/override/restricted_values"}) {
    const json::value* list = rafay::at_path(variable.object, path);
    if (list == nullptr || !list->is_array()) continue;
    variable.reader.take(variable.at(path));
    for (const json::value& value : list->get_array()) add_listed(variable, path, value, input);
  }
}

void read_key_values(const Variable& variable, InputSetting& input) {
  for (const std::string_view path :
       {"options/override/restrictedKeyValues", "options/override/restricted_key_values"}) {
    const json::value* map = rafay::at_path(variable.object, path);
    if (map == nullptr || !map->is_object()) continue;
    variable.reader.take(variable.at(path));
    for (const auto& [label, value] : map->get_object()) {
      const std::string text = value.is_string() ? std::string(value.get_string()) : to_text(value);
      if (auto one = typed(input, text, variable.at(path), variable.reader))
        input.labelled_values.emplace_back(label, std::move(*one));
    }
  }
}

// What the form offers where anything is allowed becomes the rule.
void read_offered(const Variable& variable, InputSetting& input) {
  const std::string form = variable.text("options/displayMetadata/type");
  const std::string_view path = form == "radio" ? "options/displayMetadata/radioOptions"
                                                : "options/displayMetadata/dropdownValues";
  if (input.override_ != InputOverride::allowed || input.type == InputType::secret ||
      (form != "radio" && form != "dropdown"))
    return;
  const json::value* list = rafay::at_path(variable.object, path);
  if (list == nullptr || !list->is_array() || list->get_array().empty()) return;
  variable.reader.take(variable.at(path));
  for (const json::value& option : list->get_array()) {
    const std::string text(text_or(option, "value", ""));
    const std::string label(text_or(option, "label", text));
    if (auto one = typed(input, text, variable.at(path), variable.reader))
      input.labelled_values.emplace_back(label.empty() ? text : label, std::move(*one));
  }
  input.override_ = InputOverride::restricted_key_values;
  variable.note(path, "the form only offers these: here nothing else is taken");
}

void read_override(const Variable& variable, InputSetting& input) {
  const std::string word = variable.text("options/override/type");
  const auto override_ =
      word.empty() ? std::optional(InputOverride::allowed) : rafay::find_override(word);
  if (!override_) {
    variable.reader.problems.push_back(
        {variable.at("options/override/type"),
         fmt::format("override \"{}\" of {} is not known: allowed, notallowed, restricted or "
                     "restricted_key_values",
                     printable(word), input.name),
         ""});
    return;
  }
  input.override_ = *override_;
  if (input.override_ == InputOverride::restricted) read_restricted(variable, input);
  if (input.override_ == InputOverride::restricted_key_values) read_key_values(variable, input);
  read_offered(variable, input);
}

void fix(InputSetting& input) {
  input.override_ = InputOverride::not_allowed;
  input.allowed_values.clear();
  input.labelled_values.clear();
}

// Rules that are fixed here because nothing says them otherwise.
void read_locks(const Variable& variable, InputSetting& input) {
  if (input.type == InputType::secret) {
    if (input.override_ != InputOverride::allowed)
      variable.note("options/override", "a secret is given by whoever launches");
    input.override_ = InputOverride::allowed;
    input.allowed_values.clear();
    input.labelled_values.clear();
    return;
  }
  for (const std::string_view path :
       {"options/override/multiSelect", "options/override/multi_select"})
    if (variable.flag(path)) {
      fix(input);
      variable.note(path, "there is no choice of several here: it is fixed at its value");
    }
  if (variable.flag("options/displayMetadata/disabled") &&
      input.override_ != InputOverride::not_allowed) {
    fix(input);
    variable.note("options/displayMetadata/disabled",
                  "the form does not let it be changed: here it is fixed");
  }
}

// Rafay does not say whether a value of labels is the label or what it stands for: both are read.
json::value label_of(const InputSetting& input, const json::value& value, const std::string& text) {
  for (const auto& [label, stands_for] : input.labelled_values)
    if (label == text) return json::string(label);
  for (const auto& [label, stands_for] : input.labelled_values)
    if (stands_for == value) return json::string(label);
  return json::string(text);
}

void read_default(const Variable& variable, InputSetting& input) {
  const json::value* value = find(variable.object, "value");
  const bool has_value = value != nullptr && !value->is_null() && value->is_primitive();
  if (input.type == InputType::secret) {
    variable.reader.take(variable.at("value"));
    if (has_value && *value != "")
      variable.note("value", "the value of a secret is not carried over");
    return;
  }
  const std::string text = variable.text("value");
  const bool is_fixed = input.override_ == InputOverride::not_allowed;
  if (text.empty()) {
    if (is_fixed && input.type != InputType::json) {
      input.type = InputType::text;  // nothing, for everybody
      input.min_micros = input.max_micros = input.step_micros = std::nullopt;
      input.default_value = "";
    } else if (is_fixed) {
      input.default_value = json::object();
    }
    return;
  }
  if (input.override_ == InputOverride::restricted_key_values) {
    InputSetting plain = input;
    plain.override_ = InputOverride::allowed;
    const auto read = input_from_text(plain, text);
    input.default_value = label_of(input, read ? *read : json::value(text), text);
    return;
  }
  input.default_value = typed(input, text, variable.at("value"), variable.reader);
}

InputSetting read_variable(const Variable& variable) {
  InputSetting input;
  const std::string called = variable.text("name");
  const std::string alias = variable.text("options/displayMetadata/alias");
  input.name = rafay::input_name_of(called);
  input.label = !alias.empty() ? alias : input.name == called ? "" : called;
  if (input.name.empty())
    variable.reader.problems.push_back(
        {variable.at("name"), fmt::format("\"{}\" leaves no name of an input", printable(called)),
         ""});
  input.description = variable.text("options/description");
  input.group = variable.text("options/displayMetadata/section");
  input.required = variable.flag("options/required");
  read_type(variable, input);
  read_bounds(variable, input);
  read_override(variable, input);
  read_locks(variable, input);
  read_default(variable, input);
  return input;
}

// --- the document around the variables

void set_text(ComputeSku& sku, std::string_view field, const std::string& text,
              const std::string& where, Reader& reader) {
  if (field == "name") sku.name = text;
  if (field == "display_name") sku.display_name = text;
  if (field == "description") sku.description = text;
  if (field == "environment_template/name") sku.environment_template.name = text;
  if (field == "environment_template/version") sku.environment_template.version = text;
  if (field == "icon_url") sku.icon_url = text;
  if (field == "readme") sku.readme = text;
  if (field != "allocation" || text.empty()) return;
  if (const auto allocation = find_sku_allocation(lower(text)))
    sku.allocation = *allocation;
  else
    reader.problems.push_back(
        {where, fmt::format("\"{}\" is not one of dedicated, shared", printable(text)), ""});
}

void read_texts(const json::object& document, ComputeSku& sku, Reader& reader) {
  for (const rafay::TextField& row : rafay::text_fields()) {
    reader.places[fmt::format("/{}", row.field)] = fmt::format("/{}", row.places.front());
    for (const std::string_view place : row.places) {
      const json::value* value = rafay::at_path(document, place);
      if (value == nullptr || !value->is_string()) continue;
      const std::string where = fmt::format("/{}", place);
      reader.take(where);
      reader.places[fmt::format("/{}", row.field)] = where;
      set_text(sku, row.field, std::string(value->get_string()), where, reader);
      break;
    }
  }
}

void read_pairs(const json::object& document, std::string_view path,
                std::vector<std::pair<std::string, std::string>>& pairs, Reader& reader) {
  const json::value* map = rafay::at_path(document, path);
  if (map == nullptr || !map->is_object()) return;
  const std::string where = fmt::format("/{}", path);
  for (const auto& [key, value] : map->get_object()) {
    if (!value.is_string()) continue;
    reader.take(pointer(where, key));
    pairs.emplace_back(key, value.get_string());
  }
}

// Only a price of the whole instance by the hour is the price an hour.
void read_price(const json::object& document, ComputeSku& sku, Reader& reader) {
  constexpr std::string_view kPath = "status/globalSettings/billing/ratecard/instance";
  const json::value* list = rafay::at_path(document, kPath);
  if (list == nullptr || !list->is_array() || list->get_array().size() != 1) return;
  const json::value& rate = list->get_array().front();
  const json::value* price = find(rate, "price");
  const std::string where = fmt::format("/{}/0", kPath);
  if (text_or(rate, "time_unit", "") != "h" || price == nullptr || price->is_structured()) return;
  const std::string text = price->is_string() ? std::string(price->get_string()) : to_text(*price);
  auto money = parse_money(text, text_or(rate, "currency", ""), "the price");
  if (!money) return reader.notes.push_back({where, money.error().message});
  sku.price_per_hour = std::move(*money);
  reader.take(where);
}

void read_variables(const json::object& document, ComputeSku& sku, Reader& reader) {
  const json::value* list = rafay::at_path(document, "spec/variables");
  if (list == nullptr || list->is_null()) return;
  if (!list->is_array())
    return reader.problems.push_back({"/spec/variables", "must be a list", ""});
  for (size_t i = 0; i < list->get_array().size() && i <= kMostInputs; ++i) {
    const std::string where = fmt::format("/spec/variables/{}", i);
    reader.places[fmt::format("/inputs/{}", i)] = where;
    const auto* object = list->get_array()[i].if_object();
    if (object == nullptr) reader.problems.push_back({where, "must be an object", ""});
    sku.inputs.push_back(object == nullptr ? InputSetting()
                                           : read_variable({*object, where, reader}));
  }
}

void read_outputs(const json::object& document, ComputeSku& sku, Reader& reader) {
  const json::value* list = rafay::at_path(document, "spec/outputs");
  if (list == nullptr || !list->is_array()) return;
  for (size_t i = 0; i < list->get_array().size() && i <= kMostOutputs; ++i) {
    const std::string where = fmt::format("/spec/outputs/{}", i);
    const auto* object = list->get_array()[i].if_object();
    if (object == nullptr) {
      reader.problems.push_back({where, "must be an object", ""});
      continue;
    }
    reader.places[fmt::format("/outputs/{}", sku.outputs.size())] = where;
    const Variable variable{*object, where, reader};
    OutputSetting& output = sku.outputs.emplace_back();
    const std::string called = variable.text("name");
    const std::string label = variable.text("displayName");
    output.name = rafay::input_name_of(called);
    output.label = !label.empty() ? label : output.name == called ? "" : called;
    output.description = variable.text("description");
    output.is_secret = variable.flag("sensitive");
  }
}

// A rule of the catalogue that the document breaks, where the document breaks it.
std::string place_in_document(const Reader& reader, const std::string& pointer) {
  std::string inner = pointer;
  for (;;) {
    if (const auto found = reader.places.find(inner); found != reader.places.end())
      return found->second;
    const size_t slash = inner.rfind('/');
    if (slash == inner.npos || slash == 0) break;
    inner.resize(slash);
  }
  for (const std::string_view pairs : {"/labels", "/annotations"})
    if (pointer.starts_with(pairs)) return "/metadata" + pointer;
  return pointer == "/inputs" ? "/spec/variables" : pointer;
}

void check(const ComputeSku& sku, Reader& reader) {
  const std::vector<Problem> told = reader.problems;
  for (Problem& problem : problems_of(sku)) {
    problem.where = place_in_document(reader, problem.where);
    const bool is_told = std::ranges::any_of(told, [&](const Problem& each) {
      return each.where == problem.where || each.where.starts_with(problem.where + "/");
    });
    if (!is_told) reader.problems.push_back(std::move(problem));
  }
}

}  // namespace

Result<RafaySku> rafay_sku_of(const json::value& document) {
  Reader reader;
  if (!is_rafay_profile(document))
    return fail(invalid("the document",
                        {{"", fmt::format("is no ComputeProfile of {}", kRafayVersion), ""}}));
  RafaySku result;
  result.document = document.get_object();
  for (const std::string_view known : {"/apiVersion", "/kind"}) reader.take(std::string(known));
  read_texts(result.document, result.sku, reader);
  read_pairs(result.document, "metadata/labels", result.sku.labels, reader);
  read_pairs(result.document, "metadata/annotations", result.sku.annotations, reader);
  read_price(result.document, result.sku, reader);
  read_variables(result.document, result.sku, reader);
  read_outputs(result.document, result.sku, reader);
  check(result.sku, reader);
  if (!reader.problems.empty()) return fail(invalid("the document", std::move(reader.problems)));
  for (const auto& member : result.document)
    reader.note_rest(member.value(), pointer("", member.key()));
  result.notes = std::move(reader.notes);
  return result;
}

Result<RafaySku> read_rafay_sku(std::string_view text, std::string_view file) {
  // YAML takes JSON as well, but not where tabs indent it
  if (trim(text).starts_with('{')) {
    EXA_ASSIGN(const json::value document, parse_json(text, file));
    return rafay_sku_of(document);
  }
  YamlLimits limits;
  limits.with_places = true;
  EXA_ASSIGN(const std::vector<YamlDocument> documents, parse_yaml(text, file, limits));
  if (documents.size() != 1)
    return fail(Code::invalid_input,
                fmt::format("{} holds {} documents; one compute profile is read at a time",
                            printable(file), documents.size()));
  auto read = rafay_sku_of(documents.front().value);
  if (read) return read;
  Error error = std::move(read.error());
  for (Problem& problem : error.problems)
    problem.where = place_of(documents.front(), problem.where, file);
  return fail(std::move(error));
}

}  // namespace exa
