// The rules that a compute profile keeps.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/kubernetes_names.h"
#include "base/text.h"
#include "catalogue/compute_sku.h"
#include "catalogue/input_values.h"
#include "profile/validate.h"

namespace exa {
namespace {

using Problems = std::vector<Problem>;

constexpr size_t kLongestDisplayName = 128;  // code points
constexpr std::string_view kPictures[] = {"png", "jpeg", "gif", "webp"};

void say(Problems& problems, std::string where, std::string message, std::string suggestion = {}) {
  problems.push_back({std::move(where), std::move(message), std::move(suggestion)});
}

// Text of lines: what moves or hides text on a terminal is refused, ends of lines and tabs are not.
std::string wrong_lines(std::string_view text, size_t longest) {
  if (!is_valid_utf8(text)) return "is not valid UTF-8";
  if (text.size() > longest)
    return fmt::format("has {} bytes; at most {} are kept", text.size(), longest);
  std::string plain(text);
  std::erase_if(plain, [](char c) { return c == '\n' || c == '\t' || c == '\r'; });
  return printable(plain) == plain ? "" : "holds control characters";
}

void check_line(std::string_view text, size_t longest, std::string where, Problems& problems) {
  if (!is_valid_utf8(text)) return say(problems, std::move(where), "is not valid UTF-8");
  if (printable(text) != text) return say(problems, std::move(where), "holds control characters");
  if (code_points(text) > longest)
    say(problems, std::move(where), fmt::format("has more than {} characters", longest));
}

void check_sku_name(const ComputeSku& sku, Problems& problems) {
  if (sku.name.empty()) return say(problems, "/name", "is missing");
  const auto checked = check_name(sku.name, "compute profile name");
  if (checked) return;
  const Problem& why = checked.error().problems.front();
  say(problems, "/name", why.message, why.suggestion);
}

void check_template(const TemplateRef& ref, Problems& problems) {
  const std::string where = "/environment_template";
  if (ref.name.empty())
    say(problems, where + "/name", "is missing: what builds the instance");
  else if (const auto checked = check_name(ref.name, "environment template name"); !checked)
    say(problems, where + "/name", checked.error().problems.front().message,
        checked.error().problems.front().suggestion);
  if (ref.version.empty())
    say(problems, where + "/version", "is missing: which version of the template");
  else if (!is_label_value(ref.version))
    say(problems, where + "/version",
        "takes letters, digits and . - _ inside, at most 63 characters, such as v1.2");
}

void check_shape(const ComputeSku& sku, Problems& problems) {
  if (sku.hardware_profile && sku.shape)
    say(problems, "/shape", "stands beside hardware_profile; keep one of the two");
  if (sku.hardware_profile && !sku.hardware_profile->version)
    say(problems, "/hardware_profile",
        "names no version; a label moves, and with it what people get",
        fmt::format("write {}@VERSION", sku.hardware_profile->name));
  if (!sku.shape) return;
  for (const Problem& problem : problems_of_shape(shape_to_json(*sku.shape)))
    say(problems, "/shape" + problem.where, problem.message, problem.suggestion);
}

void check_pairs(const std::vector<std::pair<std::string, std::string>>& pairs,
                 std::string_view where, bool are_labels, Problems& problems) {
  if (pairs.size() > kMostSkuLabels)
    say(problems, std::string(where), fmt::format("has more than {} entries", kMostSkuLabels));
  std::set<std::string_view> keys;
  for (const auto& [key, value] : pairs) {
    const std::string at = pointer(where, printable(key));
    if (!is_label_key(key))
      say(problems, at, "is no key: NAME or DOMAIN/NAME, as Kubernetes has it");
    if (!keys.insert(key).second) say(problems, at, "stands twice");
    if (are_labels && !is_label_value(value))
      say(problems, at, "takes letters, digits and . - _ inside, at most 63 characters");
    if (!are_labels)
      if (std::string wrong = wrong_lines(value, kLongestAnnotation); !wrong.empty())
        say(problems, at, std::move(wrong));
  }
}

std::string wrong_https(std::string_view url) {
  if (url.size() > kLongestIconUrl) return fmt::format("is longer than {} bytes", kLongestIconUrl);
  const bool plain = std::ranges::all_of(url, [](char c) {
    return c > ' ' && c <= '~' &&
           std::string_view("\"'<>\\^`{|}").find(c) == std::string_view::npos;
  });
  if (!plain) return "holds characters that an address has only as %XX";
  std::string_view host = url.substr(std::string_view("https://").size());
  host = host.substr(0, host.find_first_of("/?#"));
  if (host.find('@') != host.npos) return "holds a user name or password";
  if (host.empty() || host.front() == ':') return "names no host";
  return {};
}

std::string wrong_data(std::string_view url) {
  if (url.size() > kLongestIconData)
    return fmt::format("is longer than {} bytes", kLongestIconData);
  std::string_view rest = url.substr(std::string_view("data:image/").size());
  const size_t end = rest.find(";base64,");
  // svg is left out: it is a document that may hold scripts
  if (end == rest.npos || std::ranges::find(kPictures, rest.substr(0, end)) == std::end(kPictures))
    return "must be data:image/png;base64,… or jpeg, gif, webp";
  std::vector<uint8_t> bytes;
  rest.remove_prefix(end + std::string_view(";base64,").size());
  if (!decode_base64(rest, bytes) || bytes.empty()) return "is not base64";
  return {};
}

void check_icon(std::string_view url, Problems& problems) {
  if (url.empty()) return;
  std::string wrong = "must begin with https:// or data:image/";
  if (url.starts_with("https://")) wrong = wrong_https(url);
  if (url.starts_with("data:image/")) wrong = wrong_data(url);
  if (!wrong.empty()) say(problems, "/icon_url", std::move(wrong));
}

void check_price(const std::optional<Money>& price, Problems& problems) {
  if (!price) return;
  if (price->micros < 0 || price->micros > kMostMoneyMicros)
    say(problems, "/price_per_hour/amount", "must be 0 to 1,000,000,000");
  if (!is_currency(price->currency))
    say(problems, "/price_per_hour/currency", "is no currency: three capital letters");
}

void check_outputs(const std::vector<OutputSetting>& outputs, Problems& problems) {
  if (outputs.size() > kMostOutputs)
    say(problems, "/outputs", fmt::format("has more than {} outputs", kMostOutputs));
  std::set<std::string_view> names;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string where = fmt::format("/outputs/{}", i);
    if (outputs[i].name.empty())
      say(problems, where + "/name", "is missing");
    else if (!is_input_name(outputs[i].name))
      say(problems, where + "/name",
          "is no name of an output: letters, digits and '_', no digit first, at most 63");
    else if (!names.insert(outputs[i].name).second)
      say(problems, where + "/name", fmt::format("there is another output {}", outputs[i].name));
    check_line(outputs[i].label, kLongestDisplayName, where + "/label", problems);
    check_line(outputs[i].description, kLongestDescription, where + "/description", problems);
  }
}

}  // namespace

