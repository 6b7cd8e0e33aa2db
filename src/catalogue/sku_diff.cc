#include "catalogue/sku_diff.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "catalogue/input_values.h"
#include "profile/diff.h"

namespace exa {
namespace {

// A field in a sentence, and how much of it: "memory 32 → 64 GiB".
struct FieldWord {
  std::string_view field;
  std::string_view word;
  std::string_view unit;
};
constexpr FieldWord kShapeWords[] = {
    {"accelerator_family", "accelerator", ""},
    {"accelerator_model_hint", "model", ""},
    {"gpu_count", "GPUs per node", ""},
    {"gpu_fraction", "share of each GPU", ""},
    {"mig_profile", "MIG profile", ""},
    {"cpu", "CPUs", ""},
    {"memory_gb", "memory", " GiB"},
    {"nodes", "nodes", ""},
    {"driver_tag", "driver", ""},
    {"runtime_tag", "runtime", ""},
    {"applicability", "may be used for", ""},
    {"description", "description of the shape", ""},
};

std::string shown(const json::value& value) {
  if (value.is_null()) return "none";
  if (!value.is_array()) return in_words(value);
  std::vector<std::string> words;
  for (const json::value& each : value.get_array()) words.push_back(in_words(each));
  return join(words, ", ");
}

std::string from_to(std::string_view word, const json::value& before, const json::value& after,
                    std::string_view unit = {}) {
  return fmt::format("{} {} → {}{}", word, shown(before), shown(after), unit);
}

class Differences {
 public:
  std::vector<SkuChange> changes;

