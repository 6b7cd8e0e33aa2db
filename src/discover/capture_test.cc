#include "discover/capture.h"

#include <random>

#include <gmock/gmock.h>

namespace exa {
namespace {

using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

Capture sample() {
  Capture capture;
  capture.kind = ClusterKind::slurm;
  capture.taken_at = *parse_rfc3339("2026-11-30T06:26:01.000123Z");
  capture.transport = "ssh ops@login";
  capture.outputs.push_back(
      {"scontrol show node", {"scontrol", "show", "node"}, 0, "NodeName=a\n", ""});
  capture.outputs.push_back({"sinfo", {"sinfo", "-N", "-o", "%N"}, 1, "", "slurm_load_node: down"});
  return capture;
}

void expect_same(const Capture& a, const Capture& b) {
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.taken_at, b.taken_at);
  EXPECT_EQ(a.transport, b.transport);
  EXPECT_EQ(a.outputs, b.outputs);
}

Result<Capture> reread(const Capture& capture) {
  const auto value = parse_json(to_pretty_text(to_json(capture)), "capture", tool_output_limits());
  if (!value) return fail(value.error());
  return capture_from_json(*value);
}

std::vector<Problem> problems_of(const json::value& value) {
  const auto capture = capture_from_json(value);
  return capture ? std::vector<Problem>() : capture.error().problems;
}

TEST(Capture, SavedAndReadAgainIsTheSame) {
  const auto again = reread(sample());
  ASSERT_TRUE(again) << again.error().message;
  expect_same(*again, sample());
}

TEST(Capture, SaysWhatItIsFirst) {
  EXPECT_THAT(to_text(to_json(sample())),
              testing::StartsWith(R"({"exa_capture":1,"kind":"slurm",)"));
}

TEST(Capture, BytesThatAreNoUtf8SurviveAsBase64) {
  Capture capture = sample();
  capture.outputs[0].out = "Reason=K\xfchlung\n";
  capture.outputs[0].err = std::string("\0\xff", 2);
  const json::value value = to_json(capture);
  EXPECT_NE(to_text(value).find("out_base64"), std::string::npos);
  const auto again = reread(capture);
  ASSERT_TRUE(again) << again.error().message;
  expect_same(*again, capture);
}

TEST(Capture, AnyOutputSurvives) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 500; ++round) {
    Capture capture = sample();
    for (CapturedOutput& output : capture.outputs)
      for (std::string* text : {&output.out, &output.err}) {
        text->resize(random() % 40);
        const unsigned range = random() % 2 ? 128 : 256;
        for (char& c : *text) c = static_cast<char>(random() % range);
      }
    const auto again = reread(capture);
    ASSERT_TRUE(again) << again.error().message;
    expect_same(*again, capture);
  }
}

TEST(Capture, FindsTheAnswerToAQuestion) {
  const Capture capture = sample();
  ASSERT_NE(capture.find("sinfo"), nullptr);
  EXPECT_EQ(capture.find("sinfo")->exit_code, 1);
  EXPECT_EQ(capture.find("squeue"), nullptr);
}

TEST(Capture, UnknownKeysAreRefusedWithTheirPlace) {
  json::value value = to_json(sample());
  value.as_object()["note"] = "x";
  value.as_object()["outputs"].as_array()[1].as_object()["stdout"] = "x";
  EXPECT_THAT(problems_of(value),
              testing::UnorderedElementsAre(Field(&Problem::where, "/note"),
                                            Field(&Problem::where, "/outputs/1/stdout")));
}

TEST(Capture, EveryMissingKeyIsNamed) {
  for (const char* key : {"kind", "taken_at", "transport", "outputs"}) {
    json::value value = to_json(sample());
    value.as_object().erase(key);
    EXPECT_THAT(problems_of(value),
                testing::ElementsAre(Field(&Problem::where, std::string("/") + key)));
  }
  for (const char* key : {"name", "argv", "exit_code", "out", "err"}) {
    json::value value = to_json(sample());
    value.as_object()["outputs"].as_array()[0].as_object().erase(key);
    EXPECT_THAT(problems_of(value),
                testing::ElementsAre(Field(&Problem::where, std::string("/outputs/0/") + key)));
  }
}

struct Wrong {
  const char* key;
  json::value value;
};

TEST(Capture, WrongValuesAreNamedAllAtOnce) {
  const Wrong wrongs[] = {{"kind", "pbs"},        {"kind", 1},         {"taken_at", "yesterday"},
                          {"transport", nullptr}, {"outputs", "text"}, {"outputs", json::array{1}}};
  for (const Wrong& wrong : wrongs) {
    json::value value = to_json(sample());
    value.as_object()[wrong.key] = wrong.value;
    EXPECT_THAT(problems_of(value), testing::SizeIs(1)) << wrong.key;
  }
  json::value value = to_json(sample());
  for (const Wrong& wrong : {wrongs[0], wrongs[2], wrongs[4]})
    value.as_object()[wrong.key] = wrong.value;
  EXPECT_THAT(problems_of(value), testing::SizeIs(3));
}

TEST(Capture, WrongOutputsAreNamed) {
  const Wrong wrongs[] = {
      {"argv", json::array{"a", 1}}, {"exit_code", -1},      {"exit_code", 1.5}, {"out", 1},
      {"out_base64", "QQ=="},        {"name", json::array{}}};
  for (const Wrong& wrong : wrongs) {
    json::value value = to_json(sample());
    value.as_object()["outputs"].as_array()[0].as_object()[wrong.key] = wrong.value;
    EXPECT_THAT(problems_of(value), Contains(Field(&Problem::where, HasSubstr("/outputs/0/"))))
        << wrong.key;
  }
  json::value value = to_json(sample());
  json::object& output = value.as_object()["outputs"].as_array()[0].as_object();
  output.erase("out");
  output["out_base64"] = "not base64!";
  EXPECT_THAT(problems_of(value),
              testing::ElementsAre(Field(&Problem::where, "/outputs/0/out_base64")));
}

TEST(Capture, AnotherFormatIsNotGuessed) {
  json::value value = to_json(sample());
  value.as_object()["exa_capture"] = 2;
  EXPECT_THAT(capture_from_json(value).error().message, HasSubstr("newer exa"));
  value.as_object()["exa_capture"] = "1";
  EXPECT_FALSE(capture_from_json(value));
  value.as_object().erase("exa_capture");
  EXPECT_EQ(capture_from_json(value).error().code, Code::invalid_input);
  EXPECT_FALSE(capture_from_json(json::array{}));
  EXPECT_FALSE(capture_from_json(nullptr));
}

TEST(Capture, AnArgumentThatIsNoUtf8IsKeptReadable) {
  Capture capture = sample();
  capture.outputs[0].argv = {"cat", "/sys/\xff"};
  const auto again = reread(capture);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->outputs[0].argv[1], "/sys/\\xff");
}

}  // namespace
}  // namespace exa
