// The JSON of other releases than the recorded one, and shapes that nobody knows.
#include "base/json.h"
#include "base/quantity.h"
#include "base/text.h"
#include "discover/slurm_samples_for_test.h"

namespace exa {
namespace {

using namespace slurm_sample;
using ::testing::HasSubstr;

// The JSON of 22.05 in the shape of 23.02 and later.
json::value in_later_shape(json::value document) {
  for (json::value& node : document.as_object()["nodes"].as_array()) {
    json::object& fields = node.as_object();
    json::array states = {json::string(fields["state"].as_string())};
    for (char& c : states[0].as_string()) c = static_cast<char>(std::toupper(c));
    for (const json::value& flag : fields["state_flags"].as_array()) states.push_back(flag);
    fields["state"] = states;
    fields.erase("state_flags");
    for (const std::string_view key : {"features", "active_features"}) {
      json::array words;
      for (const auto word : split(fields[key].as_string(), ','))
        if (!word.empty()) words.push_back(json::string(word));
      fields[key] = words;
    }
    fields["effective_cpus"] = fields["cpus"];
    fields["specialized_memory"] = 0;
    for (const std::string_view key : {"alloc_memory", "alloc_cpus"}) {
      fields[key] = {{"set", true}, {"infinite", false}, {"number", fields[key]}};
    }
    fields["free_mem"] = {{"set", false}, {"infinite", false}, {"number", 0}};
  }
  document.as_object()["meta"] = {{"command", json::array{"show", "node"}},
                                  {"slurm", {{"release", "23.11.4"}, {"cluster", "exatest"}}}};
  return document;
}

TEST(SlurmReleases, ObjectsForNumbersAndListsOfStatesReadAlike) {
  const auto old_shape = parse_json(sample("sinfo.json"), "sinfo.json", tool_output_limits());
  ASSERT_TRUE(old_shape);
  const std::string text = to_text(in_later_shape(*old_shape));
  ASSERT_EQ(recognise_slurm(text), "scontrol show node --json");
  const auto later = read_slurm(capture_of("scontrol show node --json", text));
  ASSERT_TRUE(later) << later.error().message;
  EXPECT_EQ(later->tool_version, "23.11.4");
  EXPECT_EQ(later->cluster_name, "exatest");
  EXPECT_EQ(later->nodes, read("sinfo --json", "sinfo.json").nodes);
}

// One node of JSON with a field replaced.
Result<Inventory> with_field(const std::string& key, const std::string& value) {
  json::value document = {{"errors", json::array{}},
                          {"nodes",
                           {{{"name", "n1"},
                             {"state", {"IDLE"}},
                             {"gres", "gpu:a100:4"},
                             {"gres_used", "gpu:a100:0"},
                             {"cpus", 64},
                             {"alloc_cpus", 0},
                             {"real_memory", 512000},
                             {"alloc_memory", 0},
                             {"partitions", json::array{"gpu"}}}}}};
  document.as_object()["nodes"].as_array()[0].as_object()[key] = json::parse(value);
  return read_slurm(capture_of("slurmrestd nodes", to_text(document)));
}

TEST(SlurmReleases, NumbersThatStandForNotSetAreUnknown) {
  for (const std::string value : {"4294967294", "4294967295", "-2", "18446744073709551614", "null",
                                  R"({"set":false,"infinite":false,"number":0})",
                                  R"({"set":true,"infinite":true,"number":0})",
                                  R"({"set":true,"infinite":false,"number":4294967294})"}) {
    const auto memory = with_field("real_memory", value);
    ASSERT_TRUE(memory) << value << ": " << memory.error().message;
    EXPECT_EQ(memory->nodes[0].memory_bytes, std::nullopt) << value;
    EXPECT_EQ(memory->nodes[0].memory_free_bytes, std::nullopt) << value;
    const auto allocated = with_field("alloc_cpus", value);
    ASSERT_TRUE(allocated);
    EXPECT_EQ(allocated->nodes[0].cpu_milli, 64000);
    EXPECT_EQ(allocated->nodes[0].cpu_free_milli, std::nullopt) << value;
  }
  EXPECT_EQ(with_field("real_memory", "1")->nodes[0].memory_bytes, std::nullopt);
  EXPECT_EQ(with_field("specialized_memory", "12000")->nodes[0].memory_bytes, 500000 * kMiB);
  EXPECT_EQ(with_field("effective_cpus", "60")->nodes[0].cpu_milli, 60000);
}

TEST(SlurmReleases, AShapeThatIsNotKnownIsANamedError) {
  const struct {
    std::string key;
    std::string value;
  } rows[] = {
      {"cpus", "\"64\""},
      {"real_memory", "[512000]"},
      {"real_memory", "-1.5"},
      {"state", "[\"NEWSTATE\"]"},
      {"state", "{}"},
      {"gres", "[\"gpu:4\"]"},
      {"gres_used", "\"gpu:a100:x,\""},
      {"partitions", "[1]"},
      {"real_memory", R"({"number":1})"},
      {"cpus", "9999999999999"},
      {"state", "[]"},
      {"alloc_memory", "true"},
  };
  for (const auto& row : rows) {
    const auto inventory = with_field(row.key, row.value);
    ASSERT_FALSE(inventory) << row.key << " " << row.value;
    EXPECT_EQ(inventory.error().code, Code::unreadable_output);
    EXPECT_THAT(inventory.error().message, HasSubstr("node n1")) << row.key;
    EXPECT_EQ(inventory.error().problems.at(0).where, "/nodes/0");
  }
}

TEST(SlurmReleases, SummedSinfoPointsToTheListing) {
  const auto inventory =
      read_slurm(capture_of("sinfo --json", R"({"sinfo":[],"meta":{"slurm":{}},"errors":[]})"));
  ASSERT_FALSE(inventory);
  EXPECT_THAT(inventory.error().message, HasSubstr("scontrol show node --json"));
}

}  // namespace
}  // namespace exa
