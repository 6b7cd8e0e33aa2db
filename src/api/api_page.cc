#include "api/api_page.h"

#include <map>

#include <fmt/format.h>

#include "api/call.h"
#include "api/describe.h"
#include "base/encoding.h"
#include "base/quote.h"
#include "base/text.h"

namespace exa {
namespace {

constexpr std::string_view kStyle = R"css(
:root { color-scheme: light dark; --line: #8884; --soft: #8882; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem; }
h1, h2, h3 { line-height: 1.2; }
h2 { border-bottom: 1px solid var(--line); margin-top: 3rem; text-transform: capitalize; }
h3 { font: 600 1rem/1.4 ui-monospace, monospace; overflow-wrap: anywhere; margin: 2rem 0 .5rem; }
nav a { display: inline-block; margin-right: 1rem; text-transform: capitalize; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem .3rem 0;
  border-top: 1px solid var(--line); overflow-wrap: anywhere; }
code, pre { font: .875rem/1.45 ui-monospace, monospace; }
pre { background: var(--soft); padding: .75rem; overflow-x: auto; border-radius: .4rem; }
.wide { overflow-x: auto; }
.tier { font-size: .8rem; border: 1px solid var(--line); border-radius: 1rem; padding: 0 .6rem; }
)css";

std::string code_of(std::string_view text) {
  return fmt::format("<code>{}</code>", html_escaped(text));
}

std::string_view place_of(In in) {
  switch (in) {
    case In::path:
      return "path";
    case In::query:
      return "query";
    case In::body:
      return "body";
  }
  return "";
}

std::string type_of(const Param& param) {
  if (!param.choices.empty()) {
    return fmt::format("{}{}", param.kind == Kind::csv ? "list of " : "",
                       html_escaped(fmt::format("{}", fmt::join(param.choices, " | "))));
  }
  if (param.kind == Kind::csv || param.kind == Kind::words) return "list of text";
  if (param.kind == Kind::document) return "object";
  if (param.kind == Kind::integer && param.most != INT64_MAX)
    return fmt::format("{} to {}", param.least, param.most);
  const json::object schema = schema_of(param);
  return std::string(text_or(schema, "type", ""));
}

std::string param_row(const Param& param) {
  std::string says = html_escaped(param.help);
  if (param.required) says += " <b>(required)</b>";
  if (!param.fallback.empty()) says += fmt::format(" (default {})", html_escaped(param.fallback));
  return fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n", code_of(param.name),
                     place_of(param.in), type_of(param), says);
}

std::string header_row(std::string_view header, std::string_view says) {
  return fmt::format("<tr><td>{}</td><td>header</td><td>string</td><td>{}</td></tr>\n",
                     code_of(header), html_escaped(says));
}

std::string params_table(const Route& route) {
  std::string rows;
  for (const Param& param : route.params) rows += param_row(param);
  if (takes_idempotency_key(route))
    rows += header_row("Idempotency-Key", "done once, however often it is sent within 24 hours");
  if (route.if_match)
    rows += header_row("If-Match", "ETag of the state that you read, or * for any");
  if (rows.empty()) return {};
  return fmt::format(
      "<div class=\"wide\"><table>\n<tr><th>Name</th><th>In</th><th>Type</th><th>What</th></tr>\n"
      "{}</table></div>\n",
      rows);
}

std::string errors_line(const Route& route) {
  std::map<int, std::vector<std::string>> by_status;
  for (const Code code : error_codes_of(route))
    by_status[info(code).http_status].push_back(
        fmt::format("<a href=\"#error-{0}\"><code>{0}</code></a>", info(code).name));
  std::vector<std::string> parts;
  for (const auto& [status, names] : by_status)
    parts.push_back(fmt::format("{} {}", status, join(names, ", ")));
  return fmt::format("<p>Errors: {}</p>\n", join(parts, " · "));
}

// Only what the row and its example say goes into the line; no secret is ever part of it.
std::string curl_line(const Route& route, const json::object& args, std::string_view origin) {
  const Request request = build_request(route, args);
  std::string url = fmt::format("{}{}", origin, request.path);
  for (char mark = '?'; const auto& [key, value] : request.query) {
    url += fmt::format("{}{}={}", mark, percent_encode(key), percent_encode(value));
    mark = '&';
  }
  std::string line = "curl";
  if (route.method != Method::get) line += fmt::format(" -X {}", name(route.method));
  line += " -H \"Authorization: Bearer $EXA_TOKEN\"";
  if (route.if_match) line += " -H 'If-Match: *'";
  if (!request.body.empty()) {
    line +=
        fmt::format(" \\\n  -H 'Content-Type: application/json' -d {}", shell_quote(request.body));
  }
  return fmt::format("{} \\\n  {}", line, shell_quote(url));
}

std::string example_of(const Route& route, std::string_view origin) {
  if (route.examples.empty()) return {};
  const std::string_view command = route.examples.front();
  const auto args = example_args(route, command);
  EXA_ASSERT(args);  // a test holds every example against its row
  return fmt::format("<pre>$ {}\n\n$ {}</pre>\n", html_escaped(command),
                     html_escaped(curl_line(route, *args, origin)));
}

std::string section_of(const Route& route, std::string_view origin) {
  std::string out =
      fmt::format("<h3 id=\"{0}\">{1} {2}</h3>\n<p>{3} <span class=\"tier\">{4}</span></p>\n",
                  html_escaped(route.id), name(route.method), html_escaped(route.path),
                  html_escaped(fmt::format("{}.", route.summary)), name(route.tier));
  if (!route.detail.empty()) out += fmt::format("<p>{}</p>\n", html_escaped(route.detail));
  out += params_table(route);
  out += fmt::format("<p>Answers {} with {}</p>\n", fmt::join(success_statuses(route), " or "),
                     code_of(route.reply));
  out += errors_line(route);
  return out + example_of(route, origin);
}

std::string errors_section() {
  std::string rows;
  for (const CodeInfo& code : all_codes()) {
    rows += fmt::format("<tr id=\"error-{}\"><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                        code.name, code_of(code.name), code.http_status, code.exit_code,
                        html_escaped(code.explain));
  }
  return fmt::format(
      "<h2 id=\"errors\">Errors</h2>\n<div class=\"wide\"><table>\n"
      "<tr><th>Code</th><th>Status</th><th>Exit</th><th>What</th></tr>\n{}</table></div>\n",
      rows);
}

}  // namespace

