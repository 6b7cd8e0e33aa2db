#include "discover/host_xml.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"

namespace exa {
namespace {

constexpr size_t kMaxBytes = size_t{64} << 20;
constexpr size_t kMaxDepth = 32;
constexpr size_t kMaxElements = 500'000;

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.' || c == ':';
}

class Scanner {
 public:
  Scanner(std::string_view text, std::string_view what) : text_(text), what_(what) {}

  Result<XmlElement> document() {
    if (text_.size() > kMaxBytes) return wrong("is too large");
    while (true) {
      skip_blanks();
      if (looking_at("<?"))
        EXA_TRY(skip_past("?>"));
      else if (looking_at("<!--"))
        EXA_TRY(skip_past("-->"));
      else if (looking_at("<!DOCTYPE"))
        EXA_TRY(skip_doctype());
      else
        break;
    }
    return element_tree();
  }

 private:
  Failure wrong(std::string_view why) const {
    auto line =
        std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n') + 1;
    return fail(Code::unreadable_output, fmt::format("{}: line {}: {}", what_, line, why));
  }
  bool looking_at(std::string_view token) const { return text_.substr(at_).starts_with(token); }
  void skip_blanks() {
    while (at_ < text_.size() &&
           std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
      ++at_;
  }
  Result<void> skip_past(std::string_view token) {
    size_t end = text_.find(token, at_);
    if (end == std::string_view::npos) return wrong("is cut off");
    at_ = end + token.size();
    return {};
  }
  Result<void> skip_doctype() {
    size_t end = text_.find('>', at_);
    if (text_.substr(at_, end - at_).find('[') != std::string_view::npos)
      return wrong("a document type with declarations is refused");
    return skip_past(">");
  }
  std::string_view name() {
    size_t start = at_;
    while (at_ < text_.size() && is_name_character(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }

  Result<std::string> decoded(std::string_view raw) const {
    static constexpr std::array<std::pair<std::string_view, char>, 5> kEntities = {
        {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}}};
    std::string plain;
    for (size_t i = 0; i < raw.size(); ++i) {
      if (raw[i] != '&') {
        plain += raw[i];
        continue;
      }
      auto entity = std::find_if(kEntities.begin(), kEntities.end(), [&](const auto& one) {
        return raw.substr(i).starts_with(one.first);
      });
      if (entity == kEntities.end()) return wrong("an entity that is not known");
      plain += entity->second;
      i += entity->first.size() - 1;
    }
    return plain;
  }

  // Returns whether the element is empty ("<a/>").
  Result<bool> start_tag(XmlElement& element) {
    ++at_;
    element.name = name();
    if (element.name.empty()) return wrong("is no element");
    while (true) {
      skip_blanks();
      if (looking_at("/>")) return at_ += 2, true;
      if (looking_at(">")) return at_ += 1, false;
      std::string_view key = name();
      if (key.empty() || !looking_at("=")) return wrong("is no attribute");
      ++at_;
      char quote = at_ < text_.size() ? text_[at_] : '\0';
      size_t end = text_.find(quote, at_ + 1);
      if ((quote != '"' && quote != '\'') || end == std::string_view::npos)
        return wrong("is no quoted value");
      EXA_ASSIGN(std::string value, decoded(text_.substr(at_ + 1, end - at_ - 1)));
      element.attributes.emplace_back(key, std::move(value));
      at_ = end + 1;
    }
  }

  Result<XmlElement> element_tree() {
    std::vector<XmlElement> open;
    size_t elements = 0;
    while (at_ < text_.size()) {
      if (looking_at("<!--")) {
        EXA_TRY(skip_past("-->"));
      } else if (looking_at("</")) {
        at_ += 2;
        std::string_view closing = name();
        skip_blanks();
        if (open.empty() || closing != open.back().name || !looking_at(">"))
          return wrong(fmt::format("</{}> closes nothing", printable(closing)));
        ++at_;
        if (auto done = closed(open)) return std::move(*done);
      } else if (looking_at("<")) {
        if (++elements > kMaxElements || open.size() >= kMaxDepth)
          return wrong("is too deep or too large");
        XmlElement element;
        EXA_ASSIGN(bool empty, start_tag(element));
        open.push_back(std::move(element));
        if (!empty) continue;
        if (auto done = closed(open)) return std::move(*done);
      } else {
        size_t end = std::min(text_.find('<', at_), text_.size());
        if (open.empty()) return wrong("does not begin with an element");
        EXA_ASSIGN(std::string plain, decoded(text_.substr(at_, end - at_)));
        open.back().text += plain;
        at_ = end;
      }
    }
    return wrong(open.empty() ? "is empty"
                              : fmt::format("is cut off within <{}>", printable(open.back().name)));
  }

  // Moves the innermost open element into its parent; the root has none.
  static std::optional<XmlElement> closed(std::vector<XmlElement>& open) {
    XmlElement element = std::move(open.back());
    open.pop_back();
    element.text = std::string(trim(element.text));
    if (open.empty()) return element;
    open.back().children.push_back(std::move(element));
    return std::nullopt;
  }

  std::string_view text_;
  std::string_view what_;
  size_t at_ = 0;
};

}  // namespace

const XmlElement* XmlElement::child(std::string_view wanted) const {
  auto found = std::find_if(children.begin(), children.end(),
                            [&](const XmlElement& one) { return one.name == wanted; });
  return found == children.end() ? nullptr : &*found;
}

std::string_view XmlElement::text_of(std::string_view path) const {
  const XmlElement* at = this;
  for (std::string_view step : split(path, '/')) {
    at = at->child(step);
    if (at == nullptr) return "";
  }
  return at->text;
}

std::string_view XmlElement::attribute(std::string_view wanted) const {
  for (const auto& [key, value] : attributes)
    if (key == wanted) return value;
  return "";
}

Result<XmlElement> parse_xml(std::string_view text, std::string_view what) {
  return Scanner(text, what).document();
}

}  // namespace exa
