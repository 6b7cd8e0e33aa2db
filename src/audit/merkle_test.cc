#include "audit/merkle.h"

#include <random>

#include <gtest/gtest.h>

#include "base/text.h"

namespace exa {
namespace {

using namespace std::string_literals;

// The eight leaves and nine roots that Certificate Transparency implementations test with.
const std::array kLeaves = {""s,
                            "\x00"s,
                            "\x10"s,
                            "\x20\x21"s,
                            "\x30\x31"s,
                            "\x40\x41\x42\x43"s,
                            "\x50\x51\x52\x53\x54\x55\x56\x57"s,
                            "\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f"s};
constexpr std::array kRoots = {
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
};

std::vector<Hash> reference_leaves() {
  std::vector<Hash> hashes;
  for (const std::string& leaf : kLeaves) hashes.push_back(leaf_hash(leaf));
  return hashes;
}

std::vector<Hash> numbered_leaves(size_t count) {
  std::vector<Hash> hashes;
  for (size_t i = 0; i < count; ++i) hashes.push_back(leaf_hash(std::to_string(i)));
  return hashes;
}

std::vector<std::string> in_hex(std::span<const Hash> proof) {
  std::vector<std::string> texts;
  for (const Hash& hash : proof) texts.push_back(hex(hash));
  return texts;
}

TEST(Merkle, RootsAreThoseOfCertificateTransparency) {
  const std::vector<Hash> leaves = reference_leaves();
  Frontier frontier;
  for (size_t size = 0; size <= leaves.size(); ++size) {
    EXPECT_EQ(hex(root_of(std::span(leaves).first(size))), kRoots[size]) << size;
    EXPECT_EQ(hex(root(frontier)), kRoots[size]) << size;
    if (size < leaves.size()) append(frontier, leaves[size]);
  }
}

TEST(Merkle, ProofsAreThoseOfCertificateTransparency) {
  const std::vector<Hash> leaves = reference_leaves();
  EXPECT_EQ(in_hex(inclusion_proof(leaves, 0)),
            (std::vector<std::string>{
                "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
                "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
                "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4"}));
  EXPECT_EQ(in_hex(inclusion_proof(leaves, 5)),
            (std::vector<std::string>{
                "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
                "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
                "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7"}));
  EXPECT_EQ(in_hex(consistency_proof(leaves, 6)),
            (std::vector<std::string>{
                "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
                "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
                "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7"}));
  EXPECT_EQ(in_hex(consistency_proof(std::span(leaves).first(5), 2)),
            (std::vector<std::string>{
                "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
                "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b"}));
}

TEST(Merkle, ALeafNeverPassesForANode) {
  const Hash left = leaf_hash("a"), right = leaf_hash("b");
  const std::string both = std::string(bytes_of(left)) + std::string(bytes_of(right));
  EXPECT_NE(leaf_hash(both), node_hash(left, right));
}

TEST(Merkle, TheEdgeGivesTheSameRootAsTheDefinition) {
  const std::vector<Hash> leaves = numbered_leaves(257);
  Frontier frontier;
  for (size_t size = 0; size < leaves.size(); ++size) {
    ASSERT_EQ(root(frontier), root_of(std::span(leaves).first(size))) << size;
    append(frontier, leaves[size]);
  }
}

TEST(Merkle, TheEdgeSurvivesBeingStored) {
  Frontier frontier;
  for (const Hash& leaf : numbered_leaves(65)) {
    ASSERT_EQ(frontier_from_bytes(to_bytes(frontier)), frontier);
    append(frontier, leaf);
  }
}

TEST(Merkle, ADamagedStoredEdgeIsRefused) {
  Frontier frontier;
  for (const Hash& leaf : numbered_leaves(13)) append(frontier, leaf);
  const std::string bytes = to_bytes(frontier);
  for (size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(frontier_from_bytes(bytes.substr(0, length))) << length;
  }
  EXPECT_FALSE(frontier_from_bytes(bytes + '\0'));
  EXPECT_FALSE(frontier_from_bytes(std::string(8, '\xff')));
}

TEST(Merkle, EveryInclusionProofUpTo65Holds) {
  const std::vector<Hash> all = numbered_leaves(65);
  for (size_t size = 1; size <= all.size(); ++size) {
    const auto leaves = std::span(all).first(size);
    const Hash top = root_of(leaves);
    for (size_t index = 0; index < size; ++index) {
      ASSERT_TRUE(verify_inclusion(leaves[index], index, size, inclusion_proof(leaves, index), top))
          << index << " of " << size;
    }
  }
}

TEST(Merkle, EveryConsistencyProofUpTo65Holds) {
  const std::vector<Hash> all = numbered_leaves(65);
  for (size_t size = 0; size <= all.size(); ++size) {
    const auto leaves = std::span(all).first(size);
    const Hash top = root_of(leaves);
    for (size_t old_size = 0; old_size <= size; ++old_size) {
      const Hash old_top = root_of(leaves.first(old_size));
      ASSERT_TRUE(
          verify_consistency(old_size, size, consistency_proof(leaves, old_size), old_top, top))
          << old_size << " of " << size;
    }
  }
}

// Changes one thing about a proof; every result differs from the original.
std::vector<Hash> mutated(std::vector<Hash> proof, std::mt19937_64& random) {
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  switch (proof.empty() ? 0 : below(4)) {
    case 0:
      proof.insert(proof.begin() + static_cast<long>(below(proof.size() + 1)), sha256("new"));
      break;
    case 1:
      proof.erase(proof.begin() + static_cast<long>(below(proof.size())));
      break;
    case 2:
      proof[below(proof.size())][below(32)] ^= static_cast<uint8_t>(1U << below(8));
      break;
    default: {
      // a swap of equal hashes would be no change; numbered leaves have none
      if (proof.size() == 1)
        proof[0] = sha256("new");
      else
        std::swap(proof[0], proof[1 + below(proof.size() - 1)]);
    }
  }
  return proof;
}

TEST(Merkle, MutatedProofsAreRefused) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  const std::vector<Hash> all = numbered_leaves(65);
  for (int round = 0; round < 2'000; ++round) {
    const size_t size = 2 + random() % 64;
    const auto leaves = std::span(all).first(size);
    const Hash top = root_of(leaves);
    const size_t index = random() % size, old_size = 1 + random() % (size - 1);
    const Hash old_top = root_of(leaves.first(old_size));
    ASSERT_FALSE(verify_inclusion(leaves[index], index, size,
                                  mutated(inclusion_proof(leaves, index), random), top))
        << index << " of " << size;
    ASSERT_FALSE(verify_consistency(
        old_size, size, mutated(consistency_proof(leaves, old_size), random), old_top, top))
        << old_size << " of " << size;
  }
}

TEST(Merkle, AProofHoldsForOneStatementOnly) {
  const std::vector<Hash> all = numbered_leaves(33);
  for (size_t size = 2; size <= all.size(); ++size) {
    const auto leaves = std::span(all).first(size);
    const Hash top = root_of(leaves);
    for (size_t index = 0; index < size; ++index) {
      const auto proof = inclusion_proof(leaves, index);
      for (size_t other = 0; other < size; ++other) {
        if (other == index) continue;
        ASSERT_FALSE(verify_inclusion(leaves[other], index, size, proof, top));
        ASSERT_FALSE(verify_inclusion(leaves[index], other, size, proof, top));
      }
      ASSERT_FALSE(verify_inclusion(leaves[index], index, size, proof, sha256("other root")));
      ASSERT_FALSE(verify_inclusion(leaves[index], size + index, size, proof, top));
    }
    for (size_t old_size = 1; old_size < size; ++old_size) {
      const auto proof = consistency_proof(leaves, old_size);
      const Hash old_top = root_of(leaves.first(old_size));
      ASSERT_FALSE(verify_consistency(old_size, size, proof, sha256("other"), top));
      ASSERT_FALSE(verify_consistency(old_size, size, proof, old_top, sha256("other")));
      ASSERT_FALSE(verify_consistency(size, old_size, proof, top, old_top));
    }
  }
}

TEST(Digest, IsTheOneOfTheStandard) {
  // FIPS 180-4 examples
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256({"a", "", "bc"}), sha256("abc"));
}

TEST(Digest, AStoredHashHasExactly32Bytes) {
  const Hash hash = sha256("abc");
  EXPECT_EQ(hash_from_bytes(bytes_of(hash)), hash);
  EXPECT_FALSE(hash_from_bytes(bytes_of(hash).substr(1)));
  EXPECT_FALSE(hash_from_bytes(std::string(33, 'x')));
}

}  // namespace
}  // namespace exa
