// The nodes of one cluster laid out for placement: what is free on each, and classes of nodes with
// the same free vector, so that a decision looks at classes and not at nodes. Nodes are numbered by
// name, so nothing here depends on the order in which they were listed.
//
// Pure state: no clock, no I/O. Not thread-safe while it changes; a fleet and its placer belong to
// one thread, or to one lock. The same calls in the same order give the same state anywhere.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "place/device_ask.h"

namespace exa {

inline constexpr size_t kMostCards = 16;                     // of one node
inline constexpr int64_t kMostCpuMilli = int64_t{1} << 36U;  // of one node
inline constexpr int64_t kMostMemoryBytes = int64_t{1} << 60U;
inline constexpr int64_t kMostDevicesAsked = 64;  // of one node: 16 cards, MIG instances on them

// A node as it is added to a fleet. `free` says what is left of each card: thousandths, or with
// `mig` a MigCard; empty means that all cards are free.
struct DeviceNode {
  std::string name;
  std::string model;  // of its cards; empty: none, or unknown
  std::optional<int64_t> model_memory_bytes;
  int64_t cards = 0;
  bool mig = false;  // the cards are in MIG mode: only instances can be asked for
  int64_t cpu_milli = 0;
  int64_t memory_bytes = 0;
  int64_t cpu_free_milli = 0;
  int64_t memory_free_bytes = 0;
  std::vector<uint16_t> free;
  std::vector<std::string> capabilities;
  std::vector<std::string> groups;  // resource groups that it is in
};

// What never changes about a node.
struct DeviceKind {
  std::string model;
  std::optional<int64_t> model_memory_bytes;
  std::vector<std::string> capabilities;  // sorted
  std::vector<std::string> groups;        // sorted
  bool mig = false;
  uint8_t cards = 0;
  int64_t cpu_milli = 0;
  int64_t memory_bytes = 0;

  bool operator==(const DeviceKind&) const = default;
};

using CardStates = std::array<uint16_t, kMostCards>;

// Nodes of one kind with the same free vector. `cards` is ascending; only the first `kind.cards`
// count.
struct NodeClass {
  int64_t cpu_free = 0;
  int64_t memory_free = 0;
  CardStates cards{};
  uint32_t kind = 0;
  uint8_t count = 0;            // cards
  uint8_t whole = 0;            // cards that are wholly free
  uint16_t largest = 0;         // the largest free share; 0 in MIG mode
  int32_t free_milli = 0;       // sum of the free shares; in MIG mode of the free compute slices
  uint32_t members = 0;         // nodes in it now
  uint32_t generation = 0;      // grows each time it comes to life
  uint64_t hash = 0;            // of the free vector and kind; the same in every run
  std::vector<uint32_t> queue;  // heap of members, smallest first; may name nodes that have left
};

// One node's part of an assignment. `cards` are places in the node; in MIG mode `starts` are the
// memory slices where each instance begins.
struct NodeShare {
  uint32_t node = 0;
  uint8_t count = 0;
  std::array<uint8_t, kMostDevicesAsked> cards{};
  std::array<uint8_t, kMostDevicesAsked> starts{};
};

// What a placed ask holds, enough to give it back: the same amounts on every node.
struct DeviceAssignment {
  int64_t cpu_milli = 0;
  int64_t memory_bytes = 0;
  int64_t share_milli = 0;
  std::optional<MigSlices> mig;
  std::vector<NodeShare> nodes;
};

class DeviceFleet {
 public:
  // Errors: invalid_input naming every bad node (no name, a name twice, a negative or too large
  // amount, more free than there is, more than 16 cards).
  static Result<DeviceFleet> build(std::vector<DeviceNode> nodes);

  size_t size() const { return names_.size(); }
  std::string_view name(uint32_t node) const { return names_[node]; }  // ascending
  std::optional<uint32_t> find(std::string_view name) const;
  std::span<const DeviceKind> kinds() const { return kinds_; }
  const DeviceKind& kind_of(uint32_t node) const { return kinds_[classes_[class_of_[node]].kind]; }
  int64_t capacity_milli() const { return capacity_milli_; }  // of all cards
  int64_t free_milli() const { return free_milli_; }

  // What is free on one node, cards in their own order.
  std::span<const uint16_t> cards(uint32_t node) const;
  const NodeClass& state(uint32_t node) const { return classes_[class_of_[node]]; }

  // Takes or gives back all of it, or nothing. False: it is not free (or was not taken).
  bool take(const DeviceAssignment& assignment);
  bool release(const DeviceAssignment& assignment);

  // --- For the placer -----------------------------------------------------------------------

  std::span<const uint32_t> live_classes() const { return live_; }
  const NodeClass& node_class(uint32_t id) const { return classes_[id]; }
  // The nodes of a class in order of name, the first `count` of them.
  void first_members(uint32_t id, size_t count, std::vector<uint32_t>& out);
  // Classes that came to life, in order; `forgotten()` of them have been dropped from the front.
  struct Birth {
    uint32_t id;
    uint32_t generation;
  };
  uint64_t births() const { return forgotten_ + log_.size(); }
  uint64_t forgotten() const { return forgotten_; }
  std::span<const Birth> births_since(uint64_t seen) const {
    return std::span(log_).subspan(seen - forgotten_);
  }
  bool alive(const Birth& birth) const {
    return classes_[birth.id].generation == birth.generation && classes_[birth.id].members > 0;
  }
  size_t bytes() const;  // memory held, about

 private:
  struct Key {
    int64_t cpu = 0;
    int64_t memory = 0;
    CardStates cards{};
    uint32_t kind = 0;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const;
  };
  struct Change;

  bool apply(const DeviceAssignment& assignment, bool take);
  uint32_t class_for(const Key& key);
  void join(uint32_t node, uint32_t id);
  void leave(uint32_t id);
  void tidy(std::vector<uint32_t>& queue, uint32_t id, uint32_t joining) const;
  void settle(uint32_t node, uint32_t kind, int64_t cpu, int64_t memory);

  std::vector<std::string> names_;
  std::vector<DeviceKind> kinds_;
  std::vector<uint32_t> class_of_;
  std::vector<uint32_t> first_card_;  // cards_[first_card_[node] ...]
  std::vector<uint16_t> cards_;
  int64_t capacity_milli_ = 0;
  int64_t free_milli_ = 0;

  std::vector<NodeClass> classes_;
  std::vector<uint32_t> unused_;  // places in classes_
  std::vector<uint32_t> live_;
  std::vector<uint32_t> live_at_;  // place in live_, by class
  std::unordered_map<Key, uint32_t, KeyHash> by_key_;
  std::vector<Birth> log_;
  uint64_t forgotten_ = 0;
};

}  // namespace exa
