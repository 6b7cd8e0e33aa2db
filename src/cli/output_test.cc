#include "cli/output.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "base/text.h"
#include "cli/table.h"

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

std::string profile_on(const std::vector<std::string>& statuses) {
  std::string list;
  for (size_t i = 0; i < statuses.size(); ++i) {
    list += fmt::format(R"({}{{"cluster":"cluster-{}","status":"{}"}})", i == 0 ? "" : ",", i,
                        statuses[i]);
  }
  return fmt::format(R"({{"name":"train","version":1,"labels":["active"],"resolutions":[{0}],
                        "created_at":"2026-11-30T11:00:00Z"}})",
                     list);
}

TEST(Tables, TheStatusOfManyClustersIsTheWorstAndStaysShort) {
  const struct {
    std::vector<std::string> statuses;
    const char* shown;
  } kCases[] = {
      {{"verified"}, "verified"},
      {{"verified", "verified", "verified"}, "verified"},
      {{"verified", "unresolvable", "degraded", "unresolvable"}, "unresolvable (2 of 4)"},
      {{"verified", "degraded"}, "degraded (1 of 2)"},
      {{"verified", "unchecked", "verified"}, "unchecked (1 of 3)"},
      {{"unchecked", "degraded"}, "degraded (1 of 2)"},
  };
  for (const auto& each : kCases) {
    const std::string body = fmt::format(R"({{"items":[{}]}})", profile_on(each.statuses));
    const std::string text = shown(body, "hardware_profile.list", Format::table);
    EXPECT_THAT(text, HasSubstr(fmt::format("  {}  ", each.shown)));
    EXPECT_THAT(text, HasSubstr("AGE"));
    for (const auto line : split(text, '\n')) EXPECT_LE(display_width(line), 80U) << text;
    const std::string painted_text = shown(body, "hardware_profile.list", Format::table, 80, true);
    const std::string word(
        std::string_view(each.shown).substr(0, std::string_view(each.shown).find(' ')));
    EXPECT_THAT(painted_text, HasSubstr("m" + word + "\x1b[0m"));
  }
  const std::string forty = fmt::format(R"({{"items":[{}]}})", profile_on([] {
                                          std::vector<std::string> statuses(40, "verified");
                                          statuses[7] = "degraded";
                                          return statuses;
                                        }()));
  EXPECT_THAT(shown(forty, "hardware_profile.list", Format::table),
              HasSubstr("degraded (1 of 40)"));
  EXPECT_THAT(shown(forty, "hardware_profile.list", Format::wide, 0),
              HasSubstr("cluster-6:verified,cluster-7:degraded,cluster-8:verified"));
}

TEST(Tables, SettingOnManyClustersIsSummedUp) {
  const std::vector<std::string> five = {"verified", "verified", "unresolvable", "verified",
                                         "unresolvable"};
  EXPECT_THAT(shown(profile_on(five), "hardware_profile.set", Format::table),
              HasSubstr("\ncluster-4  unresolvable"));
  std::vector<std::string> six = five;
  six.emplace_back("verified");
  EXPECT_EQ(shown(profile_on(six), "hardware_profile.set", Format::table),
            "train@1 set (active)\n\n"
            "unresolvable on 2, verified on 4: exa hardware profile show train@1\n");
  EXPECT_THAT(shown(profile_on(six), "hardware_profile.set", Format::wide, 0),
              HasSubstr("\ncluster-5  verified"));
}

TEST(Tables, ASentenceWrapsInsteadOfBeingDropped) {
  const std::string reason =
      "the usable nodes cannot hold the ask: gpu_count: 16 asked on each of 1 node, not there on "
      "any, at most 8 on one, 17 in total (25 more on nodes that are not usable)";
  const std::string body = fmt::format(
      R"({{"name":"a","version":1,"resolutions":[{{"cluster":"hpc","status":"unresolvable",
          "reason":"{}","unconfirmed":["driver_tag","runtime_tag","accelerator_model_hint"]}}]}})",
      reason);
  for (size_t columns = 80; columns <= 200; columns += 8) {
    const std::string text = shown(body, "hardware_profile.set", Format::table, columns);
    for (const auto line : split(text, '\n')) EXPECT_LE(display_width(line), columns) << text;
    for (const std::string_view word : split(reason, ' ')) {
      EXPECT_THAT(text, HasSubstr(std::string(word))) << columns;
    }
    EXPECT_THAT(text, HasSubstr("REASON"));
  }
  Table table{{{"NAME"}, {"WHY", 0, true}, {"N"}}, {{"a", "one two three, four five six", "1"}}};
  EXPECT_EQ(lay_out(table, {35, false}),
            "NAME  WHY                         N\n"
            "a     one two three, four five    1\n"
            "      six\n");
  EXPECT_EQ(lay_out(table, {0, false}),
            "NAME  WHY                           N\n"
            "a     one two three, four five six  1\n");
  const std::string word(40, 'x');
  EXPECT_EQ(lay_out({{{"NAME"}, {"WHY", 0, true}}, {{"a", "the " + word + " end"}}}, {30, false}),
            "NAME  WHY\na     the\n      " + word + "\n      end\n");
}

