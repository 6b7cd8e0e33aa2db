// What the vocabularies are made of: a text that was taken apart, what reading it tells, and what
// writing into it is asked. Inside of src/launch only.
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/yaml.h"
#include "launch/vocabulary.h"

namespace exa::vocabulary {

using Path = std::vector<std::string_view>;

enum class Form { yaml, json, script };

struct Source {
  std::string file;
  Form form = Form::yaml;
  std::string text;                     // of a script
  std::vector<YamlDocument> documents;  // of the other forms
};
Result<Source> read_source(const Vocabulary& vocabulary, const ForeignText& text);
std::string to_text(const Source& source);

// All that a text says of a shape. What is a problem stops the import; a note does not.
class Reading {
 public:
  explicit Reading(const Source& source) : source_(source) {}

  // The shape, to write the field into that `where` speaks of.
  Shape& say(std::string_view field, std::string where);
  bool said(std::string_view field) const { return places_.contains(field); }
  const Shape& shape() const { return shape_; }
  // No device is asked for, and the vocabulary would have a word for it.
  void say_no_devices();

  void note(std::string where, std::string message);
  // The text asks for it, and how much or of whom it does not say: a note.
  void leave_open(std::string_view field, std::string where, std::string message);
  void problem(std::string where, std::string message, std::string suggestion = {});

  // A value of a document was understood; nothing of it is left to be noted.
  void take(size_t document, const std::string& pointer);
  // A document is one of those that are read: it is noted part by part, not as a whole.
  void open(size_t document) { opened_.insert(document); }
  // Every part of the documents that was not, as notes.
  void note_the_rest();
  std::string place(size_t document, const std::string& pointer) const;

  std::vector<Problem> problems;
  std::vector<VocabularyNote> notes;
  json::object fields() const;
  // In the shape's order, each with the first reason.
  std::vector<std::pair<std::string, std::string>> open_fields() const;
  const std::map<std::string, std::string, std::less<>>& places() const { return places_; }

 private:
  void note_rest_of(size_t document, const json::value& value, const std::string& pointer);

  const Source& source_;
  Shape shape_;
  std::map<std::string, std::string, std::less<>> places_;
  std::map<std::string, std::string, std::less<>> open_;
  std::set<size_t> opened_;
  std::set<std::string> taken_;  // document number and pointer
};

// One value of a document, for reading: absent and null are alike.
class Node {
 public:
  static Node root(Reading& reading, const Source& source, size_t document);  // opens it

  explicit operator bool() const { return value_ != nullptr; }
  const json::value& value() const { return *value_; }
  Node operator[](std::string_view key) const;  // of a map; anything else is a problem
  Node at(const Path& path) const;
  std::vector<Node> elements() const;                              // of a list, likewise
  std::vector<std::pair<std::string_view, Node>> members() const;  // of a map
  size_t document() const { return document_; }
  const std::string& pointer() const { return pointer_; }

  std::string where() const;
  void take() const;
  void note(std::string message) const;
  void problem(std::string message, std::string suggestion = {}) const;

  // A text, or a number as text; taken. nullopt: absent, or a problem that is said.
  std::optional<std::string> scalar() const;
  // A text of a member of this map, without taking it; "" otherwise.
  std::string_view peek(std::string_view key) const;

 private:
  Node(Reading* reading, const json::value* value, size_t document, std::string pointer)
      : reading_(reading), value_(value), document_(document), pointer_(std::move(pointer)) {}

  Reading* reading_;
  const json::value* value_;
  size_t document_;
  std::string pointer_;
};

// What `parse` makes of the value's text; its error is the value's problem.
std::optional<int64_t> read_amount(const Node& node,
                                   const std::function<Result<int64_t>(std::string_view)>& parse);
std::optional<int64_t> read_count(const Node& node);  // a whole number

// Which words of a text are to be written.
struct Parts {
  bool devices = true;
  bool cpu = true;
  bool memory = true;
  bool nodes = true;
  bool description = true;
  bool applicability = true;
  bool tags = true;  // of driver and runtime
};

struct Writing {
  const Shape& shape;
  std::string_view name;
  Parts parts;
  bool is_new = true;  // the text holds nothing yet
  std::vector<VocabularyNote>* notes = nullptr;

  // A field of the shape is not, or not exactly, in the words.
  void note(std::string_view field, std::string message) const;
};

// A note for every field of these that the shape says something in: the vocabulary has no word.
struct NoWord {
  std::string_view field;
  std::string_view why;
};
void note_without_words(const Writing& writing, std::initializer_list<NoWord> fields);

// What stays unsaid alike nearly everywhere.
inline constexpr NoWord kNoDriver = {"driver_tag", "there is no word for drivers"};
inline constexpr NoWord kNoRuntime = {"runtime_tag",
                                      "there is no word for what runs on the device"};
inline constexpr NoWord kNoUse = {"applicability", "there is no word for what it may be used for"};
inline constexpr NoWord kNoDescription = {"description", "there is no word for a description"};

// --- writing into documents

json::object& as_object(json::value& value);  // makes one of what is none
json::object& object_at(json::value& root, const Path& path);
json::array& array_at(json::value& root, const Path& path);
void put(json::object& object, std::string_view key,
         json::value value);  // where it stands, or last
void put_text(json::object& object, std::string_view key, std::string_view text);
// Without a text, without the member.
void put_text_at(json::value& root, const Path& path, std::string_view text);
void put_if_absent(json::object& object, std::string_view key, json::value value);
void drop(json::object& object, std::string_view key);
// Also the objects on the way that are empty then.
void drop_at(json::value& root, const Path& path);
json::value& new_document(Source& target);

// --- hints

bool same_models(std::string_view a, std::string_view b);  // two hints that mean the same devices
// The one family that a profile may ask for and a hint can mean; nullopt: none, or several.
std::optional<Family> family_meant(std::string_view hint);
// The one series that a hint's models are of: "A100"; empty: none, or several.
std::string_view series_meant(std::string_view hint);

}  // namespace exa::vocabulary
