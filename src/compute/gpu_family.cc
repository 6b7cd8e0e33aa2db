#include "compute/gpu_family.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "hardware/catalogue.h"

namespace exa {
namespace {

constexpr std::string_view kNothing[] = {"gpu", "accelerator", "n-a", "unknown", "null", "none"};

bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || is_upper(c) || (c >= '0' && c <= '9') ||
         (static_cast<unsigned char>(c) & 0x80) != 0;
}

std::string upper(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
  return result;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (c != ' ' && c != '-' && c != '_' && c != '\t')
      words.back() += c;
    else if (!words.back().empty())
      words.emplace_back();
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

GpuFamily named(const std::vector<std::string>& words) {
  return {lower(join(words, "-")), join(words, " ")};
}

// "Intel Gaudi" and "Gaudi 2" are "Intel Gaudi 2".
GpuFamily with_vendor(Family family, std::string_view product) {
  std::vector<std::string> words;
  if (family != Family::other) words = words_of(info(family).vendor);
  std::vector<std::string> rest = words_of(product);
  if (!words.empty() && lower(words.back()) == lower(rest.front())) words.pop_back();
  words.insert(words.end(), rest.begin(), rest.end());
  return named(words);
}

// "A100-SXM-64GB", a size that the catalogue lacks, is an A100 all the same.
std::string without_size(const std::string& normalised) {
  std::vector<std::string> kept;
  for (const std::string& word : words_of(normalised)) {
    const bool is_size = word.size() > 2 && word.ends_with("gb") &&
                         word.find_first_not_of("0123456789") == word.size() - 2;
    if (!is_size) kept.push_back(word);
  }
  return join(kept, "-");
}

bool one_family(const std::vector<const DeviceModel*>& rows) {
  return std::ranges::all_of(
      rows, [&](const DeviceModel* row) { return row->family == rows.front()->family; });
}

bool one_series(const std::vector<const DeviceModel*>& rows) {
  return std::ranges::all_of(
      rows, [&](const DeviceModel* row) { return row->series == rows.front()->series; });
}

}  // namespace

GpuFamily gpu_family(std::string_view text) {
  if (std::ranges::none_of(text, is_letter_or_digit)) return {};
  const std::string normalised = normalise_model(text);
  if (std::ranges::find(kNothing, normalised) != std::end(kNothing)) return {};
  std::vector<const DeviceModel*> rows = models_meant(text);
  if (rows.empty()) rows = models_meant(without_size(normalised));
  if (rows.empty() || !one_family(rows)) {
    std::vector<std::string> words = words_of(printable(text));
    for (std::string& word : words) word = upper(word);
    return named(words);
  }
  if (one_series(rows)) return with_vendor(rows.front()->family, rows.front()->series);
  // "MI300" may be two series: it is neither.
  return with_vendor(rows.front()->family, upper(normalised));
}

}  // namespace exa
