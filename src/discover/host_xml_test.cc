#include "discover/host_xml.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace exa {
namespace {

TEST(HostXml, ReadsElementsTextAttributesAndEntities) {
  auto root = parse_xml(
      "<?xml version=\"1.0\" ?>\n<!DOCTYPE a SYSTEM \"a.dtd\">\n<!-- c -->\n"
      "<a><b id=\"1 &amp; 2\"> x &lt; y </b><c><d/><d>z</d></c></a>\nWARNING: after",
      "doc");
  ASSERT_TRUE(root) << root.error().message;
  EXPECT_EQ(root->text_of("b"), "x < y");
  EXPECT_EQ(root->child("b")->attribute("id"), "1 & 2");
  EXPECT_EQ(root->child("c")->children.size(), 2U);
  EXPECT_EQ(root->text_of("c/d"), "");
  EXPECT_EQ(root->text_of("c/missing/e"), "");
}

TEST(HostXml, RefusesWhatIsNotWholeAndSaysTheLine) {
  for (std::string_view text :
       {"", "x", "<", "<a", "<a>", "<a></b>", "<a>\n</a", "</a>", "<a b></a>", "<a b=c></a>",
        "<a b=\"c></a>", "<a>&bomb;</a>", "<!DOCTYPE a [<!ENTITY b \"c\">]><a/>", "<!-- a", "<?xml",
        "<a><![CDATA[x]]></a>"}) {
    auto root = parse_xml(text, "doc");
    ASSERT_FALSE(root) << text;
    EXPECT_EQ(root.error().code, Code::unreadable_output) << text;
    EXPECT_EQ(root.error().message.rfind("doc: line ", 0), 0U) << root.error().message;
  }
}

TEST(HostXml, DepthAndNumberOfElementsAreBounded) {
  std::string deep, many = "<a>";
  for (int i = 0; i < 100'000; ++i) deep += "<a>";
  for (int i = 0; i < 500'001; ++i) many += "<b/>";
  EXPECT_FALSE(parse_xml(deep, "doc"));
  EXPECT_FALSE(parse_xml(many + "</a>", "doc"));
}

}  // namespace
}  // namespace exa
