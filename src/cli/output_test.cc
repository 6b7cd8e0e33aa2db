#include "cli/output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "base/text.h"

namespace exa {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kProfiles =
    R"({"items":[
  {"name":"small","version":3,"accelerator_family":"cpu","gpu_count":0,"cpu":0.5,"memory_gb":4,"nodes":1,
   "applicability":["any"],"resolutions":[{"status":"verified","cluster":"hpc"}],"created_at":"2026-11-29T12:00:00Z"},
  {"name":"train-2gpu","version":1,"accelerator_family":"nvidia","gpu_count":2,"cpu":8,"memory_gb":32,"nodes":1,
   "accelerator_model_hint":"A100-80GB","applicability":["training","serving"],"created_at":"2026-11-30T11:00:00Z"},
  {"name":"odd","version":null,"note":"no active version"}],"next_cursor":null})";

std::string shown(std::string_view body, std::string_view route, Format format, size_t columns = 80,
                  bool colour = false) {
  Reply reply;
  reply.body = body;
  Rendering how;
  how.format = format;
  how.screen = {columns, colour};
  how.now = parse_rfc3339("2026-11-30T12:00:00Z").value();
  auto rendered = render(reply, route, how);
  return rendered ? rendered->out : "error " + rendered.error().message;
}

TEST(Tables, StandAsPeopleExpectThem) {
  EXPECT_EQ(shown(kProfiles, "hardware_profile.list", Format::table, 120),
            "NAME        VER  ACCEL   GPU  MODEL      CPU  GIB  NODES  FOR               STATUS    "
            "         AGE\n"
            "small       3    cpu     0    -          0.5  4    1      any               verified  "
            "         1d\n"
            "train-2gpu  1    nvidia  2    A100-80GB  8    32   1      training,serving  -         "
            "         1h\n"
            "odd         -    -       -    -          -    -    -      -                 no active "
            "version  -\n");
}

TEST(Tables, FitByDroppingColumnsNeverByCuttingValues) {
  for (const size_t columns : {40, 60, 80, 100}) {
    const std::string text = shown(kProfiles, "hardware_profile.list", Format::table, columns);
    for (const auto line : split(text, '\n')) {
      if (columns >= 60) {
        EXPECT_LE(display_width(line), columns) << text;
      }
    }
    EXPECT_THAT(text, HasSubstr("no active version"));
    EXPECT_THAT(text, HasSubstr("train-2gpu"));
  }
  EXPECT_THAT(shown(kProfiles, "hardware_profile.list", Format::table, 80), HasSubstr("AGE"));
  EXPECT_THAT(shown(kProfiles, "hardware_profile.list", Format::wide, 0), HasSubstr("RUNTIME"));
}

TEST(Tables, CountColumnsOfTheScreen) {
  EXPECT_EQ(display_width("caf\xc3\xa9"), 4U);
  EXPECT_EQ(display_width("cafe\xcc\x81"), 4U);
  EXPECT_EQ(display_width("\xe6\x97\xa5\xe6\x9c\xac"), 4U);
  EXPECT_EQ(display_width("\xf0\x9f\x98\x80"), 2U);
  Table table{{{"NAME"}, {"X"}}, {{"\xe6\x97\xa5\xe6\x9c\xac", "1"}, {"abcd", "2"}}};
  EXPECT_EQ(lay_out(table, {}), "NAME  X\n\xe6\x97\xa5\xe6\x9c\xac  1\nabcd  2\n");
}

TEST(Tables, CellsCannotMoveTheCursor) {
  Table table{{{"NAME"}}, {{"a\x1b[31mb\n\xe2\x80\xae"}}};
  const std::string text = lay_out(table, {80, true});
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_EQ(std::ranges::count(text, '\n'), 2);
}

TEST(Tables, OnlyStatusWordsAreColouredAndOnlyWhereWanted) {
  EXPECT_THAT(shown(kProfiles, "hardware_profile.list", Format::table, 120, true),
              HasSubstr("\x1b[32mverified\x1b[0m"));
  EXPECT_THAT(shown(kProfiles, "hardware_profile.list", Format::table, 120),
              Not(HasSubstr("\x1b")));
  EXPECT_THAT(shown(kProfiles, "hardware_profile.list", Format::csv, 120, true),
              Not(HasSubstr("\x1b")));
}

