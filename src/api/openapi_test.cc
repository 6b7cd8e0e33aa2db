// The document and the page follow from the table, and the table's examples from its rows.
#include "api/openapi.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/api_page.h"
#include "api/call.h"
#include "api/describe.h"
#include "base/text.h"

namespace exa {
namespace {

using testing::HasSubstr;
using testing::Not;

// Every "$ref" of a document, wherever it stands.
void collect_refs(const json::value& value, std::vector<std::string>& refs) {
  if (const json::array* list = value.if_array()) {
    for (const json::value& element : *list) collect_refs(element, refs);
  } else if (const json::object* object = value.if_object()) {
    for (const auto& member : *object) {
      if (member.key() == "$ref")
        refs.emplace_back(member.value().as_string());
      else
        collect_refs(member.value(), refs);
    }
  }
}

TEST(OpenApi, EveryExampleIsARequestThatItsRowTakes) {
  for (const Route& route : routes()) {
    for (const std::string_view line : route.examples) {
      const auto args = example_args(route, line);
      ASSERT_TRUE(args) << args.error().message;
      const Request request = build_request(route, *args);
      const auto matched = match_route(routes(), request.method, request.path);
      ASSERT_TRUE(matched) << line;
      EXPECT_EQ(matched->route->id, route.id) << line;
      const auto call = make_call(*matched, request);
      EXPECT_TRUE(call) << line << ": " << (call ? "" : call.error().problems.at(0).message);
    }
  }
}

TEST(OpenApi, EveryRowIsAnOperationWithItsCommandTierAndAction) {
  const json::object document = openapi(routes());
  EXPECT_EQ(document.at("openapi"), "3.1.0");
  for (const Route& route : routes()) {
    const json::object& operation =
        document.at("paths").at(route.path).at(lower(name(route.method))).as_object();
    EXPECT_EQ(operation.at("operationId").as_string(), route.id);
    EXPECT_EQ(operation.at("x-exa-tier").as_string(), name(route.tier));
    EXPECT_EQ(operation.at("x-exa-action").as_string(), route.action);
    if (const json::value* body = operation.if_contains("requestBody")) {
      EXPECT_EQ(body->at("content").at("application/json").at("schema").at("additionalProperties"),
                false);
    }
  }
}

TEST(OpenApi, EveryReferenceLeadsSomewhere) {
  const json::value document = openapi(routes());
  std::vector<std::string> refs;
  collect_refs(document, refs);
  EXPECT_GT(refs.size(), 100U);
  for (const std::string& ref : refs) {
    boost::system::error_code unknown;
    EXPECT_NE(document.find_pointer(ref.substr(1), unknown), nullptr) << ref;
  }
}

TEST(OpenApi, TheSameTableGivesTheSameBytes) {
  EXPECT_EQ(to_pretty_text(openapi(routes())), to_pretty_text(openapi(routes())));
}

TEST(OpenApi, RowsThatReplaceTakeIfMatchAndTheirReadsCarryAnETag) {
  for (const Route& route : routes()) {
    if (!route.if_match) continue;
    EXPECT_NE(route.tier, Tier::read_only) << route.id;
    const bool read = std::ranges::any_of(routes(), [&](const Route& other) {
      const std::string_view path = other.path;
      return other.method == Method::get && carries_etag(routes(), other) &&
             (path == route.path || route.path.starts_with(std::string(path) + "/"));
    });
    EXPECT_TRUE(read) << route.id << " takes a tag that nobody can read";
  }
}

TEST(ApiPage, NamesEveryRouteAndLoadsNothing) {
  const std::string page = api_page(routes(), "https://exa.example.org");
  for (const Route& route : routes())
    EXPECT_THAT(page, HasSubstr(fmt::format("<h3 id=\"{}\">", route.id)));
  for (const char* outside : {"<script", "<img", "<link", "@import", "url("})
    EXPECT_THAT(page, Not(HasSubstr(outside)));
}

TEST(ApiPage, TextIsEscaped) {
  EXPECT_EQ(html_escaped("<a href=\"x\">'&"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;");
}

}  // namespace
}  // namespace exa
