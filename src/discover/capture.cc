#include "discover/capture.h"

#include <algorithm>
#include <initializer_list>
#include <limits>

#include "base/text.h"

namespace exa {
namespace {

constexpr int kFormat = 1;

std::string base64_of(std::string_view bytes) {
  return base64({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
}

// Tools print what they are given: a reason typed in Latin-1 must come back as it was.
void put_bytes(json::object& object, std::string_view key, std::string_view bytes) {
  if (is_valid_utf8(bytes))
    object[key] = bytes;
  else
    object[std::string(key) + "_base64"] = base64_of(bytes);
}

// Reads one object key by key, keeps every problem with its place, and knows which keys it was
// asked for.
class ObjectReader {
 public:
  ObjectReader(const json::value& value, std::string where, std::vector<Problem>& problems)
      : where_(std::move(where)), problems_(problems), object_(value.if_object()) {
    if (object_ == nullptr) problems_.push_back({where_, "must be an object", ""});
  }

  std::string text(std::string_view key) {
    const json::value* value = required(key);
    if (value == nullptr) return {};
    if (const json::string* text = value->if_string()) return std::string(*text);
    complain(key, "must be a text");
    return {};
  }

  int number(std::string_view key) {
    const json::value* value = required(key);
    if (value == nullptr) return 0;
    const int64_t* number = value->if_int64();
    if (number != nullptr && *number >= 0 && *number <= std::numeric_limits<int>::max())
      return static_cast<int>(*number);
    complain(key, "must be a whole number >= 0");
    return 0;
  }

  const json::array* array(std::string_view key) {
    const json::value* value = required(key);
    if (value == nullptr) return nullptr;
    if (value->is_array()) return &value->get_array();
    complain(key, "must be a list");
    return nullptr;
  }

  // The key itself, or the key with _base64; exactly one of them.
  std::string bytes(std::string_view key) {
    const std::string coded_key = std::string(key) + "_base64";
    const json::value* coded = find(coded_key);
    if (coded == nullptr) return text(key);
    if (find(key) != nullptr) complain(key, "stands beside " + coded_key);
    std::vector<uint8_t> bytes;
    const json::string* text = coded->if_string();
    if (text == nullptr || !decode_base64(*text, bytes)) complain(coded_key, "must be base64 text");
    return {bytes.begin(), bytes.end()};
  }

  void refuse_other_keys() {
    if (object_ == nullptr) return;
    for (const auto& member : *object_)
      if (std::find(known_.begin(), known_.end(), member.key()) == known_.end())
        complain(member.key(), "is not a key of a capture");
  }

  std::string place(std::string_view key) const { return pointer(where_, key); }
  void complain(std::string_view key, std::string message) {
    problems_.push_back({place(key), std::move(message), ""});
  }

 private:
  const json::value* find(std::string_view key) {
    known_.emplace_back(key);
    return object_ == nullptr ? nullptr : object_->if_contains(key);
  }
  const json::value* required(std::string_view key) {
    const json::value* value = find(key);
    if (value == nullptr && object_ != nullptr) complain(key, "is missing");
    return value;
  }

  std::string where_;
  std::vector<Problem>& problems_;
  const json::object* object_;
  std::vector<std::string> known_;
};

std::vector<std::string> words_from(ObjectReader& reader, std::string_view key) {
  std::vector<std::string> words;
  const json::array* list = reader.array(key);
  if (list == nullptr) return words;
  for (const json::value& word : *list) {
    if (word.is_string())
      words.emplace_back(word.get_string());
    else
      reader.complain(key, "must be a list of texts");
  }
  return words;
}

CapturedOutput output_from(const json::value& value, const std::string& where,
                           std::vector<Problem>& problems) {
  ObjectReader reader(value, where, problems);
  CapturedOutput output;
  output.name = reader.text("name");
  output.argv = words_from(reader, "argv");
  output.exit_code = reader.number("exit_code");
  output.out = reader.bytes("out");
  output.err = reader.bytes("err");
  reader.refuse_other_keys();
  return output;
}

Result<void> check_format(const json::value& value) {
  const json::value* format = find(value, "exa_capture");
  if (format == nullptr)
    return fail(Code::invalid_input, "not a saved capture: it has no exa_capture");
  const int64_t* number = format->if_int64();
  if (number != nullptr && *number > kFormat)
    return fail(Code::invalid_input, "this capture was saved by a newer exa: its format is " +
                                         std::to_string(*number) + ", this exa reads " +
                                         std::to_string(kFormat));
  if (number == nullptr || *number != kFormat)
    return fail(invalid("saved capture", {{"/exa_capture", "must be 1", ""}}));
  return {};
}

}  // namespace

const CapturedOutput* Capture::find(std::string_view name) const {
  for (const CapturedOutput& output : outputs)
    if (output.name == name) return &output;
  return nullptr;
}

json::value to_json(const Capture& capture) {
  json::object object;
  object["exa_capture"] = kFormat;
  object["kind"] = name(capture.kind);
  object["taken_at"] = format_rfc3339(capture.taken_at);
  object["transport"] = capture.transport;
  json::array& outputs = object["outputs"].emplace_array();
  for (const CapturedOutput& output : capture.outputs) {
    json::object item;
    item["name"] = output.name;
    json::array& argv = item["argv"].emplace_array();
    // For people to read; replay does not run it.
    for (const std::string& word : output.argv)
      argv.emplace_back(is_valid_utf8(word) ? word : printable(word));
    item["exit_code"] = output.exit_code;
    put_bytes(item, "out", output.out);
    put_bytes(item, "err", output.err);
    outputs.push_back(std::move(item));
  }
  return object;
}

Result<Capture> capture_from_json(const json::value& value) {
  EXA_TRY(check_format(value));
  std::vector<Problem> problems;
  ObjectReader reader(value, "", problems);
  Capture capture;
  reader.number("exa_capture");

  const size_t before_kind = problems.size();
  const std::string kind_name = reader.text("kind");
  if (const auto kind = find_cluster_kind(kind_name))
    capture.kind = *kind;
  else if (problems.size() == before_kind)
    reader.complain("kind", "must be host, slurm, flux or kubernetes, not " + printable(kind_name));

  const size_t before_time = problems.size();
  const std::string time_text = reader.text("taken_at");
  if (const auto time = parse_rfc3339(time_text))
    capture.taken_at = *time;
  else if (problems.size() == before_time)
    reader.complain("taken_at", time.error().message);

  capture.transport = reader.text("transport");
  if (const json::array* outputs = reader.array("outputs"))
    for (size_t i = 0; i < outputs->size(); ++i)
      capture.outputs.push_back(output_from(
          (*outputs)[i], pointer(reader.place("outputs"), std::to_string(i)), problems));
  reader.refuse_other_keys();
  if (!problems.empty()) return fail(invalid("saved capture", std::move(problems)));
  return capture;
}

}  // namespace exa