std::string html_escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string api_page(std::span<const Route> table, std::string_view origin) {
  std::vector<std::pair<std::string, std::string>> groups;  // in the order of the table
  for (const Route& route : table) {
    const std::string group = group_of(route);
    auto found = std::ranges::find(groups, group, &std::pair<std::string, std::string>::first);
    if (found == groups.end()) found = groups.insert(groups.end(), {group, ""});
    found->second += section_of(route, origin);
  }
  std::string links;
  std::string sections;
  for (const auto& [group, text] : groups) {
    std::string anchor = fmt::format("group-{}", group);
    std::ranges::replace(anchor, ' ', '-');
    links += fmt::format("<a href=\"#{}\">{}</a>\n", anchor, html_escaped(group));
    sections += fmt::format("<h2 id=\"{}\">{}</h2>\n{}", anchor, html_escaped(group), text);
  }
  links += "<a href=\"#errors\">Errors</a>\n";
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>exa API</title>\n<style>{}</style>\n</head>\n<body>\n<h1>exa API</h1>\n"
      "<p>Every command is a route, and both answer the same bytes. The same for programs: "
      "<a href=\"/openapi.json\">/openapi.json</a>. Left out of both: signing in, the stream of "
      "events (<code>/api/v1/watch</code>) and the pages <code>/healthz</code>, "
      "<code>/readyz</code> and "
      "<code>/metrics</code>.</p>\n<nav>\n{}</nav>\n{}{}</body>\n</html>\n",
      kStyle, links, sections, errors_section());
}

}  // namespace exa