TEST(Tables, AResolutionIsASentenceAndItsFields) {
  EXPECT_EQ(
      shown(
          R"({"name":"small","version":3,"target":"hpc","status":"degraded","reason":"model not reported",
      "fields":[{"field":"accelerator_model_hint","claimed":"A100","verdict":"not-reported","observed":null},
                {"field":"gpu_count","claimed":2,"verdict":"confirmed","observed":8}],"missing":[]})",
          "hardware_profile.resolve", Format::table),
      "small@3 on hpc: degraded - model not reported\n"
      "\n"
      "FIELD                   CLAIMED  VERDICT       OBSERVED\n"
      "accelerator_model_hint  A100     not-reported  -\n"
      "gpu_count               2        confirmed     8\n");
}

TEST(Tables, ViewsTolerateWhatIsAbsent) {
  for (const char* route :
       {"hardware_profile.resolve", "hardware_profile.show", "hardware_profile.set",
        "hardware_profile.delete", "hardware_profile.history", "hardware_profile.diff",
        "hardware_profile.label", "hardware_profile.deprecate", "hardware_profile.in_use",
        "hardware_profile.suggest", "cluster.list", "cluster.show", "audit.list", "audit.verify",
        "project.list", "unknown.route"}) {
    for (const char* body :
         {"{}", R"({"items":[{}]})", R"({"items":[null,1,"x",[]]})", "[]", "1", "null",
          R"({"items":{},"fields":3,"resolutions":[[]],"labels":{},"status":7})"}) {
      for (const Format format :
           {Format::table, Format::wide, Format::csv, Format::jsonl, Format::yaml, Format::name}) {
        EXPECT_THAT(shown(body, route, format), Not(HasSubstr("not valid JSON"))) << route << body;
      }
    }
  }
}

TEST(Tables, ARouteWithoutAViewIsShownByItsKeys) {
  EXPECT_EQ(shown(R"({"items":[{"name":"a","node_count":2},{"name":"b","tags":["x","y"]}]})",
                  "none", Format::table),
            "NAME  NODE-COUNT  TAGS\na     2           -\nb     -           x,y\n");
  EXPECT_EQ(shown(R"({"name":"a","ok":true,"inner":{"x":1},"list":[{"k":1}],"none":null})", "none",
                  Format::table),
            "name: a\nok: yes\ninner:\n  x: 1\nlist:\n  K\n  1\nnone: -\n");
}

TEST(Formats, JsonIsTheBodyByteForByte) {
  EXPECT_EQ(shown(kProfiles, "hardware_profile.list", Format::json), kProfiles);
}

TEST(Formats, JsonlIsOneItemALine) {
  EXPECT_EQ(shown(R"({"items":[{"a":1},{"a":[2]}],"next_cursor":null})", "x", Format::jsonl),
            "{\"a\":1}\n{\"a\":[2]}\n");
  EXPECT_EQ(shown(R"({"a":1})", "x", Format::jsonl), "{\"a\":1}\n");
}

TEST(Formats, CsvFollowsRfc4180AndDisarmsFormulas) {
  EXPECT_EQ(
      shown(R"({"items":[{"name":"a,b","n":1},{"name":"say \"hi\"\nyou","tags":["x"],"n":null}]})",
            "x", Format::csv),
      "name,n,tags\r\n\"a,b\",1,\r\n\"say \"\"hi\"\"\nyou\",,\"[\"\"x\"\"]\"\r\n");
  for (const char* text : {"=1+1", "+1", "-1", "@x", "\tx"})
    EXPECT_EQ(csv_cell(text), std::string("'") + text);
  EXPECT_EQ(csv_cell("\r=1"), "\"'\r=1\"");
  EXPECT_EQ(csv_cell("a=1"), "a=1");
}

TEST(Formats, NamesCarryTheirVersion) {
  EXPECT_EQ(shown(kProfiles, "hardware_profile.list", Format::name),
            "small@3\ntrain-2gpu@1\nodd\n");
  EXPECT_THAT(shown(R"({"items":[{"index":1}]})", "audit.list", Format::name),
              HasSubstr("has no names"));
}

TEST(Formats, YamlReadsLikeTheJson) {
  EXPECT_EQ(shown(R"({"name":"no","version":3})", "x", Format::yaml), "name: \"no\"\nversion: 3\n");
}

TEST(Formats, WhatIsNoJsonDocumentIsPrintedAsItIs) {
  Reply reply;
  reply.content_type = "application/jsonl";
  reply.body = "{\"a\":1}\n{\"b\":2}\n";
  for (const Format format : {Format::table, Format::json, Format::csv}) {
    EXPECT_EQ(render(reply, "audit.export", {format, {}, {}}).value().out, reply.body);
  }
}

}  // namespace
}  // namespace exa
