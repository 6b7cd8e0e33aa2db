#include "catalogue/rafay.h"

#include <fstream>
#include <iterator>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "base/yaml.h"
#include "catalogue/skus_for_test.h"

namespace exa {
namespace {

using sample::lines_of;
using sample::parsed;
using testing::ElementsAre;
using testing::IsEmpty;

std::string document_text() {
  std::ifstream file(EXA_TESTDATA "/catalogue/rafay.yaml");
  return {std::istreambuf_iterator<char>(file), {}};
}

RafaySku read_document() {
  auto read = read_rafay_sku(document_text(), "rafay.yaml");
  EXPECT_TRUE(read.has_value());
  return read ? *read : RafaySku();
}

const InputSetting& input(const ComputeSku& sku, std::string_view name) {
  const auto found = std::ranges::find(sku.inputs, name, &InputSetting::name);
  EXA_ASSERT(found != sku.inputs.end());
  return *found;
}

// A document with one variable "v" that has these members.
Result<RafaySku> with_variable(std::string_view members) {
  json::object variable = parsed(members).as_object();
  if (!variable.contains("name")) variable["name"] = "v";
  const json::value document = {{"apiVersion", kRafayVersion},
                                {"kind", "ComputeProfile"},
                                {"metadata", {{"name", "sku"}}},
                                {"spec",
                                 {{"templateRef", {{"name", "t"}, {"version", "v1"}}},
                                  {"variables", json::array{std::move(variable)}}}}};
  return rafay_sku_of(document);
}

TEST(Rafay, ADocumentIsReadAsAComputeProfile) {
  const ComputeSku sku = read_document().sku;
  EXPECT_EQ(sku.name, "small-gpu-vm");
  EXPECT_EQ(sku.display_name, "Small");
  EXPECT_EQ(sku.environment_template, (TemplateRef{"gpu-vm", "v1.2"}));
  EXPECT_EQ(sku.readme, "# Small\nOne GPU.\n");
  EXPECT_EQ(sku.icon_url, "https://example.com/small.png");
  EXPECT_EQ(sku.price_per_hour, (Money{1'700'000, "AUD"}));
  EXPECT_EQ(sku.labels.front(), std::pair(std::string("tier"), std::string("small")));
  EXPECT_EQ(sku.outputs[0], (OutputSetting{"vm_address", "VM Address", "Where it answers", false}));
  EXPECT_TRUE(sku.outputs[1].is_secret);
  const InputSetting& disk = input(sku, "disk");
  EXPECT_EQ(disk.type, InputType::number);
  EXPECT_EQ(disk.min_micros, 100'000'000);
  EXPECT_EQ(disk.max_micros, 2'000'000'000);
  EXPECT_EQ(disk.step_micros, 50'000'000);
  EXPECT_EQ(disk.default_value, json::value(150));
  EXPECT_EQ(disk.group, "VM Specification");
  EXPECT_EQ(input(sku, "gpu_type").label, "GPU Type");
  EXPECT_EQ(input(sku, "gpu_type").override_, InputOverride::restricted);
  EXPECT_EQ(input(sku, "region").default_value, json::value("Frankfurt"));
  EXPECT_TRUE(input(sku, "region").required);
  EXPECT_EQ(input(sku, "image").override_, InputOverride::not_allowed);
  EXPECT_EQ(input(sku, "host").type, InputType::expression);
  EXPECT_FALSE(input(sku, "password").default_value.has_value());
}

// Each layer may lock more, never unlock.
TEST(Rafay, WhatOnlyTheFormEnforcedIsARule) {
  const ComputeSku sku = read_document().sku;
  EXPECT_EQ(input(sku, "cpu").override_, InputOverride::not_allowed);
  EXPECT_EQ(input(sku, "size").override_, InputOverride::restricted_key_values);
  EXPECT_EQ(input(sku, "zones").override_, InputOverride::not_allowed);
  for (const std::string_view given :
       {R"({"cpu": "1"})", R"({"size": "xl"})", R"({"zones": ["b"]})", R"({"disk": 4000})",
        R"({"gpu_type": "A100"})", R"({"region": "eu-2"})"})
    EXPECT_FALSE(resolve_inputs(sku.inputs, parsed(given).as_object()).has_value()) << given;
}

TEST(Rafay, WhatIsNotCarriedOverIsListed) {
  std::vector<std::string> lines;
  for (const RafayNote& note : read_document().notes)
    lines.push_back(note.where + " " + note.message);
  constexpr std::string_view kKept = " is kept in the document and means nothing here";
  const auto kept = [&](std::string_view where) { return fmt::format("{}{}", where, kKept); };
  EXPECT_THAT(
      lines,
      ElementsAre("/spec/variables/0/options/displayMetadata/disabled the form does not let it be "
                  "changed: here it is fixed",
                  "/spec/variables/5/options/displayMetadata/radioOptions the form only offers "
                  "these: here nothing else is taken",
                  "/spec/variables/6/options/override/multiSelect there is no choice of several "
                  "here: it is fixed at its value",
                  "/spec/variables/7/value the value of a secret is not carried over",
                  kept("/metadata/project"), kept("/metadata/id"),
                  kept("/spec/variables/0/options/displayMetadata/weight"),
                  kept("/spec/variables/1/options/displayMetadata/incrementDecrementLabel"),
                  kept("/spec/schedules")));
}

TEST(Rafay, AnUnknownOverrideIsRefusedByName) {
  const auto read = with_variable(R"({"options": {"override": {"type": "sometimes"}}})");
  ASSERT_FALSE(read.has_value());
  EXPECT_THAT(lines_of(read.error().problems),
              ElementsAre("/spec/variables/0/options/override/type override \"sometimes\" of v is "
                          "not known: allowed, notallowed, restricted or restricted_key_values"));
}

TEST(Rafay, ProblemsStandWhereTheDocumentHasThem) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {R"({"options": {"override": {"type": "restricted"}}})",
       "/spec/variables/0 is missing: what a restricted input may be"},
      {R"({"value": "many", "options": {"displayMetadata": {"type": "incrementDecrement"}}})",
       "/spec/variables/0/value must be a plain decimal with at most six decimals and within "
       "10^12, not many"},
      {R"({"value": "9", "options": {"displayMetadata": {"type": "incrementDecrement",
           "incrementDecrementMax": "8"}}})",
       "/spec/variables/0 must be at most 8, not 9"},
      {R"({"valueType": "toml"})",
       R"(/spec/variables/0/valueType "toml" is not one of text, expression, json, hcl)"},
      {R"({"name": "???"})", R"(/spec/variables/0/name "???" leaves no name of an input)"},
      {R"({"options": {"description": ["x"]}})",
       "/spec/variables/0/options/description must be a text"},
  };
  for (const auto& [members, problem] : cases) {
    const auto read = with_variable(members);
    ASSERT_FALSE(read.has_value()) << members;
    EXPECT_EQ(lines_of(read.error().problems).front(), problem) << members;
  }
  const auto in_file = read_rafay_sku(
      "apiVersion: paas.envmgmt.io/v1\nkind: ComputeProfile\nmetadata:\n  name: Big One\n", "f");
  ASSERT_FALSE(in_file.has_value());
  EXPECT_EQ(in_file.error().problems.front().where, "f:4:3");
}

