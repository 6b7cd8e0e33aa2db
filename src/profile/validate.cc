#include "profile/validate.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/quantity.h"
#include "base/text.h"
#include "hardware/catalogue.h"

namespace exa {
namespace {

// One field while it is read: where problems go and what they are called.
struct Place {
  std::string_view field;
  std::vector<Problem>& problems;

  void say(std::string message, std::string suggestion = {}) const {
    problems.push_back({pointer("", field), std::move(message), std::move(suggestion)});
  }
};

// --- texts

size_t code_points(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

// A JSON text without anything that could hide or move text on a terminal. nullopt: said why.
std::optional<std::string> read_text(const json::value& value, const Place& place) {
  if (!value.is_string()) {
    place.say(fmt::format("must be a text, not {}", to_text(value)));
    return std::nullopt;
  }
  std::string text(value.get_string());
  if (!is_valid_utf8(text)) {
    place.say("is not valid UTF-8");
    return std::nullopt;
  }
  if (printable(text) != text) {
    place.say(fmt::format("holds control characters: \"{}\"", printable(text)));
    return std::nullopt;
  }
  return text;
}

bool is_tag_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_tag(std::string_view text) {
  return !text.empty() && text.size() <= kLongestTag && is_tag_char(text.front()) &&
         is_tag_char(text.back()) && std::ranges::all_of(text, [](char c) {
           return is_tag_char(c) || c == '.' || c == '-' || c == '_' || c == '+';
         });
}

void read_tag(const json::value& value, const Place& place, std::string& tag) {
  const auto text = read_text(value, place);
  if (!text || text->empty()) return;
  if (!is_tag(*text)) {
    return place.say(
        fmt::format("\"{}\" is not a tag: letters, digits and . - _ + inside, at most "
                    "{} characters, such as cuda-12.4",
                    *text, kLongestTag));
  }
  tag = *text;
}

void read_hint(const json::value& value, const Place& place, std::string& hint) {
  const auto text = read_text(value, place);
  if (!text || text->empty()) return;
  if (text->size() > kLongestTag)
    return place.say(fmt::format("is longer than {} characters", kLongestTag));
  if (!std::ranges::any_of(*text, is_tag_char))
    return place.say(fmt::format("\"{}\" names no model; write for example A100-80GB", *text));
  hint = *text;
}

void read_mig(const json::value& value, const Place& place, std::string& profile) {
  const auto text = read_text(value, place);
  if (!text || text->empty()) return;
  const std::string lowered = lower(*text);
  if (!is_mig_profile_name(lowered))
    return place.say(fmt::format("\"{}\" is not a MIG profile such as 1g.10gb", *text));
  profile = lowered;
}

void read_description(const json::value& value, const Place& place, std::string& description) {
  const auto text = read_text(value, place);
  if (!text) return;
  if (const size_t length = code_points(*text); length > kLongestDescription) {
    return place.say(
        fmt::format("has {} characters; at most {} are kept", length, kLongestDescription));
  }
  description = *text;
}

void read_family(const json::value& value, const Place& place, Family& family) {
  const auto text = read_text(value, place);
  if (!text) return;
  const auto found = find_family(*text);
  if (found && info(*found).askable) {
    family = *found;
    return;
  }
  const std::vector<std::string> known = askable_family_names();
  place.say(fmt::format("\"{}\" is not a family; there are {}", *text, join(known, ", ")),
            did_you_mean(*text, known));
}

// --- numbers

// The decimal text of a number or of a text; nullopt: said why.
std::optional<std::string> read_decimal(const json::value& value, const Place& place) {
  std::string text;
  if (value.is_number()) {
    text = to_text(value);
  } else if (value.is_string()) {
    text = value.get_string();
  } else {
    place.say(fmt::format("must be a number, not {}", to_text(value)));
    return std::nullopt;
  }
  if (text.starts_with('-')) {
    place.say(fmt::format("must not be negative, as {} is", printable(text)));
    return std::nullopt;
  }
  // 1e+300 comes out of a JSON number; as text it is no plain decimal either
  if (value.is_number() && text.find('e') != std::string::npos) {
    place.say(fmt::format("{} is out of range", text));
    return std::nullopt;
  }
  return text;
}

void read_whole(const json::value& value, const Place& place, int64_t least, int64_t most,
                int64_t& amount) {
  const auto text = read_decimal(value, place);
  if (!text) return;
  const bool digits =
      !text->empty() && std::ranges::all_of(*text, [](char c) { return c >= '0' && c <= '9'; });
  if (!digits) return place.say(fmt::format("\"{}\" is not a whole number", printable(*text)));
  const Result<int64_t> count = parse_count(*text, place.field);
  if (!count || *count < least || *count > most)
    return place.say(fmt::format("must be {} to {}, not {}", least, most, *text));
  amount = *count;
}

void read_milli(const json::value& value, const Place& place, int64_t least_milli,
                int64_t most_milli, int64_t& amount) {
  const auto text = read_decimal(value, place);
  if (!text) return;
  const Result<int64_t> milli = parse_milli(*text, place.field);
  if (!milli) return place.say(milli.error().message);
  if (*milli < least_milli || *milli > most_milli) {
    return place.say(fmt::format("must be {} to {}, not {}", format_milli(least_milli),
                                 format_milli(most_milli), *text));
  }
  amount = *milli;
}

void read_memory(const json::value& value, const Place& place, int64_t& bytes) {
  const auto text = read_decimal(value, place);
  if (!text) return;
  const Result<int64_t> read = parse_gib(*text);
  if (!read) {
    // "32G" is what sbatch and docker take; here the key carries the unit
    const bool has_unit = parse_bytes_with_unit(*text).has_value();
    return place.say(read.error().message,
                     has_unit ? "write the number of GiB without a unit" : "");
  }
  if (*read > kMostMemoryBytes) {
    return place.say(
        fmt::format("must be at most {} GiB (1 PiB), not {}", kMostMemoryBytes / kGiB, *text));
  }
  bytes = *read;
}

// --- applicability

std::optional<std::vector<std::string>> read_list(const json::value& value, const Place& place) {
  std::vector<std::string> words;
  if (value.is_array()) {
    for (const json::value& element : value.get_array()) {
      if (!element.is_string()) {
        place.say(fmt::format("must list texts, not {}", to_text(element)));
        return std::nullopt;
      }
      words.emplace_back(element.get_string());
    }
  } else if (value.is_string()) {
    const std::string_view text = value.get_string();
    if (!trim(text).empty())
      for (const std::string_view word : split(text, ',')) words.emplace_back(trim(word));
  } else {
    place.say(fmt::format("must be a list or a comma-separated text, not {}", to_text(value)));
    return std::nullopt;
  }
  return words;
}

void read_applicability(const json::value& value, const Place& place,
                        std::vector<Surface>& applicability) {
  const auto words = read_list(value, place);
  if (!words) return;
  const std::vector<std::string> known = surface_names();
  if (words->empty()) return place.say(fmt::format("is empty; name some of {}", join(known, ", ")));
  std::vector<Surface> surfaces;
  for (const std::string& word : *words) {
    if (const auto surface = find_surface(word)) {
      surfaces.push_back(*surface);
    } else {
      place.say(fmt::format("\"{}\" is not one of {}", printable(word), join(known, ", ")),
                did_you_mean(word, known));
    }
  }
  // one order, so that the same list written otherwise is no new version
  std::ranges::sort(surfaces);
  surfaces.erase(std::unique(surfaces.begin(), surfaces.end()), surfaces.end());
  applicability = std::move(surfaces);
}

// --- the table

struct Reader {
  std::string_view field;
  bool may_be_null;
  void (*read)(const json::value&, const Place&, Shape&);
};

constexpr int64_t kWhole = 1000;

constexpr std::array kReaders = {
    Reader{"accelerator_family", false,
           [](const auto& v, const auto& p, Shape& s) { read_family(v, p, s.accelerator_family); }},
    Reader{
        "accelerator_model_hint", true,
        [](const auto& v, const auto& p, Shape& s) { read_hint(v, p, s.accelerator_model_hint); }},
    Reader{"gpu_count", false,
           [](const auto& v, const auto& p, Shape& s) {
             read_whole(v, p, 0, kMostGpusPerNode, s.gpu_count);
           }},
    Reader{"gpu_fraction", false,
           [](const auto& v, const auto& p, Shape& s) {
             read_milli(v, p, 1, kWhole, s.gpu_fraction_milli);
           }},
    Reader{"mig_profile", true,
           [](const auto& v, const auto& p, Shape& s) { read_mig(v, p, s.mig_profile); }},
    Reader{"cpu", false,
           [](const auto& v, const auto& p, Shape& s) {
             read_milli(v, p, 0, kMostCpus * 1000, s.cpu_milli);
           }},
    Reader{"memory_gb", false,
           [](const auto& v, const auto& p, Shape& s) { read_memory(v, p, s.memory_bytes); }},
    Reader{
        "nodes", false,
        [](const auto& v, const auto& p, Shape& s) { read_whole(v, p, 1, kMostNodes, s.nodes); }},
    Reader{"driver_tag", true,
           [](const auto& v, const auto& p, Shape& s) { read_tag(v, p, s.driver_tag); }},
    Reader{"runtime_tag", true,
           [](const auto& v, const auto& p, Shape& s) { read_tag(v, p, s.runtime_tag); }},
    Reader{
        "applicability", false,
        [](const auto& v, const auto& p, Shape& s) { read_applicability(v, p, s.applicability); }},
    Reader{"description", true,
           [](const auto& v, const auto& p, Shape& s) { read_description(v, p, s.description); }},
};

void refuse_unknown_keys(const json::object& input, std::vector<Problem>& problems) {
  const std::vector<std::string> known(shape_fields().begin(), shape_fields().end());
  for (const auto& member : input) {
    const std::string_view key = member.key();
    if (std::ranges::find(known, key) != known.end()) continue;
    problems.push_back({pointer("", printable(key)), "is not a field of a hardware profile",
                        did_you_mean(key, known)});
  }
}

Shape read_fields(const json::object& input, std::vector<Problem>& problems) {
  Shape shape;
  if (!input.contains("accelerator_family")) {
    problems.push_back({"/accelerator_family",
                        fmt::format("is required: one of {}", join(askable_family_names(), ", ")),
                        ""});
  }
  for (const Reader& reader : kReaders) {
    const json::value* value = input.if_contains(reader.field);
    if (value == nullptr || (value->is_null() && reader.may_be_null)) continue;
    reader.read(*value, Place{reader.field, problems}, shape);
  }
  return shape;
}

// Rules between fields are judged only where the fields themselves could be read: a family that is
// misspelt must not look like `cpu` with GPUs.
void add_contradictions(const Shape& shape, std::vector<Problem>& problems) {
  if (std::ranges::any_of(problems, [](const Problem& problem) {
        return problem.where == "/accelerator_family";
      })) {
    return;
  }
  const std::vector<Problem> own = problems;
  for (Problem& found : contradictions(shape)) {
    const bool said = std::ranges::any_of(
        own, [&](const Problem& problem) { return problem.where == found.where; });
    if (!said) problems.push_back(std::move(found));
  }
}

struct Read {
  Shape shape;
  std::vector<Problem> problems;
};

Read read(const json::object& input) {
  Read result;
  result.shape = read_fields(input, result.problems);
  add_contradictions(result.shape, result.problems);
  const auto place_in_document = [](const Problem& problem) {
    return std::ranges::find(shape_fields(), std::string_view(problem.where).substr(1)) -
           shape_fields().begin();
  };
  std::ranges::stable_sort(result.problems, {}, place_in_document);
  refuse_unknown_keys(input, result.problems);
  return result;
}

}  // namespace

Result<Shape> read_shape(const json::object& input) {
  Read result = read(input);
  if (result.problems.empty()) return std::move(result.shape);
  return fail(invalid("the hardware profile", std::move(result.problems)));
}

std::vector<Problem> problems_of_shape(const json::object& input) {
  return read(input).problems;
}

}  // namespace exa
