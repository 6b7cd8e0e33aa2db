#include "discover/readers.h"

#include <filesystem>
#include <fstream>
#include <set>

#include <gmock/gmock.h>

namespace exa {
namespace {

using testing::HasSubstr;

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::filesystem::path testdata(std::string_view name) {
  return std::filesystem::path(EXA_TESTDATA) / name;
}

TEST(Readers, EveryKindOfClusterHasOneReader) {
  std::set<ClusterKind> kinds;
  for (const Reader& reader : readers()) {
    EXPECT_TRUE(kinds.insert(reader.kind).second) << name(reader.kind);
    EXPECT_FALSE(reader.raw_outputs.empty());
  }
  EXPECT_EQ(kinds.size(), 4u);
}

struct Sample {
  const char* file;
  ClusterKind kind;
};

constexpr Sample kSamples[] = {
    {"slurm/scontrol-show-node.txt", ClusterKind::slurm},
    {"slurm/scontrol-show-node-oneline.txt", ClusterKind::slurm},
    {"slurm/sinfo.json", ClusterKind::slurm},
    {"slurm/rest-nodes-v0.0.38.json", ClusterKind::slurm},
    {"flux/R-configured.json", ClusterKind::flux},
    {"flux/resource-list.txt", ClusterKind::flux},
    {"kubernetes/nodes-apiserver-1.20.json", ClusterKind::kubernetes},
    {"host/nvidia-smi-qx-a100-mig.xml", ClusterKind::host},
    {"host/nvidia-smi-L-h100.txt", ClusterKind::host},
    {"host/rocm-smi-mi100_rocm602.json", ClusterKind::host},
};

TEST(Readers, ARawOutputIsKnownByItsContentAlone) {
  for (const Sample& sample : kSamples) {
    const auto capture =
        capture_from_file(content(testdata(sample.file)), sample.file, {}, Time{1});
    ASSERT_TRUE(capture) << sample.file << ": " << capture.error().message;
    EXPECT_EQ(capture->kind, sample.kind) << sample.file;
  }
}

TEST(Readers, NoReaderTakesTheOutputOfAnothersTool) {
  for (const Reader& reader : readers())
    for (const char* folder : {"slurm", "flux", "kubernetes", "host"}) {
      if (name(reader.kind) == folder) continue;
      for (const auto& entry : std::filesystem::directory_iterator(testdata(folder))) {
        if (!entry.is_regular_file() || entry.path().extension() == ".md") continue;
        EXPECT_EQ(reader.recognise(content(entry.path())), std::nullopt)
            << name(reader.kind) << " takes " << entry.path();
      }
    }
}

TEST(Readers, ACaptureSavedAndReplayedGivesTheSameInventory) {
  for (const Sample& sample : kSamples) {
    const auto capture =
        capture_from_file(content(testdata(sample.file)), sample.file, {}, Time{1});
    ASSERT_TRUE(capture) << sample.file;
    const auto inventory = read_capture(*capture);
    ASSERT_TRUE(inventory) << sample.file << ": " << inventory.error().message;
    EXPECT_EQ(inventory->kind, sample.kind) << sample.file;
    const auto replayed =
        capture_from_file(to_text(to_json(*capture)), "saved", sample.kind, Time{2});
    ASSERT_TRUE(replayed) << sample.file << ": " << replayed.error().message;
    EXPECT_EQ(replayed->taken_at, Time{1});
    EXPECT_EQ(read_capture(*replayed), inventory) << sample.file;
  }
}

TEST(Readers, TextOfNoToolIsUnreadableForEveryKind) {
  for (const char* text : {"hello", "{}", "[]", "<xml/>",
                           "\x7f"
                           "ELF",
                           "null", "{\"exa\": 1}"}) {
    const auto capture = capture_from_file(text, "file", {}, Time{1});
    ASSERT_FALSE(capture) << text;
    EXPECT_EQ(capture.error().code, Code::unreadable_output) << text;
    EXPECT_EQ(capture.error().alternatives.size(), 5u) << text;
  }
}

}  // namespace
}  // namespace exa
