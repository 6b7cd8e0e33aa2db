#include "api/compute_profile_args.h"

#include <fmt/format.h>

#include "api/profile_args.h"
#include "base/text.h"
#include "profile/validate.h"

namespace exa {
namespace {

const std::vector<std::string_view> kAllocations = {"dedicated", "shared"};
constexpr std::string_view kNone = "none";
// Fields that are taken as they are; in the order of the document.
constexpr std::string_view kTexts[] = {"display_name", "description", "allocation", "icon_url",
                                       "readme"};

Param field(std::string_view name, std::string_view flag, std::string_view help) {
  return {.name = name, .in = In::body, .flag = flag, .help = help};
}

Param pairs(std::string_view name, std::string_view flag, std::string_view help) {
  return {.name = name, .in = In::body, .kind = Kind::words, .flag = flag, .help = help};
}

// "2.5" or "2.5 EUR".
Result<Money> price_of(std::string_view text) {
  const std::string_view trimmed = trim(text);
  const size_t blank = std::min(trimmed.find(' '), trimmed.size());
  const std::string_view currency = trim(trimmed.substr(blank));
  return parse_money(trimmed.substr(0, blank), currency.empty() ? kDefaultCurrency : currency,
                     "the price");
}

void check_pairs(const json::object& args, std::string_view key, std::vector<Problem>& problems) {
  const json::value* list = args.if_contains(key);
  if (list == nullptr || !list->is_array()) return;
  for (size_t i = 0; i < list->get_array().size(); ++i) {
    const json::value& each = list->get_array()[i];
    if (!each.is_string()) continue;
    const std::string_view text = each.get_string();
    if (const size_t equals = text.find('='); equals == std::string_view::npos || equals == 0)
      problems.push_back({fmt::format("/{}/{}", key, i), "is not KEY=VALUE", ""});
  }
}

json::object pairs_arg(const Call& call, std::string_view key) {
  json::object values;
  for (const std::string& text : texts_arg(call, key)) {
    const size_t equals = text.find('=');
    values[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return values;
}

}  // namespace

Param sku_name_param(std::string_view help) {
  return {.name = "name",
          .in = In::path,
          .help = help,
          .required = true,
          .completes = "compute-profile"};
}

std::vector<Param> sku_document_params(bool document_is_needed) {
  return {{.name = "file",
           .in = In::body,
           .kind = Kind::document,
           .flag = "--file",
           .help = "JSON or YAML of the profile (- for standard input); flags win over it",
           .required = document_is_needed},
          field("display_name", "--display-name", "what users see, e.g. Medium"),
          field("description", "--description", "what it is for, in sentences"),
          {.name = "allocation",
           .in = In::body,
           .kind = Kind::choice,
           .flag = "--allocation",
           .help = "whether an instance has its resources alone",
           .choices = kAllocations},
          field("environment_template", "--template",
                "NAME@VERSION of the environment template that makes the instance"),
          field("hardware_profile", "--hardware-profile",
                "NAME@VERSION that says its shape; none: the template decides"),
          pairs("labels", "--label", "KEY=VALUE that instances get; may be repeated"),
          pairs("annotations", "--annotation", "KEY=VALUE that instances get; may be repeated"),
          field("icon_url", "--icon-url", "https://… of a picture, or data:image/…"),
          {.name = "readme",
           .in = In::body,
           .kind = Kind::file,
           .flag = "--readme",
           .help = "Markdown that tells users about it",
           .most_bytes = kLongestReadme},
          field("price_per_hour", "--price", "\"2.5 EUR\" an hour; none: nothing is told")};
}

std::vector<Problem> check_sku_document(const json::object& args) {
  std::vector<Problem> problems;
  check_with(args, "name", problems, [](auto text) { return check_name(text, "profile name"); });
  check_project(args, problems);
  if (const std::string_view ref = text_or(args, "environment_template", ""); !ref.empty()) {
    const size_t at = ref.find('@');
    if (at == 0 || at == std::string_view::npos || at + 1 == ref.size())
      problems.push_back({"/environment_template", "is not NAME@VERSION", ""});
  }
  if (const std::string_view price = text_or(args, "price_per_hour", "");
      !price.empty() && price != kNone)
    if (const auto money = price_of(price); !money)
      problems.push_back({"/price_per_hour", money.error().message, ""});
  check_pairs(args, "labels", problems);
  check_pairs(args, "annotations", problems);
  return problems;
}

Result<WriteSku> write_sku_arg(const Call& call) {
  WriteSku what{call.text("project"), call.text("name"), {}, {}, call.text("reason")};
  if (const json::value* file = call.args.if_contains("file")) what.document = file->get_object();
  for (const std::string_view key : kTexts)
    if (call.has(key)) what.fields[key] = call.text(key);
  if (call.has("environment_template")) {
    const std::string ref = call.text("environment_template");
    const size_t at = ref.find('@');
    what.fields["environment_template"] =
        json::object{{"name", ref.substr(0, at)}, {"version", ref.substr(at + 1)}};
  }
  if (const std::string ref = call.text("hardware_profile"); !ref.empty())
    what.fields["hardware_profile"] = ref == kNone ? json::value(nullptr) : json::value(ref);
  for (const std::string_view key : {"labels", "annotations"})
    if (call.has(key)) what.fields[key] = pairs_arg(call, key);
  if (const std::string price = call.text("price_per_hour"); price == kNone) {
    what.fields["price_per_hour"] = nullptr;
  } else if (!price.empty()) {
    EXA_ASSIGN(const Money money, price_of(price));
    what.fields["price_per_hour"] =
        json::object{{"amount", number_from_micros(money.micros)}, {"currency", money.currency}};
  }
  return what;
}

}  // namespace exa
