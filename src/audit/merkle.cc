#include "audit/merkle.h"

#include <bit>

#include <fmt/format.h>

namespace exa {
namespace {

constexpr std::string_view kLeafPrefix("\x00", 1);
constexpr std::string_view kNodePrefix("\x01", 1);

// Where RFC 6962 divides n > 1 leaves: the largest power of two below n.
uint64_t split_of(uint64_t n) {
  return std::bit_floor(n - 1);
}

// SUBPROOF of RFC 6962, section 2.1.2. `known`: the verifier already holds the root of these
// leaves.
void add_subproof(std::vector<Hash>& proof, std::span<const Hash> leaves, uint64_t old_size,
                  bool known) {
  if (old_size == leaves.size()) {
    if (!known) proof.push_back(root_of(leaves));
    return;
  }
  const uint64_t k = split_of(leaves.size());
  if (old_size <= k) {
    add_subproof(proof, leaves.first(k), old_size, known);
    proof.push_back(root_of(leaves.subspan(k)));
  } else {
    add_subproof(proof, leaves.subspan(k), old_size - k, false);
    proof.push_back(root_of(leaves.first(k)));
  }
}

}  // namespace

Hash leaf_hash(std::string_view leaf) {
  return sha256({kLeafPrefix, leaf});
}

Hash node_hash(const Hash& left, const Hash& right) {
  return sha256({kNodePrefix, bytes_of(left), bytes_of(right)});
}

void append(Frontier& frontier, const Hash& leaf) {
  Hash carried = leaf;
  for (uint64_t rest = frontier.size; (rest & 1) != 0; rest >>= 1) {
    carried = node_hash(frontier.peaks.back(), carried);
    frontier.peaks.pop_back();
  }
  frontier.peaks.push_back(carried);
  ++frontier.size;
}

Hash root(const Frontier& frontier) {
  if (frontier.peaks.empty()) return sha256("");
  Hash right = frontier.peaks.back();
  for (size_t i = frontier.peaks.size() - 1; i-- > 0;) right = node_hash(frontier.peaks[i], right);
  return right;
}

std::string to_bytes(const Frontier& frontier) {
  std::string bytes;
  for (int shift = 56; shift >= 0; shift -= 8) {
    bytes += static_cast<char>((frontier.size >> shift) & 0xFF);
  }
  for (const Hash& peak : frontier.peaks) bytes += bytes_of(peak);
  return bytes;
}

Result<Frontier> frontier_from_bytes(std::string_view bytes) {
  constexpr size_t kSizeBytes = 8;
  Frontier frontier;
  for (size_t i = 0; i < std::min(kSizeBytes, bytes.size()); ++i) {
    frontier.size = (frontier.size << 8) | static_cast<uint8_t>(bytes[i]);
  }
  const auto peaks = static_cast<size_t>(std::popcount(frontier.size));
  if (bytes.size() != kSizeBytes + peaks * sizeof(Hash)) {
    return fail(Code::store_damaged,
                fmt::format("the stored edge of the audit tree has {} bytes, which fits no size",
                            bytes.size()),
                "exa audit verify");
  }
  for (size_t i = 0; i < peaks; ++i) {
    frontier.peaks.push_back(
        *hash_from_bytes(bytes.substr(kSizeBytes + i * sizeof(Hash), sizeof(Hash))));
  }
  return frontier;
}

Hash root_of(std::span<const Hash> leaves) {
  if (leaves.empty()) return sha256("");
  if (leaves.size() == 1) return leaves[0];
  const uint64_t k = split_of(leaves.size());
  return node_hash(root_of(leaves.first(k)), root_of(leaves.subspan(k)));
}

std::vector<Hash> inclusion_proof(std::span<const Hash> leaves, uint64_t index) {
  EXA_ASSERT(index < leaves.size());
  std::vector<Hash> from_top;
  while (leaves.size() > 1) {
    const uint64_t k = split_of(leaves.size());
    if (index < k) {
      from_top.push_back(root_of(leaves.subspan(k)));
      leaves = leaves.first(k);
    } else {
      from_top.push_back(root_of(leaves.first(k)));
      leaves = leaves.subspan(k);
      index -= k;
    }
  }
  return {from_top.rbegin(), from_top.rend()};
}

bool verify_inclusion(const Hash& leaf, uint64_t index, uint64_t size, std::span<const Hash> proof,
                      const Hash& root) {
  if (index >= size) return false;
  uint64_t at = index, last = size - 1;
  Hash hash = leaf;
  for (const Hash& sibling : proof) {
    if (last == 0) return false;
    if ((at & 1) != 0 || at == last) {
      hash = node_hash(sibling, hash);
      // a left edge without a right neighbour goes up unhashed until it has a left one
      while ((at & 1) == 0 && at != 0) {
        at >>= 1;
        last >>= 1;
      }
    } else {
      hash = node_hash(hash, sibling);
    }
    at >>= 1;
    last >>= 1;
  }
  return last == 0 && hash == root;
}

std::vector<Hash> consistency_proof(std::span<const Hash> leaves, uint64_t old_size) {
  EXA_ASSERT(old_size <= leaves.size());
  std::vector<Hash> proof;
  if (old_size > 0) add_subproof(proof, leaves, old_size, true);
  return proof;
}

bool verify_consistency(uint64_t old_size, uint64_t new_size, std::span<const Hash> proof,
                        const Hash& old_root, const Hash& new_root) {
  if (old_size > new_size) return false;
  if (old_size == new_size) return proof.empty() && old_root == new_root;
  if (old_size == 0) return proof.empty() && old_root == sha256("");
  uint64_t at = old_size - 1, last = new_size - 1;
  while ((at & 1) != 0) {
    at >>= 1;
    last >>= 1;
  }
  // an old tree that is one perfect subtree starts from its own root, which is not in the proof
  size_t next = 0;
  if (at != 0 && proof.empty()) return false;
  Hash from_old = at == 0 ? old_root : proof[next++];
  Hash from_new = from_old;
  for (; next < proof.size(); ++next) {
    const Hash& sibling = proof[next];
    if (last == 0) return false;
    if ((at & 1) != 0 || at == last) {
      from_old = node_hash(sibling, from_old);
      from_new = node_hash(sibling, from_new);
      while ((at & 1) == 0 && at != 0) {
        at >>= 1;
        last >>= 1;
      }
    } else {
      from_new = node_hash(from_new, sibling);
    }
    at >>= 1;
    last >>= 1;
  }
  return last == 0 && from_old == old_root && from_new == new_root;
}

}  // namespace exa
