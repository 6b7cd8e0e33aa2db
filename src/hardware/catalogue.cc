#include "hardware/catalogue.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/error.h"
#include "base/quantity.h"
#include "base/text.h"

namespace exa {
namespace {

using Words = std::set<std::string, std::less<>>;

constexpr std::string_view kVendorWords[] = {"nvidia", "corporation", "amd",        "ati",
                                             "intel",  "habana",      "habanalabs", "google",
                                             "tesla",  "geforce",     "radeon",     "instinct"};

// Texts that name a family and no model.
struct FamilyWord {
  std::string_view word;
  Family family;
};
constexpr FamilyWord kFamilyWords[] = {
    {"nvidia", Family::nvidia},     {"cuda", Family::nvidia},     {"amd", Family::amd},
    {"gaudi", Family::intel_gaudi}, {"hpu", Family::intel_gaudi}, {"habana", Family::intel_gaudi},
    {"tpu", Family::tpu},
};

// Texts that name nothing at all.
constexpr std::string_view kNothing[] = {"", "gpu", "accelerator", "n-a", "unknown", "null"};

// Words that turn one product into another: an RTX 4090 Laptop is no RTX 4090.
constexpr std::string_view kOtherModelWords[] = {"ti",  "super", "laptop", "mobile", "max", "xt",
                                                 "xtx", "gre",   "ada",    "pro",    "d",   "nvl"};

template <size_t N>
bool contains(const std::string_view (&table)[N], std::string_view word) {
  return std::find(std::begin(table), std::end(table), word) != std::end(table);
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_separator(char c) {
  return std::string_view(" -_/[](),;\t").find(c) != std::string_view::npos;
}

// Tools that read the PCI id list print chip and product: "Arcturus GL-XL [Instinct MI100]".
std::string_view product_part(std::string_view text) {
  const size_t close = text.rfind(']');
  if (close == std::string_view::npos) return text;
  const size_t open = text.rfind('[', close);
  return open == std::string_view::npos ? text : text.substr(open + 1, close - open - 1);
}

std::string without_marks(std::string text) {
  for (std::string_view mark : {"(r)", "(tm)"})
    for (size_t at; (at = text.find(mark)) != std::string::npos;)
      text.replace(at, mark.size(), " ");
  return text;
}

std::vector<std::string> tokens(std::string_view text) {
  const std::string plain = without_marks(lower(product_part(text)));
  std::vector<std::string> words(1);
  for (char c : plain) {
    if (!is_separator(c))
      words.back() += c;
    else if (!words.back().empty())
      words.emplace_back();
  }
  if (words.back().empty()) words.pop_back();
  size_t vendor = 0;
  while (vendor + 1 < words.size() && contains(kVendorWords, words[vendor])) ++vendor;
  words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(vendor));
  return words;
}

Words word_set(std::string_view text) {
  std::vector<std::string> list = tokens(text);
  return {std::make_move_iterator(list.begin()), std::make_move_iterator(list.end())};
}

bool within(const Words& part, const Words& whole) {
  return std::includes(whole.begin(), whole.end(), part.begin(), part.end());
}

// "80gb": a size, which several models share.
bool is_memory_word(std::string_view word) {
  return word.size() > 2 && word.ends_with("gb") &&
         std::all_of(word.begin(), word.end() - 2, is_digit);
}

// A word with a digit is a product's number; one without may be a site's own label ("big").
bool is_product_word(std::string_view word) {
  return !word.starts_with("0x") && !is_memory_word(word) &&
         std::any_of(word.begin(), word.end(), is_digit);
}

std::string memory_word(const DeviceModel& model) {
  return std::to_string(model.sold_memory_bytes / kGiB) + "gb";
}

// The names of one row, ready for lookup.
struct KnownNames {
  const DeviceModel* model;
  Words series;
  std::vector<Words> names;  // of which any part that contains the series may be written
};

struct Index {
  // Whole names. One wins over parts of longer ones: "H100 PCIe" is a printed name, though another
  // card's longer name holds both words.
  std::unordered_map<std::string, std::vector<const DeviceModel*>> exact;
  // By the last word of the series, which every text that means the row contains.
  std::unordered_map<std::string, std::vector<KnownNames>> parts;
};

Index build_index() {
  Index index;
  for (const DeviceModel& model : catalogue()) {
    KnownNames known{&model, word_set(model.series), {}};
    auto add = [&](std::string_view name) {
      auto& rows = index.exact[normalise_model(name)];
      if (std::find(rows.begin(), rows.end(), &model) == rows.end()) rows.push_back(&model);
      // Of "RX 6700/6700 XT" a part would be another of its models.
      if (name.find('/') != std::string_view::npos) return;
      Words words = word_set(name);
      words.insert(memory_word(model));
      known.names.push_back(std::move(words));
    };
    add(model.name);
    add(model.series);
    for (std::string_view alias : model.aliases) add(alias);
    index.parts[tokens(model.series).back()].push_back(std::move(known));
  }
  return index;
}

const Index& index() {
  static const Index built = build_index();
  return built;
}

bool means(const KnownNames& known, const Words& text) {
  return within(known.series, text) &&
         std::any_of(known.names.begin(), known.names.end(),
                     [&](const Words& name) { return within(text, name); });
}

// Drivers keep some memory for themselves and releases differ: up to 3 % below what the catalogue
// has, 1 % above.
bool has_memory(const DeviceModel& model, int64_t bytes) {
  const int64_t sold = model.sold_memory_bytes;
  const int64_t reported = model.reported_memory_bytes > 0 ? model.reported_memory_bytes : sold;
  return bytes >= std::min(sold, reported) / 100 * 97 &&
         bytes <= std::max(sold, reported) / 100 * 101;
}

std::vector<const DeviceModel*> models_meant(std::string_view text,
                                             std::optional<int64_t> memory_bytes) {
  std::vector<const DeviceModel*> rows = exa::models_meant(text);
  if (!memory_bytes || rows.size() < 2) return rows;
  std::vector<const DeviceModel*> fitting;
  for (const DeviceModel* row : rows)
    if (has_memory(*row, *memory_bytes)) fitting.push_back(row);
  return fitting.empty() ? rows : fitting;
}

template <typename Predicate>
Words only(const Words& words, Predicate predicate) {
  Words kept;
  std::copy_if(words.begin(), words.end(), std::inserter(kept, kept.end()), predicate);
  return kept;
}

bool share_a_word(const Words& a, const Words& b) {
  return std::any_of(a.begin(), a.end(), [&](const std::string& word) { return b.contains(word); });
}

bool differ_by_another_model(const Words& a, const Words& b) {
  Words difference;
  std::set_symmetric_difference(a.begin(), a.end(), b.begin(), b.end(),
                                std::inserter(difference, difference.end()));
  return std::any_of(difference.begin(), difference.end(),
                     [](const std::string& word) { return contains(kOtherModelWords, word); });
}

Match compare_words(std::string_view hint_text, std::string_view reported_text) {
  const Words hint = word_set(hint_text);
  const Words reported = word_set(reported_text);
  const Words hint_products = only(hint, is_product_word);
  const Words reported_products = only(reported, is_product_word);
  const bool several = product_part(reported_text).find('/') != std::string_view::npos;
  if (several && within(hint, reported)) return Match::not_reported;

  if (share_a_word(hint_products, reported_products)) {
    if (differ_by_another_model(hint, reported)) return Match::contradicted;
  } else if (!hint_products.empty() && !reported_products.empty()) {
    return Match::contradicted;
  }
  if (within(hint, reported)) return Match::confirmed;
  const Words hint_memory = only(hint, is_memory_word);
  const Words reported_memory = only(reported, is_memory_word);
  if (!hint_memory.empty() && !reported_memory.empty() && hint_memory != reported_memory)
    return Match::contradicted;
  return Match::not_reported;
}

// Kubernetes resource names hold no '+': mig-1g.10gb.me is the profile 1g.10gb+me.
std::string profile_name(std::string_view text) {
  std::string name = lower(text);
  const size_t size_end = name.find("gb.");
  if (size_end != std::string::npos) name[size_end + 2] = '+';
  return name;
}

}  // namespace

std::string normalise_model(std::string_view text) {
  return join(tokens(text), "-");
}

std::vector<const DeviceModel*> models_meant(std::string_view text) {
  std::vector<const DeviceModel*> rows;
  const std::vector<std::string> list = tokens(text);
  const std::string name = join(list, "-");
  if (contains(kNothing, name)) return rows;
  for (const FamilyWord& row : kFamilyWords)
    if (row.word == name)
      for (const DeviceModel& model : catalogue())
        if (model.family == row.family) rows.push_back(&model);
  if (!rows.empty()) return rows;

  if (const auto exact = index().exact.find(name); exact != index().exact.end())
    return exact->second;
  const Words words(list.begin(), list.end());
  for (const std::string& word : words) {
    const auto parts = index().parts.find(word);
    if (parts == index().parts.end()) continue;
    for (const KnownNames& known : parts->second)
      if (means(known, words)) rows.push_back(known.model);
  }
  std::sort(rows.begin(), rows.end());  // catalogue order, whatever the order of the words
  return rows;
}

const DeviceModel* single_model(std::string_view text, std::optional<int64_t> memory_bytes) {
  const std::vector<const DeviceModel*> rows = models_meant(text, memory_bytes);
  return rows.size() == 1 ? rows.front() : nullptr;
}

Match match_meant(std::span<const DeviceModel* const> hint,
                  std::span<const DeviceModel* const> reported) {
  EXA_ASSERT(!hint.empty() && !reported.empty());
  const auto hinted = [&](const DeviceModel* row) {
    return std::find(hint.begin(), hint.end(), row) != hint.end();
  };
  if (std::all_of(reported.begin(), reported.end(), hinted)) return Match::confirmed;
  if (std::none_of(reported.begin(), reported.end(), hinted)) return Match::contradicted;
  return Match::not_reported;
}

Match match_model(std::string_view hint, std::string_view reported,
                  std::optional<int64_t> memory_bytes) {
  if (contains(kNothing, normalise_model(reported)) || contains(kNothing, normalise_model(hint)))
    return Match::not_reported;
  const std::vector<const DeviceModel*> hinted = models_meant(hint);
  const std::vector<const DeviceModel*> seen = models_meant(reported, memory_bytes);
  if (!hinted.empty() && !seen.empty()) return match_meant(hinted, seen);
  return compare_words(hint, reported);
}

const MigProfile* find_mig_profile(const DeviceModel& model, std::string_view profile) {
  const std::string name = profile_name(profile);
  for (const MigProfile& row : model.mig_profiles)
    if (row.name == name) return &row;
  return nullptr;
}

bool is_mig_profile_name(std::string_view text) {
  auto take_digits = [&] {
    const size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
    text.remove_prefix(end);
    return end > 0;
  };
  auto take = [&](std::string_view word) {
    if (!text.starts_with(word)) return false;
    text.remove_prefix(word.size());
    return true;
  };
  constexpr std::string_view kSuffixes[] = {"", "+me", "+me.all", "+gfx", "-me"};
  return take_digits() && take("g.") && take_digits() && take("gb") && contains(kSuffixes, text);
}

std::vector<std::string> canonical_model_names(Family family) {
  std::vector<std::string> names;
  for (const DeviceModel& model : catalogue())
    if (model.family == family) names.emplace_back(model.name);
  return names;
}

}  // namespace exa