std::vector<Problem> problems_of(const ComputeSku& sku) {
  Problems problems;
  check_sku_name(sku, problems);
  check_line(sku.display_name, kLongestDisplayName, "/display_name", problems);
  if (std::string wrong = wrong_lines(sku.description, kLongestSkuDescription); !wrong.empty())
    say(problems, "/description", std::move(wrong));
  check_template(sku.environment_template, problems);
  check_shape(sku, problems);
  check_pairs(sku.labels, "/labels", true, problems);
  check_pairs(sku.annotations, "/annotations", false, problems);
  check_icon(sku.icon_url, problems);
  if (std::string wrong = wrong_lines(sku.readme, kLongestReadme); !wrong.empty())
    say(problems, "/readme", std::move(wrong));
  check_price(sku.price_per_hour, problems);
  for (Problem& problem : problems_of_inputs(sku.inputs)) problems.push_back(std::move(problem));
  check_outputs(sku.outputs, problems);
  return problems;
}

std::vector<Problem> problems_of_edit(const ComputeSku& before, const ComputeSku& after) {
  Problems problems = problems_of(after);
  if (before.name != after.name && !after.name.empty())
    problems.insert(
        problems.begin(),
        {"/name", fmt::format("is {} for good: a name cannot be changed", before.name), ""});
  return problems;
}

}  // namespace exa
