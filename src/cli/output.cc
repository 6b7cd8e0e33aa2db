#include "cli/output.h"

#include <fmt/format.h>

#include "base/quantity.h"
#include "base/text.h"
#include "base/yaml.h"
#include "cli/views.h"

namespace exa {
namespace {

const json::value* at_pointer(const json::value& body, std::string_view pointers) {
  for (const std::string_view path : split(pointers, '|')) {
    const json::value* value = &body;
    for (const std::string_view step : split(path, '/')) {
      if (step.empty()) continue;  // the part before the first slash
      if (value->is_array()) {
        const auto index = parse_count(step, "index");
        const bool there = index && static_cast<size_t>(*index) < value->get_array().size();
        value = there ? &value->get_array()[static_cast<size_t>(*index)] : nullptr;
      } else {
        value = find(*value, step);
      }
      if (value == nullptr) break;
    }
    if (value != nullptr && !value->is_null()) return value;
  }
  return nullptr;
}

std::string plain(const json::value& value) {
  if (value.is_string()) return std::string(value.get_string());
  if (value.is_null()) return "";
  if (value.is_bool()) return value.get_bool() ? "yes" : "no";
  if (!value.is_array()) return to_text(value);
  std::vector<std::string> parts;
  for (const json::value& part : value.get_array()) {
    const std::string_view label = text_or(part, "label", "");
    parts.push_back(label.empty() ? plain(part) : std::string(label));
  }
  return join(parts, ",");
}

std::string age_of(const json::value& value, Time now) {
  if (!value.is_string()) return plain(value);
  const auto time = parse_rfc3339(value.get_string());
  return time ? format_age(now - *time) : plain(value);
}

std::string two_decimals(const json::value& value) {
  // what is there and too small to show is not nothing
  if (value.is_double() && value.get_double() > 0 && value.get_double() < 0.01) return "<0.01";
  std::string text = plain(value);
  const size_t point = text.find('.');
  if (point != std::string::npos && point + 3 < text.size()) text.resize(point + 3);
  return text;
}

// What is known of a sum, and that some of it, or all, has no price.
std::string cost_of(const json::value& item, const json::value* cost) {
  const json::value* set = find(item, "price_set");
  std::string known = cost == nullptr ? "" : two_decimals(*cost);
  if (set == nullptr || !set->is_bool() || set->get_bool()) return known;
  const json::value* parts = find(item, "known_cost");
  if (cost == nullptr && parts != nullptr && parts->is_object()) {
    for (const auto& [currency, amount] : parts->get_object())
      if (two_decimals(amount) != "0")
        known += fmt::format("{}{} {}", known.empty() ? "" : " + ", two_decimals(amount),
                             std::string_view(currency));
  }
  return known.empty() || known == "0" ? "unpriced" : known + " + unpriced";
}

// The worst is what a person must know of; with how many others differ.
std::string statuses_of(const json::value& value, Format format) {
  if (!value.is_array()) return plain(value);
  const auto counts = count_statuses(value);
  if (counts.empty()) return "";
  if (counts.size() == 1) return counts[0].first;
  if (format != Format::wide) {
    return fmt::format("{} ({} of {})", counts[0].first, counts[0].second,
                       value.get_array().size());
  }
  std::vector<std::string> each;
  for (const json::value& resolution : value.get_array()) {
    each.push_back(fmt::format("{}:{}", text_or(resolution, "cluster", "?"),
                               text_or(resolution, "status", "?")));
  }
  return join(each, ",");
}

// Units in use and in all, of whole devices where there are any; "?" for what was not said.
std::string devices_of(const json::value& cards) {
  if (!cards.is_array()) return "";
  int64_t used = 0;
  int64_t units = 0;
  bool used_known = true;
  bool any = false;
  for (const json::value& set : cards.get_array()) {
    const json::value* offers = find(set, "offers");
    if (offers == nullptr || !offers->is_array()) continue;
    for (const json::value& offer : offers->get_array()) {
      const std::string_view sharing = text_or(offer, "sharing", "");
      const json::value* of = find(offer, "units");
      if ((sharing != "whole" && sharing != "unknown") || of == nullptr || !of->is_int64())
        continue;
      const json::value* taken = find(offer, "used");
      const bool said = taken != nullptr && taken->is_int64();
      used_known = used_known && said;
      if (said) used += taken->get_int64();
      units += of->get_int64();
      any = true;
    }
  }
  if (!any) return "";
  return fmt::format("{}/{}", used_known ? std::to_string(used) : "?", units);
}

std::string cell(const json::value& item, const ViewColumn& column, const Rendering& how) {
  const json::value* value = at_pointer(item, column.pointer);
  if (column.show == Show::cost) return cost_of(item, value);
  if (value == nullptr) return "";
  if (column.show == Show::age) return age_of(*value, how.now);
  if (column.show == Show::milli && value->is_int64()) return format_milli(value->get_int64());
  if (column.show == Show::bytes && value->is_int64()) return format_bytes(value->get_int64());
  if (column.show == Show::short_number) return two_decimals(*value);
  if (column.show == Show::devices) return devices_of(*value);
  if (column.show == Show::statuses) return statuses_of(*value, how.format);
  return plain(*value);
}

bool is_list_of_objects(const json::value& value) {
  return value.is_array() && !value.get_array().empty() &&
         std::ranges::any_of(value.get_array(), [](const json::value& v) { return v.is_object(); });
}

// Every key of the items, in the order met.
std::vector<std::string> keys_of(const json::array& items) {
  std::vector<std::string> keys;
  for (const json::value& item : items) {
    if (!item.is_object()) continue;
    for (const auto& member : item.get_object()) {
      if (std::ranges::find(keys, std::string_view(member.key())) == keys.end()) {
        keys.emplace_back(member.key());
      }
    }
  }
  return keys;
}

std::string header_of(std::string_view key) {
  std::string header;
  for (const char c : key) {
    header += c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c == '_' || c == ' ' ? '-' : c;
  }
  return header;
}

Table by_keys(const json::array& items) {
  Table table;
  int drop = 0;
  const std::vector<std::string> keys = keys_of(items);
  // the first key names the thing; the further right, the sooner it goes
  for (const std::string& key : keys) table.columns.push_back({header_of(key), drop++});
  for (const json::value& item : items) {
    auto& row = table.rows.emplace_back();
    for (const std::string& key : keys) {
      const json::value* value = find(item, key);
      row.push_back(value == nullptr ? "" : plain(*value));
    }
  }
  return table;
}

Table by_view(const json::array& items, const ViewTable& view, const Rendering& how) {
  Table table;
  std::vector<const ViewColumn*> shown;
  for (const ViewColumn& column : view.columns) {
    if (column.wide_only && how.format != Format::wide) continue;
    const auto has_it = [&](const json::value& item) { return !cell(item, column, how).empty(); };
    if (column.when_any && std::ranges::none_of(items, has_it)) continue;
    shown.push_back(&column);
    table.columns.push_back({std::string(column.header), column.drop, column.wraps});
  }
  for (const json::value& item : items) {
    auto& row = table.rows.emplace_back();
    for (const ViewColumn* column : shown) row.push_back(cell(item, *column, how));
  }
  return table;
}

std::string indented(const std::string& text) {
  std::string out;
  std::vector<std::string_view> lines = split(text, '\n');
  lines.pop_back();  // the text ends with a line break
  for (const std::string_view line : lines) out += fmt::format("  {}\n", line);
  return out;
}

// `key: value` lines; what holds more stands indented below its key.
void append_record(std::string& out, const json::object& object, const Rendering& how,
                   const std::vector<std::string>& hidden, const std::string& path) {
  for (const auto& member : object) {
    const std::string here = pointer(path, member.key());
    if (std::ranges::find(hidden, here) != hidden.end()) continue;
    const std::string key = printable(member.key());
    const json::value& value = member.value();
    if (value.is_object() && !value.get_object().empty()) {
      std::string inner;
      append_record(inner, value.get_object(), how, hidden, here);
      if (!inner.empty()) out += fmt::format("{}:\n{}", key, indented(inner));
    } else if (is_list_of_objects(value)) {
      Screen narrower = how.screen;
      if (narrower.columns > 2) narrower.columns -= 2;
      out += fmt::format("{}:\n{}", key, indented(lay_out(by_keys(value.get_array()), narrower)));
    } else {
      std::string text = printable(value.is_object() ? "" : plain(value));
      if (text.empty()) text = "-";
      out += fmt::format("{}: {}\n", key, painted(text, text, how.screen));
    }
  }
}

// What a table of the view shows, the record above it need not.
std::vector<std::string> shown_elsewhere(const View& view) {
  std::vector<std::string> paths(view.hidden.begin(), view.hidden.end());
  for (const ViewTable& table : view.tables) {
    for (const std::string_view path : split(table.pointer, '|')) paths.emplace_back(path);
  }
  return paths;
}

// One mark for every command: whoever reads only standard output must not take it for done.
constexpr std::string_view kDryRun = "dry run: ";

std::string headline_of(const View& view, const json::value& body, const Rendering& how) {
  if (view.headline == nullptr) return {};
  std::string line = printable(view.headline(body));
  if (line.empty()) return {};
  if (how.dry_run) line.insert(0, kDryRun);
  if (view.wraps) line = wrap(line, how.screen.columns);
  // the status word inside the sentence, in its colour, which takes no room
  const std::string status(text_or(body, "status", ""));
  const size_t at = status.empty() ? std::string::npos : line.find(": " + status);
  if (at != std::string::npos) {
    line.replace(at + 2, status.size(), painted(status, status, how.screen));
  }
  line += '\n';
  if (view.below == nullptr) return line;
  for (const std::string& more : view.below(body)) {
    const std::string text = printable(more);
    line += (view.wraps ? wrap(text, how.screen.columns) : text) + "\n";
  }
  return line;
}

Printed as_view(const json::value& body, const View& view, const Rendering& how) {
  Printed result;
  result.out = headline_of(view, body, how);
  if (view.record && body.is_object()) {
    append_record(result.out, body.get_object(), how, shown_elsewhere(view), "");
  }
  for (const ViewTable& table : view.tables) {
    const json::value* list = at_pointer(body, table.pointer);
    const bool none = list == nullptr || !list->is_array() || list->get_array().empty();
    if (none) continue;
    if (!result.out.empty()) result.out += '\n';
    if (!table.title.empty()) result.out += fmt::format("{}:\n", table.title);
    const bool many = table.most != 0 && list->get_array().size() > table.most;
    if (many && how.format != Format::wide) {
      result.out += printable(table.summary(body)) + "\n";
      continue;
    }
    result.out += lay_out(by_view(list->get_array(), table, how), how.screen);
  }
  if (result.out.empty()) result.hint = view.empty;
  return result;
}

// A list that stopped at its limit must not read as a whole one. The documents (JSON, YAML) carry
// the cursor themselves.
Printed with_more(Printed rendered, const json::value& body) {
  const std::string_view cursor = text_or(body, "next_cursor", "");
  if (!cursor.empty()) rendered.hint = fmt::format("There is more: --cursor {}", cursor);
  return rendered;
}

Printed by_shape(const json::value& body, const Rendering& how) {
  const json::value* items = find(body, "items");
  if (items != nullptr && items->is_array()) {
    if (items->get_array().empty()) return {"", "Nothing there."};
    return {lay_out(by_keys(items->get_array()), how.screen), ""};
  }
  if (!body.is_object()) return {plain(body) + "\n", ""};
  Printed result;
  append_record(result.out, body.get_object(), how, {}, "");
  if (how.dry_run) result.out.insert(0, std::string(trim(kDryRun)) + "\n");
  return result;
}

// The things of a reply: the items of a list, or the one object.
std::vector<const json::value*> things_of(const json::value& body) {
  std::vector<const json::value*> things;
  const json::value* items = find(body, "items");
  if (items == nullptr || !items->is_array()) return {&body};
  for (const json::value& item : items->get_array()) things.push_back(&item);
  return things;
}

std::string as_lines(const json::value& body) {
  std::string out;
  for (const json::value* thing : things_of(body)) out += to_text(*thing) + "\n";
  return out;
}

// The keys that a view shows: the header of a list that is empty.
std::vector<std::string> keys_of(const View* view) {
  std::vector<std::string> keys;
  if (view == nullptr || view->tables.empty()) return keys;
  for (const ViewColumn& column : view->tables[0].columns) {
    std::string key(split(split(column.pointer, '|')[0], '/')[1]);
    if (std::ranges::find(keys, key) == keys.end()) keys.push_back(std::move(key));
  }
  return keys;
}

std::string as_csv(const json::value& body, const View* view) {
  json::array items;
  for (const json::value* thing : things_of(body)) items.push_back(*thing);
  const std::vector<std::string> keys = items.empty() ? keys_of(view) : keys_of(items);
  std::string out;
  if (keys.empty()) return out;
  const auto write_line = [&](const auto& text_of) {
    for (size_t i = 0; i < keys.size(); ++i) {
      if (i != 0) out += ',';
      out += csv_cell(text_of(keys[i]));
    }
    out += "\r\n";
  };
  write_line([](const std::string& key) { return key; });
  for (const json::value& item : items) {
    write_line([&](const std::string& key) -> std::string {
      const json::value* value = find(item, key);
      if (value == nullptr || value->is_null()) return "";
      if (value->is_string()) return std::string(value->get_string());
      return to_text(*value);
    });
  }
  return out;
}

// A manifest is named in its metadata, a machine by its id.
std::string_view name_of_thing(const json::value& thing) {
  const json::value* metadata = find(thing, "metadata");
  const std::string_view name = text_or(metadata == nullptr ? thing : *metadata, "name", "");
  return name.empty() ? text_or(thing, "id", "") : name;
}

// What has no name is no mistake of whoever asked: how the command ended must not depend on the
// format.
Printed as_names(const json::value& body) {
  Printed result;
  for (const json::value* thing : things_of(body)) {
    const std::string_view name = name_of_thing(*thing);
    if (name.empty()) return {"", "What this command answers has no names."};
    const json::value* version = find(*thing, "version");
    const bool numbered = version != nullptr && version->is_int64();
    result.out += printable(name) + (numbered ? "@" + to_text(*version) : "") + "\n";
  }
  return result;
}

}  // namespace

std::string csv_cell(std::string_view text) {
  std::string cell_text;
  if (!text.empty() && std::string_view("=+-@\t\r").find(text[0]) != std::string_view::npos) {
    cell_text = "'";
  }
  cell_text += text;
  if (cell_text.find_first_of(",\"\r\n") == std::string::npos) return cell_text;
  std::string quoted = "\"";
  for (const char c : cell_text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::string deed_of(const Reply& reply, std::string_view route_id) {
  const auto body = parse_json(reply.body, "reply", tool_output_limits());
  if (!body) return {};
  const View* view = find_view(route_id);
  const std::string line =
      view != nullptr && view->headline != nullptr ? view->headline(*body) : std::string();
  return printable(line.empty() ? text_or(*body, "name", "") : line);
}

Result<Printed> render(const Reply& reply, std::string_view route_id, const Rendering& how) {
  const View* view = find_view(route_id);
  const bool tabular = how.format == Format::table || how.format == Format::wide;
  const bool document = reply.content_type != "application/json";
  if (document || how.format == Format::json || (tabular && view != nullptr && view->verbatim)) {
    return Printed{reply.body, ""};
  }
  EXA_ASSIGN(const json::value body, parse_json(reply.body, "reply", tool_output_limits()));
  if (tabular && view != nullptr && !view->prints.empty())
    return Printed{std::string(text_or(body, view->prints, "")), ""};
  switch (how.format) {
    case Format::yaml:
      return Printed{to_yaml(body), ""};
    case Format::jsonl:
      return with_more({as_lines(body), ""}, body);
    case Format::csv:
      return with_more({as_csv(body, view), ""}, body);
    case Format::name:
      return with_more(as_names(body), body);
    default:
      return with_more(
          view == nullptr || (!view->record && view->tables.empty() && view->headline == nullptr)
              ? by_shape(body, how)
              : as_view(body, *view, how),
          body);
  }
}

}  // namespace exa