TEST(Rafay, WrittenUnchangedNothingChanges) {
  const RafaySku read = read_document();
  const RafayDocument written = to_rafay(read.sku, &read.document);
  EXPECT_EQ(to_yaml(written.document), to_yaml(read.document));
  EXPECT_THAT(written.notes, IsEmpty());
}

TEST(Rafay, AChangeTouchesOnlyWhatItChanges) {
  const RafaySku read = read_document();
  ComputeSku sku = read.sku;
  sku.display_name = "Tiny";
  sku.inputs[1].max_micros = 500'000'000;
  const RafayDocument written = to_rafay(sku, &read.document);
  json::value expected = read.document;
  expected.at_pointer("/metadata/displayName") = "Tiny";
  json::object& display =
      expected.at_pointer("/spec/variables/1/options/displayMetadata").as_object();
  display["incrementDecrementMax"] = "500";
  EXPECT_EQ(json::value(written.document), expected);
  EXPECT_EQ(rafay_sku_of(written.document)->sku, sku);
}

TEST(Rafay, ANewDocumentSaysWhatItCannotCarry) {
  const ComputeSku sku = sample::sku_of(sample::sku_with(
      R"({"inputs": [{"name": "n", "type": "number", "min": 1, "max": 4, "default": 2},
                     {"name": "b", "type": "bool"},
                     {"name": "e", "type": "enum", "choices": ["x", "y"]},
                     {"name": "p", "pattern": "^a$", "depends_on": {"input": "n", "values": [4]}}]})"));
  const RafayDocument written = to_rafay(sku);
  std::vector<std::string> places;
  for (const RafayNote& note : written.notes) places.push_back(note.where);
  EXPECT_THAT(places,
              ElementsAre("/inputs/0/type", "/inputs/1/type", "/inputs/2/type", "/inputs/3/pattern",
                          "/inputs/3/depends_on", "/shape", "/price_per_hour"));
  const auto again = rafay_sku_of(written.document);
  ASSERT_TRUE(again.has_value()) << lines_of(again.error().problems).front();
  EXPECT_EQ(again->sku.inputs[0], sku.inputs[0]);
  EXPECT_EQ(again->sku.allocation, sku.allocation);
  EXPECT_EQ(again->sku.readme, sku.readme);
  EXPECT_EQ(again->sku.outputs, sku.outputs);
  // an enum comes back as the restriction that it was written as
  EXPECT_EQ(again->sku.inputs[2].override_, InputOverride::restricted);
}

// Documents with members taken out, exchanged and added by chance.
TEST(Rafay, WhatIsReadAtAllIsWrittenBackWordForWord) {
  constexpr unsigned kSeed = 20261201;
  std::mt19937 random(kSeed);
  const json::value whole = read_document().document;
  int taken = 0;
  for (int i = 0; i < 2000; ++i) {
    json::value document = whole;
    for (auto n = 1 + random() % 3; n > 0; --n) {
      json::value* at = &document;
      while (at->is_structured() && random() % 6 != 0) {
        if (at->is_array() && !at->get_array().empty())
          at = &at->get_array()[random() % at->get_array().size()];
        else if (at->is_object() && !at->get_object().empty())
          at = &(at->get_object().begin() + static_cast<int>(random() % at->get_object().size()))
                    ->value();
        else
          break;
      }
      const json::value kValues[] = {nullptr,
                                     true,
                                     7,
                                     "",
                                     "x",
                                     "notallowed",
                                     json::array{"x"},
                                     json::object{{"unheard-of", "y"}}};
      *at = kValues[random() % std::size(kValues)];
    }
    const auto read = rafay_sku_of(document);
    if (!read) continue;
    ++taken;
    ASSERT_EQ(to_text(to_rafay(read->sku, &read->document).document), to_text(document))
        << "seed " << kSeed;
    ASSERT_EQ(compute_sku_from_json(to_json(read->sku)), read->sku) << "seed " << kSeed;
  }
  EXPECT_GT(taken, 300);
}

}  // namespace
}  // namespace exa