TEST(Tables, AResolutionSaysWhetherItFitsNowAndOnWhatItRests) {
  const auto resolved = [](const std::string& now) {
    return shown(
        R"({"name":"small","version":3,"target":"hpc","status":"verified","reason":"it fits",
      "fits_now":)" +
            now + R"(,"snapshot":{"id":"01abc","age_seconds":125,"declared":false},
      "remarks":["1 node is tainted","pods not read"],"verdicts":[],"missing":[]})",
        "hardware_profile.resolve", Format::table);
  };
  EXPECT_EQ(resolved(R"({"fits":true,"nodes":1,"nodes_unknown":0})"),
            "small@3 on hpc: verified - it fits\n"
            "fits now: yes (1 node with room); snapshot 01abc, 2m old\n"
            "remark: 1 node is tainted\n"
            "remark: pods not read\n");
  EXPECT_THAT(resolved(R"({"fits":false,"nodes":0,"nodes_unknown":0})"),
              HasSubstr("fits now: no;"));
  EXPECT_THAT(resolved(R"({"fits":null,"nodes":0,"nodes_unknown":2})"),
              HasSubstr("fits now: unknown (2 nodes not saying what is free);"));
  EXPECT_THAT(resolved("null"), HasSubstr("it fits\nsnapshot 01abc, 2m old\n"));
}

TEST(Tables, ADryRunNeverLooksDone) {
  const struct {
    const char* route;
    const char* body;
  } kChanges[] = {
      {"hardware_profile.set", R"({"name":"a","version":1,"labels":["active"]})"},
      {"hardware_profile.delete", R"({"name":"a","deleted_versions":[1]})"},
      {"hardware_profile.label", R"({"name":"a","version":1,"label":"stable"})"},
      {"hardware_profile.deprecate", R"({"name":"a","redirect":"b"})"},
      {"hardware_profile.use", R"({"name":"nb","kind":"workbench","profile":"a@1"})"},
      {"hardware_profile.release", R"({"name":"nb","kind":"workbench","profile":"a@1"})"},
      {"cluster.add", R"({"name":"hpc","kind":"slurm"})"},
      {"cluster.remove", R"({"name":"hpc"})"},
      {"cluster.discover",
       R"({"name":"hpc","snapshot":{"id":"1","capacity":{"nodes":1,"usable_nodes":1}}})"},
      {"no.view", R"({"name":"hpc"})"},
  };
  for (const auto& change : kChanges) {
    Reply reply;
    reply.body = change.body;
    Rendering how;
    EXPECT_THAT(render(reply, change.route, how).value().out, Not(HasSubstr("dry run")));
    how.dry_run = true;
    EXPECT_THAT(render(reply, change.route, how).value().out, testing::StartsWith("dry run:"));
  }
}

TEST(Tables, AnUnknownModelIsADashNotTheFamily) {
  const std::string text = shown(
      R"({"name":"hpc","tool":"sinfo","snapshot":{"id":"1","capacity":{"nodes":1,"usable_nodes":1,
          "devices":[{"model":null,"family":"nvidia","sharing":"whole","units":2}]}}})",
      "cluster.discover", Format::table);
  EXPECT_THAT(text, HasSubstr("\n-      nvidia  whole"));
  EXPECT_THAT(text, testing::StartsWith("hpc: 1 node, 1 usable"));
}

TEST(Tables, CountColumnsOfTheScreen) {
  EXPECT_EQ(display_width("caf\xc3\xa9"), 4U);
  EXPECT_EQ(display_width("cafe\xcc\x81"), 4U);
  EXPECT_EQ(display_width("\xe6\x97\xa5\xe6\x9c\xac"), 4U);
  EXPECT_EQ(display_width("\xf0\x9f\x98\x80"), 2U);
  Table table{{{"NAME"}, {"X"}}, {{"\xe6\x97\xa5\xe6\x9c\xac", "1"}, {"abcd", "2"}}};
  EXPECT_EQ(lay_out(table, {}), "NAME  X\n\xe6\x97\xa5\xe6\x9c\xac  1\nabcd  2\n");
}

