// Runs a fuzz target without libFuzzer: over its kept corpus, then over inputs made from it by a
// fixed generator. What `make test` does with every target in a second or two; the long search with
// coverage and sanitizers is `make fuzz`.
//   replay_NAME CORPUS [INPUTS]
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

constexpr size_t kLongest = 1 << 16;

void run(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
}

std::vector<std::string> corpus_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  if (std::filesystem::is_directory(folder)) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
      if (entry.is_regular_file()) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> corpus = {""};
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return corpus;
}

// A few bytes changed, cut, doubled, or a part of another input put in.
std::string changed(std::string text, const std::vector<std::string>& corpus,
                    std::mt19937_64& random) {
  for (uint64_t left = 1 + random() % 4; left > 0; --left) {
    const size_t at = text.empty() ? 0 : random() % text.size();
    const size_t length = 1 + random() % 16;
    switch (random() % 5) {
      case 0:
        if (!text.empty()) text[at] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, text.substr(at, length));
        break;
      case 3:
        text.resize(at);
        break;
      default: {
        const std::string& other = corpus[random() % corpus.size()];
        if (!other.empty()) text.insert(at, other.substr(random() % other.size(), length * 4));
      }
    }
  }
  if (text.size() > kLongest) text.resize(kLongest);
  return text;
}

}  // namespace

int main(int count, char** words) {
  if (count < 2) return 2;
  const std::vector<std::string> corpus = corpus_in(words[1]);
  const auto most = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  const int inputs = count > 2 ? std::stoi(words[2]) : 10'000;
  for (const std::string& input : corpus) run(input);
  constexpr uint64_t kSeed = 20261130;
  std::mt19937_64 random(kSeed);
  int done = 0;
  while (done < inputs && std::chrono::steady_clock::now() < most) {
    run(changed(corpus[random() % corpus.size()], corpus, random));
    ++done;
  }
  std::printf("%zu kept inputs, %d made with seed %llu\n", corpus.size() - 1, done,
              static_cast<unsigned long long>(kSeed));
  return 0;
}
