// What a probe saw of one cluster: values only. Unknown is std::nullopt or an empty text, never 0.
// Counting rules: semantics §2 ("Counting is never one number").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "hardware/family.h"

namespace exa {

enum class Sharing {
  whole,       // one unit = one card
  mig,         // one unit = one MIG instance of `mig_profile`
  time_slice,  // one unit = one share of a card, no isolation (Kubernetes time-slicing)
  mps,
  shard,   // one unit = one share of a card by count alone (Slurm shard)
  vgpu,    // one unit = one virtual GPU: a share of a card that the virtual machine's host holds
  unread,  // the source does not say whether a unit can be had alone as a card, or is a slice or
           // share of one
};

// One way of asking for (a part of) a set of cards. The offers of a CardSet are alternatives that
// are cut from the same cards: they are never added up to a number of cards.
struct Offer {
  Sharing sharing = Sharing::whole;
  std::string resource;         // as it is asked for: "gpu:a100", "nvidia.com/mig-1g.10gb"
  std::string mig_profile;      // for mig only
  int64_t units = 0;            // that can be asked for in total (allocatable)
  std::optional<int64_t> used;  // unknown where the source does not say
  // That could be asked for now if the node is usable. Not always units - used: a card whose shares
  // are in use cannot be had whole. Unknown where used is unknown.
  std::optional<int64_t> free;

  bool operator==(const Offer&) const = default;
};

// Cards of one model in one node.
struct CardSet {
  Family family = Family::other;
  // The source does not say whose devices these are: family is then `other` and means "any".
  bool family_unread = false;
  std::string reported;             // the model as the tool printed it; empty: not reported
  std::string model;                // canonical catalogue name; empty: unknown or not a single one
  std::optional<int64_t> physical;  // cards; unknown where only slices are counted
  std::optional<int64_t> memory_bytes;  // per card, as reported
  std::vector<Offer> offers;  // empty: present but nothing can be asked for (no plugin, no driver)
  // Ways of sharing in which these cards may be asked for, unknown how often: no tool listed them,
  // or MIG is on and its instances were not listed.
  std::vector<Sharing> offers_unread;
  std::string remark;  // why something is not as it seems ("1 of 8 unhealthy")

  bool operator==(const CardSet&) const = default;
};

enum class Health {
  usable,
  draining,  // running jobs end, nothing new starts
  drained,
  down,
  not_responding,
  reserved,  // maintenance or reservation: not for everybody
  powered_down,
  cordoned,
  not_ready,
  unknown,
};

struct Taint {
  std::string key;
  std::string value;
  std::string effect;  // NoSchedule, PreferNoSchedule, NoExecute
  bool operator==(const Taint&) const = default;
};

// Software that the probe saw: {"cuda", "12.4"}, {"nvidia-driver", "550.54.15"}, {"rocm", "6.1"}.
struct Software {
  std::string product;
  std::string version;
  bool operator==(const Software&) const = default;
};

struct Node {
  std::string name;
  std::vector<std::string> partitions;  // Slurm partitions, Flux queues; sorted, unique
  std::vector<std::string> features;    // Slurm features, Flux properties
  std::vector<std::pair<std::string, std::string>> labels;  // Kubernetes, sorted by key
  std::vector<Taint> taints;
  Health health = Health::unknown;
  std::string state;   // in the source's own words: "MIXED+DRAIN", "Ready,SchedulingDisabled"
  std::string reason;  // why it is not usable, in the source's words
  std::optional<int64_t> cpu_milli;  // allocatable
  std::optional<int64_t> cpu_free_milli;
  std::optional<int64_t> memory_bytes;
  std::optional<int64_t>
      memory_free_bytes;  // not asked for by jobs; not the operating system's view
  std::vector<CardSet> cards;
  // Families of which the node may have devices that are not in `cards`, because nothing that was
  // read lists them; sorted, unique.
  std::vector<Family> devices_unread;
  std::vector<Software> software;
  std::string zone;
  std::string region;

  bool usable() const { return health == Health::usable; }
  bool operator==(const Node&) const = default;
};

// Something the probe could not read, and why: {"pods", "403 Forbidden: may list nodes, not pods"}.
struct Unread {
  std::string what;
  std::string why;
  bool operator==(const Unread&) const = default;
};

enum class ClusterKind { host, slurm, flux, kubernetes };

struct Inventory {
  ClusterKind kind = ClusterKind::host;
  std::string tool;          // "scontrol show node", "kube-apiserver"
  std::string tool_version;  // "22.05.8"; empty: not reported
  std::string cluster_name;  // as the source calls itself; empty: not reported
  std::vector<Node> nodes;   // sorted by name, unique
  std::vector<Unread> unread;

  bool operator==(const Inventory&) const = default;
};

// An immutable observation of a cluster.
struct Snapshot {
  std::string id;
  std::string cluster;
  Time taken_at;
  bool declared = false;  // typed in by an operator rather than discovered
  Inventory inventory;
};

std::string_view name(Sharing sharing);   // "whole", "mig", "time-slice", …; "unknown" for unread
std::string_view name(Health health);     // "usable", "not-responding", …
std::string_view name(ClusterKind kind);  // "host", "slurm", "flux", "kubernetes"
std::optional<Sharing> find_sharing(std::string_view name);
std::optional<Health> find_health(std::string_view name);
std::optional<ClusterKind> find_cluster_kind(std::string_view name);

}  // namespace exa