  void add(std::string where, const json::value* before, const json::value* after, std::string text,
           bool changes_the_instance = true) {
    changes.push_back({std::move(where), before == nullptr ? json::value() : *before,
                       after == nullptr ? json::value() : *after, std::move(text),
                       changes_the_instance});
  }
};

using Say = std::string (*)(const json::value& before, const json::value& after);

struct FieldRow {
  std::string_view key;
  bool changes_the_instance;
  Say say;
};

std::string template_text(const json::value& value) {
  return fmt::format("{} {}", text_or(value, "name", "none"), text_or(value, "version", ""));
}

std::string price_text(const json::value& value) {
  if (value.is_null()) return "unknown";
  return fmt::format("{} {}", exa::to_text(value.at("amount")), text_or(value, "currency", ""));
}

// What is told field by field of the SKU's own JSON; the rest has rules of its own below.
constexpr FieldRow kFields[] = {
    {"display_name", false,
     [](const json::value& b, const json::value& a) { return from_to("called", b, a); }},
    {"description", false,
     [](const json::value&, const json::value&) { return std::string("description reworded"); }},
    {"allocation", true,
     [](const json::value& b, const json::value& a) { return from_to("allocation", b, a); }},
    {"environment_template", true,
     [](const json::value& b, const json::value& a) {
       return fmt::format("environment template {} → {}", template_text(b), template_text(a));
     }},
    {"hardware_profile", true,
     [](const json::value& b, const json::value& a) { return from_to("hardware profile", b, a); }},
    {"icon_url", false,
     [](const json::value&, const json::value&) { return std::string("another icon"); }},
    {"readme", false,
     [](const json::value&, const json::value&) { return std::string("readme reworded"); }},
    {"price_per_hour", true,
     [](const json::value& b, const json::value& a) {
       return fmt::format("price an hour {} → {}", price_text(b), price_text(a));
     }},
};

void compare_shapes(const Shape* before, const Shape* after, Differences& out) {
  static const Shape kNothing;
  if (before == nullptr && after == nullptr) return;
  for (const FieldChange& change :
       diff(before == nullptr ? kNothing : *before, after == nullptr ? kNothing : *after)) {
    const auto* row = std::ranges::find(kShapeWords, change.field, &FieldWord::field);
    EXA_ASSERT(row != std::end(kShapeWords));
    out.add(pointer("/shape", change.field), &change.before, &change.after,
            from_to(row->word, change.before, change.after, row->unit), change.changes_the_ask);
  }
}

void compare_pairs(const json::object& before, const json::object& after, std::string_view where,
                   std::string_view word, Differences& out) {
  for (const auto& [key, value] : before) {
    const json::value* now = find(after, key);
    if (now == nullptr)
      out.add(pointer(where, key), &value, nullptr,
              fmt::format("{} {} is gone", word, printable(key)));
    else if (*now != value)
      out.add(pointer(where, key), &value, now,
              from_to(fmt::format("{} {}", word, printable(key)), value, *now));
  }
  for (const auto& [key, value] : after)
    if (!before.contains(key))
      out.add(pointer(where, key), nullptr, &value,
              fmt::format("new {} {}: {}", word, printable(key), shown(value)));
}

std::string bound_text(std::string_view input, bool is_most, const json::value& after) {
  if (after.is_null())
    return fmt::format("input {} no longer limited from {}", input, is_most ? "above" : "below");
  return fmt::format("input {} now at {} {}", input, is_most ? "most" : "least", shown(after));
}

std::string values_text(std::string_view input, const json::value& after) {
  if (after.is_null()) return fmt::format("input {} no longer of a list", input);
  if (!after.is_object()) return fmt::format("input {} now one of {}", input, shown(after));
  std::vector<std::string> labels;
  for (const auto& member : after.get_object()) labels.push_back(printable(member.key()));
  return fmt::format("input {} now one of {}", input, join(labels, ", "));
}

std::string override_text(std::string_view input, const json::value& after,
                          const json::value& fixed_at) {
  const std::string_view override_ = after.get_string();
  if (override_ == name(InputOverride::not_allowed))
    return fmt::format("input {} now fixed at {}", input, shown(fixed_at));
  if (override_ == name(InputOverride::allowed)) return fmt::format("input {} now free", input);
  return fmt::format("input {} now of a list", input);
}

std::string input_text(std::string_view input, std::string_view key, const json::value& before,
                       const json::value& after, const json::object& now) {
  if (key == "min") return bound_text(input, false, after);
  if (key == "max") return bound_text(input, true, after);
  if (key == "allowed_values" || key == "choices") return values_text(input, after);
  if (key == "override") return override_text(input, after, now.at("default"));
  if (key == "required")
    return fmt::format("input {} {}", input,
                       after.as_bool() ? "now required" : "no longer required");
  if (key == "depends_on")
    return after.is_null() ? fmt::format("input {} always asked for", input)
                           : fmt::format("input {} asked for only while {} is {}", input,
                                         text_or(after, "input", ""), shown(after.at("values")));
  if (key == "default" || key == "type" || key == "step" || key == "pattern")
    return from_to(fmt::format("{} of input {}", key, input), before, after);
  return fmt::format("{} of input {} reworded", key, input);
}

bool only_read(std::string_view key) {
  return key == "label" || key == "description" || key == "group";
}

// Inputs or outputs by name: gone, changed, new.
template <typename Compare>
void compare_lists(const json::array& before, const json::array& after, std::string_view where,
                   std::string_view word, const Compare& compare, Differences& out) {
  const auto named = [](const json::array& list, std::string_view wanted) {
    const auto found = std::ranges::find_if(
        list, [&](const json::value& each) { return text_or(each, "name", "") == wanted; });
    return found == list.end() ? nullptr : &*found;
  };
  for (const json::value& was : before) {
    const std::string_view key = text_or(was, "name", "");
    if (const json::value* now = named(after, key))
      compare(key, was.get_object(), now->get_object());
    else
      out.add(pointer(where, key), &was, nullptr, fmt::format("{} {} is gone", word, key));
  }
  for (const json::value& now : after) {
    const std::string_view key = text_or(now, "name", "");
    if (named(before, key) == nullptr)
      out.add(pointer(where, key), nullptr, &now, fmt::format("new {} {}", word, key));
  }
}

void compare_inputs(const json::object& before, const json::object& after, Differences& out) {
  const auto compare = [&](std::string_view input, const json::object& was,
                           const json::object& now) {
    for (const auto& [key, value] : now) {
      const json::value& old = was.at(key);
      // that it is fixed says at what
      const bool is_said = key == "default" && was.at("override") != now.at("override") &&
                           text_or(now, "override", "") == name(InputOverride::not_allowed);
      if (old == value || is_said) continue;
      out.add(pointer(pointer("/inputs", input), key), &old, &value,
              input_text(input, key, old, value, now), !only_read(key));
    }
  };
  compare_lists(before.at("inputs").get_array(), after.at("inputs").get_array(), "/inputs", "input",
                compare, out);
}

void compare_outputs(const json::object& before, const json::object& after, Differences& out) {
  const auto compare = [&](std::string_view output, const json::object& was,
                           const json::object& now) {
    for (const auto& [key, value] : now)
      if (was.at(key) != value)
        out.add(pointer(pointer("/outputs", output), key), &was.at(key), &value,
                key == "secret"
                    ? fmt::format("output {} {}", output,
                                  value.as_bool() ? "now a secret" : "no longer a secret")
                    : fmt::format("{} of output {} reworded", std::string_view(key), output),
                key == "secret");
  };
  compare_lists(before.at("outputs").get_array(), after.at("outputs").get_array(), "/outputs",
                "output", compare, out);
}

const Shape* shape_of(const ComputeSku& sku, const Shape* of_profile) {
  return sku.shape ? &*sku.shape : sku.hardware_profile ? of_profile : nullptr;
}

}  // namespace

std::vector<SkuChange> diff(const ComputeSku& before, const ComputeSku& after,
                            const Shape* profile_before, const Shape* profile_after) {
  const json::object was = to_json(before);
  const json::object now = to_json(after);
  Differences out;
  for (const FieldRow& row : kFields) {
    const json::value& old = was.at(row.key);
    const json::value& value = now.at(row.key);
    if (old != value)
      out.add(pointer("", row.key), &old, &value, row.say(old, value), row.changes_the_instance);
    if (row.key != "hardware_profile") continue;
    const Shape* shape_before = shape_of(before, profile_before);
    const Shape* shape_after = shape_of(after, profile_after);
    const bool both_told = (shape_before != nullptr || !before.hardware_profile) &&
                           (shape_after != nullptr || !after.hardware_profile);
    if (both_told) compare_shapes(shape_before, shape_after, out);
  }
  compare_pairs(was.at("labels").get_object(), now.at("labels").get_object(), "/labels", "label",
                out);
  compare_pairs(was.at("annotations").get_object(), now.at("annotations").get_object(),
                "/annotations", "annotation", out);
  compare_inputs(was, now, out);
  compare_outputs(was, now, out);
  return out.changes;
}

std::string in_words(std::span<const SkuChange> changes) {
  const bool some_matter = std::ranges::any_of(changes, &SkuChange::changes_the_instance);
  std::vector<std::string> texts;
  for (const SkuChange& change : changes)
    if (change.changes_the_instance || !some_matter) texts.push_back(change.text);
  return join(texts, "; ");
}

json::object to_json(const SkuChange& change) {
  return {{"where", change.where},
          {"before", change.before},
          {"after", change.after},
          {"text", change.text},
          {"changes_the_instance", change.changes_the_instance}};
}

}  // namespace exa