TEST(Tables, WhatHasNoPriceNeverLooksFree) {
  struct Case {
    const char* sum;
    const char* cost;
  };
  const Case cases[] = {
      {R"("cost":0,"currency":"USD","price_set":true)", "0"},
      {R"("cost":0,"currency":"USD","price_set":false)", "unpriced"},
      {R"("cost":5.5,"currency":"USD","price_set":false)", "5.5 + unpriced"},
      {R"("cost":null,"currency":null,"known_cost":{},"price_set":false)", "unpriced"},
      {R"("cost":null,"currency":null,"known_cost":{"USD":5},"price_set":false)",
       "5 USD + unpriced"},
      {R"("cost":null,"currency":null,"known_cost":{"EUR":1,"USD":5},"price_set":true)", "-"},
  };
  for (const Case& c : cases) {
    const std::string body = fmt::format(R"({{"items":[{{"runs":1,{}}}]}})", c.sum);
    for (const char* route : {"usage.cost", "usage.sums"})
      EXPECT_THAT(shown(body, route, Format::table), HasSubstr(fmt::format("  {} ", c.cost)))
          << route << c.sum;
  }
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

TEST(Formats, AnEmptyCsvListStillHasItsHeader) {
  const char* none = R"({"items":[],"next_cursor":null})";
  EXPECT_THAT(shown(none, "hardware_profile.list", Format::csv),
              testing::StartsWith("name,version,accelerator_family,gpu_count,"));
  EXPECT_EQ(shown(none, "project.list", Format::csv), "name,profiles,created_by,created_at\r\n");
  EXPECT_EQ(shown(none, "unknown.route", Format::csv), "");
}

TEST(Formats, NamesCarryTheirVersion) {
  EXPECT_EQ(shown(kProfiles, "hardware_profile.list", Format::name),
            "small@3\ntrain-2gpu@1\nodd\n");
}

// A script that asks with -o name learns from the exit code what it learns with any other format.
TEST(Formats, WhatHasNoNamesPrintsNothingAndIsNoError) {
  for (const char* body : {R"({"items":[{"index":1}]})", R"({"ok":true,"size":3})"}) {
    Reply reply;
    reply.body = body;
    const auto rendered = render(reply, "audit.verify", {Format::name, {}, {}});
    ASSERT_TRUE(rendered) << rendered.error().message;
    EXPECT_EQ(rendered->out, "");
    EXPECT_THAT(rendered->hint, HasSubstr("has no names"));
  }
}

TEST(Formats, AListThatStopsAtItsLimitSaysSoInEveryFormat) {
  Reply reply;
  reply.body = R"({"items":[{"name":"a"}],"next_cursor":"djE6YQ"})";
  for (const Format format : {Format::table, Format::name, Format::jsonl, Format::csv}) {
    for (const char* route : {"hardware_profile.list", "unknown.route"}) {
      EXPECT_EQ(render(reply, route, {format, {}, {}}).value().hint,
                "There is more: --cursor djE6YQ");
    }
  }
}

TEST(Tables, AColumnWithoutAValueMakesRoomForOneWithValues) {
  Table table;
  table.columns = {{"NAME"}, {"EMPTY", 1}, {"MODEL", 2}};
  table.rows = {{"n1", "", "A100-SXM4-80GB"}};
  EXPECT_EQ(lay_out(table, {24, false}), "NAME  MODEL\nn1    A100-SXM4-80GB\n");
  EXPECT_EQ(lay_out(table, {80, false}), "NAME  EMPTY  MODEL\nn1    -      A100-SXM4-80GB\n");
  table.columns.push_back({"WIDE", 3});
  table.rows[0].push_back(std::string(80, 'x'));
  EXPECT_EQ(lay_out(table, {80, false}), "NAME  MODEL\nn1    A100-SXM4-80GB\n");
}

TEST(Tables, AListWithALongNameFitsTheScreen) {
  const std::string name(50, 'n');
  const std::string body = R"({"items":[{"name":")" + name +
                           R"(","version":3,"accelerator_family":"intel-gaudi","gpu_count":16,)"
                           R"("resolutions":[{"status":"unresolvable"}],)"
                           R"("deprecated":{"redirect":"a-rather-long-replacement"}}]})";
  Reply reply;
  reply.body = body;
  const auto shown_list = render(reply, "hardware_profile.list", {Format::table, {80, false}, {}});
  ASSERT_TRUE(shown_list);
  EXPECT_THAT(shown_list->out, HasSubstr(name));
  EXPECT_THAT(shown_list->out, HasSubstr("unresolvable"));
  for (const std::string_view line : split(shown_list->out, '\n'))
    EXPECT_LE(display_width(line), 80U) << line;
}

TEST(Tables, SentencesWrapAtWholeWords) {
  EXPECT_EQ(wrap("one two three", 80), "one two three");
  EXPECT_EQ(wrap("one two three", 0), "one two three");
  EXPECT_EQ(wrap("one two three four", 10), "one two\n  three\n  four");
  const std::string reason = "a " + std::string(20, 'b');
  EXPECT_EQ(wrap(reason, 10), "a\n  " + std::string(20, 'b'));
}

TEST(Tables, NodesShowTheirDevicesInUse) {
  const char* body = R"({"name":"hpc","inventory":{"nodes":[
    {"name":"n1","health":"usable","cards":[{"family":"nvidia","offers":[
      {"sharing":"whole","units":8,"used":2},{"sharing":"mig","units":7,"used":1}]}]},
    {"name":"n2","health":"usable","cards":[{"offers":[{"sharing":"whole","units":4}]}]},
    {"name":"n3","health":"usable","cards":[]}]}})";
  const std::string out = shown(body, "cluster.show", Format::table);
  EXPECT_THAT(out, HasSubstr("2/8"));
  EXPECT_THAT(out, HasSubstr("?/4"));
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
