// The Merkle tree of RFC 6962, section 2.1 (verification as in RFC 9162, section 2.1): leaves and
// inner nodes are hashed with different first bytes, so neither can pass for the other.
// All pure; sizes and indexes count leaves from 0.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "audit/digest.h"
#include "base/error.h"

namespace exa {

Hash leaf_hash(std::string_view leaf);                // SHA-256(0x00 || leaf)
Hash node_hash(const Hash& left, const Hash& right);  // SHA-256(0x01 || left || right)

// The right edge of a tree: all that an append needs to know. One peak for each bit set in `size`,
// the root of a perfect subtree of that many leaves, largest first.
struct Frontier {
  uint64_t size = 0;
  std::vector<Hash> peaks;

  bool operator==(const Frontier&) const = default;
};

void append(Frontier& frontier, const Hash& leaf);
Hash root(const Frontier& frontier);  // of the empty tree: SHA-256 of nothing

// 8 bytes of size, big-endian, then the peaks. Reading fails with store_damaged unless there are
// exactly as many peaks as the size has bits set.
std::string to_bytes(const Frontier& frontier);
Result<Frontier> frontier_from_bytes(std::string_view bytes);

Hash root_of(std::span<const Hash> leaves);

// The hashes that lead from leaf `index` to the root of all `leaves`. index < leaves.size().
std::vector<Hash> inclusion_proof(std::span<const Hash> leaves, uint64_t index);
bool verify_inclusion(const Hash& leaf, uint64_t index, uint64_t size, std::span<const Hash> proof,
                      const Hash& root);

// The hashes that show that the tree of the first `old_size` leaves is the beginning of the tree of
// all `leaves`. Empty for old_size 0 and for old_size == leaves.size(), as there is nothing to
// show.
std::vector<Hash> consistency_proof(std::span<const Hash> leaves, uint64_t old_size);
bool verify_consistency(uint64_t old_size, uint64_t new_size, std::span<const Hash> proof,
                        const Hash& old_root, const Hash& new_root);

}  // namespace exa
