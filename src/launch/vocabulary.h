// A shape in the words of other systems, and back. Pure.
//
// Rendering names every field of the shape that a vocabulary has no word for; importing names
// everything in the text that is no field of a profile. Neither guesses: what cannot be said
// exactly is a note, and what would be read as another amount is a problem.
//
// The round trip of what a profile does not know: nothing of a text is stored. Whoever keeps the
// text gives it to render_shape_over, which replaces only the words of fields whose value in the
// text differs from the shape's and leaves all else as it stands. Writing back what was read
// therefore changes nothing. Scripts and command lines stay the same byte for byte outside of the
// replaced options; YAML keeps every field and its order, but neither comments nor layout.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "profile/hardware_profile.h"

namespace exa {

// Something that was not carried over, and why.
struct VocabularyNote {
  std::string where;  // rendering: the field of the shape; importing: a place in the text
  std::string message;

  bool operator==(const VocabularyNote&) const = default;
};
json::object to_json(const VocabularyNote& note);  // {"where", "message"}

struct ForeignText {
  std::string_view text;
  std::string_view file;  // what its places are called: "job.sh:3:9"; empty: the option alone
};

struct RenderedShape {
  std::string text;
  std::vector<VocabularyNote> notes;
};

struct ImportedShape {
  json::object fields;  // keys of shape_fields() in their order, only those that were said
  std::map<std::string, std::string, std::less<>> places;  // of these fields
  // Fields that the text asks for without saying how much or of whom ("all GPUs"), and why: whoever
  // makes a profile of it must say them.
  std::vector<std::pair<std::string, std::string>> open;
  std::vector<VocabularyNote> notes;
};

namespace vocabulary {
struct Source;
struct Writing;
class Reading;
}  // namespace vocabulary

struct Vocabulary {
  std::string_view name;     // "sbatch"
  std::string_view summary;  // what it is for, a few words
  // Whether a text is a script or a command line; nullptr: texts are YAML or JSON.
  bool (*is_script)(std::string_view text);
  // Whether a text is recognisably of this vocabulary.
  bool (*recognises)(const vocabulary::Source& source);
  void (*read)(const vocabulary::Source& source, vocabulary::Reading& reading);
  void (*write)(const vocabulary::Writing& writing, vocabulary::Source& target);
};

// In the order of the documentation.
std::span<const Vocabulary> vocabularies();
const Vocabulary* find_vocabulary(std::string_view name);  // nullptr when there is no such
std::vector<std::string_view> vocabulary_names();

// `name` is the profile's: what the vocabulary calls the job, the object or the entry.
RenderedShape render_shape(const Vocabulary& vocabulary, const Shape& shape, std::string_view name);

// Into a text of the vocabulary. Fails as import_shape does.
Result<RenderedShape> render_shape_over(const Vocabulary& vocabulary, const Shape& shape,
                                        std::string_view name, const ForeignText& over);

// Fails with invalid_input and every problem. The fields are what the text says, unchecked against
// each other: read_shape judges them, with what is given beside.
Result<ImportedShape> import_shape(const Vocabulary& vocabulary, const ForeignText& text);

// The one vocabulary that a text is of. invalid_input with the candidates when there are several,
// or none.
Result<const Vocabulary*> recognise_vocabulary(const ForeignText& text);

}  // namespace exa
