#include "launch/vocabulary_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/quantity.h"
#include "base/text.h"
#include "hardware/catalogue.h"

namespace exa::vocabulary {
namespace {

std::string key_of(size_t document, const std::string& pointer) {
  return fmt::format("{}{}", document, pointer);
}

std::string_view called(const json::value& value) {
  if (value.is_object()) return "a map";
  if (value.is_array()) return "a list";
  if (value.is_string()) return "a text";
  if (value.is_bool()) return "true or false";
  return "a number";
}

const json::value* if_not_null(const json::value* value) {
  return value == nullptr || value->is_null() ? nullptr : value;
}

}  // namespace

// --- texts

Result<Source> read_source(const Vocabulary& vocabulary, const ForeignText& given) {
  Source source;
  source.file = given.file;
  if (given.text.size() > ReadLimits{}.max_bytes) {
    return fail(Code::invalid_input, fmt::format("the text is {} bytes long; at most {} are read",
                                                 given.text.size(), ReadLimits{}.max_bytes));
  }
  if (vocabulary.is_script != nullptr && vocabulary.is_script(given.text)) {
    source.form = Form::script;
    source.text = given.text;
    return source;
  }
  if (trim(given.text).starts_with('{') || trim(given.text).starts_with('[')) {
    source.form = Form::json;
    EXA_ASSIGN(json::value value, parse_json(given.text, given.file));
    source.documents.push_back({std::move(value), 1, {}});
    return source;
  }
  YamlLimits limits;
  limits.with_places = true;
  EXA_ASSIGN(source.documents, parse_yaml(given.text, given.file, limits));
  std::erase_if(source.documents,
                [](const YamlDocument& document) { return document.value.is_null(); });
  return source;
}

std::string to_text(const Source& source) {
  if (source.form == Form::script) return source.text;
  if (source.form == Form::json && !source.documents.empty())
    return to_pretty_text(source.documents.front().value);
  std::string text;
  for (const YamlDocument& document : source.documents) {
    if (!text.empty()) text += "---\n";
    text += to_yaml(document.value);
  }
  return text;
}

// --- reading

Shape& Reading::say(std::string_view field, std::string where) {
  places_.insert_or_assign(std::string(field), std::move(where));
  return shape_;
}

void Reading::say_no_devices() {
  say("accelerator_family", "").accelerator_family = Family::cpu;
}

void Reading::note(std::string where, std::string message) {
  notes.push_back({std::move(where), std::move(message)});
}

void Reading::leave_open(std::string_view field, std::string where, std::string message) {
  open_.emplace(field, message);
  note(std::move(where), std::move(message));
}

std::vector<std::pair<std::string, std::string>> Reading::open_fields() const {
  std::vector<std::pair<std::string, std::string>> open;
  for (const std::string_view field : shape_fields()) {
    const auto found = open_.find(field);
    if (found != open_.end() && !said(field)) open.emplace_back(*found);
  }
  return open;
}

void Reading::problem(std::string where, std::string message, std::string suggestion) {
  Problem found{std::move(where), std::move(message), std::move(suggestion)};
  if (std::ranges::find(problems, found) == problems.end()) problems.push_back(std::move(found));
}

void Reading::take(size_t document, const std::string& pointer) {
  taken_.insert(key_of(document, pointer));
}

void Reading::note_the_rest() {
  for (size_t i = 0; i < source_.documents.size(); ++i)
    note_rest_of(i, source_.documents[i].value, "");
}

void Reading::note_rest_of(size_t document, const json::value& value, const std::string& at) {
  const std::string key = key_of(document, at);
  if (taken_.contains(key)) return;
  const auto below = taken_.lower_bound(key + "/");
  const bool is_read = at.empty() ? opened_.contains(document)
                                  : below != taken_.end() && below->starts_with(key + "/");
  if (!is_read)
    return note(place(document, at), fmt::format("{} is no field of a profile",
                                                 at.empty() ? "the document" : printable(at)));
  if (value.is_object()) {
    for (const auto& member : value.get_object())
      note_rest_of(document, member.value(), exa::pointer(at, member.key()));
  } else if (value.is_array()) {
    for (size_t i = 0; i < value.get_array().size(); ++i)
      note_rest_of(document, value.get_array()[i], exa::pointer(at, std::to_string(i)));
  }
}

std::string Reading::place(size_t document, const std::string& pointer) const {
  const auto& places = source_.documents.at(document).places;
  const auto found = places.find(pointer);
  if (found == places.end()) return pointer.empty() ? "/" : pointer;
  return fmt::format("{}:{}:{}", source_.file, found->second.line, found->second.column);
}

json::object Reading::fields() const {
  json::object fields;
  for (const std::string_view field : shape_fields())
    if (said(field)) fields.emplace(field, field_to_json(shape_, field));
  return fields;
}

// --- one value

Node Node::root(Reading& reading, const Source& source, size_t document) {
  reading.open(document);
  return {&reading, if_not_null(&source.documents.at(document).value), document, ""};
}

Node Node::operator[](std::string_view key) const {
  const json::value* member = nullptr;
  if (value_ != nullptr) {
    if (value_->is_object()) {
      member = if_not_null(value_->get_object().if_contains(key));
    } else {
      problem(fmt::format("must be a map, not {}", called(*value_)));
    }
  }
  return {reading_, member, document_, exa::pointer(pointer_, key)};
}

Node Node::at(const Path& path) const {
  Node node = *this;
  for (const std::string_view key : path) node = node[key];
  return node;
}

std::vector<Node> Node::elements() const {
  std::vector<Node> nodes;
  if (value_ == nullptr) return nodes;
  if (!value_->is_array()) {
    problem(fmt::format("must be a list, not {}", called(*value_)));
    return nodes;
  }
  const json::array& array = value_->get_array();
  for (size_t i = 0; i < array.size(); ++i)
    nodes.push_back(
        {reading_, if_not_null(&array[i]), document_, exa::pointer(pointer_, std::to_string(i))});
  return nodes;
}

std::vector<std::pair<std::string_view, Node>> Node::members() const {
  std::vector<std::pair<std::string_view, Node>> nodes;
  if (value_ == nullptr) return nodes;
  if (!value_->is_object()) {
    problem(fmt::format("must be a map, not {}", called(*value_)));
    return nodes;
  }
  for (const auto& member : value_->get_object())
    nodes.emplace_back(member.key(), (*this)[member.key()]);
  return nodes;
}

std::string Node::where() const {
  return reading_->place(document_, pointer_);
}

void Node::take() const {
  if (value_ != nullptr) reading_->take(document_, pointer_);
}

void Node::note(std::string message) const {
  take();
  reading_->note(where(), std::move(message));
}

void Node::problem(std::string message, std::string suggestion) const {
  take();
  reading_->problem(where(), std::move(message), std::move(suggestion));
}

std::optional<std::string> Node::scalar() const {
  if (value_ == nullptr) return std::nullopt;
  take();
  if (value_->is_string()) return std::string(value_->get_string());
  if (value_->is_number()) return exa::to_text(*value_);
  problem(fmt::format("must be a text or a number, not {}", called(*value_)));
  return std::nullopt;
}

std::string_view Node::peek(std::string_view key) const {
  return value_ != nullptr && value_->is_object() ? text_or(value_->get_object(), key, "")
                                                  : std::string_view();
}

std::optional<int64_t> read_amount(const Node& node,
                                   const std::function<Result<int64_t>(std::string_view)>& parse) {
  const auto text = node.scalar();
  if (!text) return std::nullopt;
  const Result<int64_t> amount = parse(*text);
  if (amount) return *amount;
  node.problem(amount.error().message,
               text->find("${") != std::string::npos ? "write the amount out" : "");
  return std::nullopt;
}

std::optional<int64_t> read_count(const Node& node) {
  return read_amount(node, [&](std::string_view text) {
    const size_t last = node.pointer().rfind('/');
    return parse_count(text, last == std::string::npos ? "this" : node.pointer().substr(last + 1));
  });
}

// --- writing

void Writing::note(std::string_view field, std::string message) const {
  const auto same = [&](const VocabularyNote& known) { return known.where == field; };
  if (std::ranges::none_of(*notes, same))
    notes->push_back({std::string(field), std::move(message)});
}

void note_without_words(const Writing& writing, std::initializer_list<NoWord> fields) {
  static const Shape kNothing;
  for (const NoWord& row : fields)
    if (field_to_json(writing.shape, row.field) != field_to_json(kNothing, row.field))
      writing.note(row.field, std::string(row.why));
}

json::object& as_object(json::value& value) {
  if (!value.is_object()) value = json::object();
  return value.get_object();
}

json::object& object_at(json::value& root, const Path& path) {
  json::object* object = &as_object(root);
  for (const std::string_view key : path) object = &as_object((*object)[key]);
  return *object;
}

json::array& array_at(json::value& root, const Path& path) {
  EXA_ASSERT(!path.empty());
  json::value& value = object_at(root, {path.begin(), path.end() - 1})[path.back()];
  if (!value.is_array()) value = json::array();
  return value.get_array();
}

void put(json::object& object, std::string_view key, json::value value) {
  object[key] = std::move(value);
}

void put_text(json::object& object, std::string_view key, std::string_view text) {
  object[key] = json::string(text);
}

void put_text_at(json::value& root, const Path& path, std::string_view text) {
  if (text.empty()) return drop_at(root, path);
  put_text(object_at(root, {path.begin(), path.end() - 1}), path.back(), text);
}

void put_if_absent(json::object& object, std::string_view key, json::value value) {
  const json::value* known = object.if_contains(key);
  if (known == nullptr || known->is_null()) object[key] = std::move(value);
}

void drop(json::object& object, std::string_view key) {
  if (object.contains(key)) object.stable_erase(key);  // erase() would move the last member here
}

void drop_at(json::value& root, const Path& path) {
  if (path.empty() || !root.is_object()) return;
  std::vector<json::object*> way = {&root.get_object()};
  for (size_t i = 0; i + 1 < path.size(); ++i) {
    json::value* next = way.back()->if_contains(path[i]);
    if (next == nullptr || !next->is_object()) return;
    way.push_back(&next->get_object());
  }
  for (size_t i = path.size(); i-- > 0;) {
    drop(*way[i], path[i]);
    if (!way[i]->empty()) return;
  }
}

json::value& new_document(Source& target) {
  target.documents.push_back({json::object(), 1, {}});
  return target.documents.back().value;
}

bool same_models(std::string_view a, std::string_view b) {
  if (normalise_model(a) == normalise_model(b)) return true;
  const auto meant = models_meant(a);
  return !meant.empty() && meant == models_meant(b);
}

std::optional<Family> family_meant(std::string_view hint) {
  const auto models = models_meant(hint);
  if (models.empty() || !info(models.front()->family).askable) return std::nullopt;
  const bool one = std::ranges::all_of(
      models, [&](const auto* model) { return model->family == models.front()->family; });
  return one ? std::optional(models.front()->family) : std::nullopt;
}

std::string_view series_meant(std::string_view hint) {
  const auto models = models_meant(hint);
  if (models.empty()) return "";
  const bool one = std::ranges::all_of(
      models, [&](const auto* model) { return model->series == models.front()->series; });
  return one ? models.front()->series : "";
}

}  // namespace exa::vocabulary
