// Decisions where work runs, kept with every candidate, and the bursts among them. Requirement
// "Heterogeneous Hardware & Hybrid HPC <-> Cloud"; semantics §5.
#pragma once

#include "place/pool_place.h"
#include "service/pages.h"
#include "service/service.h"

namespace exa {

struct PlaceWorkload {
  std::string project;
  json::object workload;         // keys of read_workload; what it leaves out comes from the profile
  std::string hardware_profile;  // reference; empty: none
  std::string dataset_residency;  // as labelled; empty: not
  bool burst = false;             // cloud pools only
  bool opted_in = true;           // --allow-burst
  bool reserve = false;           // take the devices
  Duration lifetime = hours(1);   // of the lease
  bool queues = false;            // where no node can be promised, the scheduler keeps it waiting
};
// Decides, keeps the decision, and with `reserve` takes the devices in the same transaction. A
// refusal is an answer (exit code 6, or 7 when a policy forbids every pool that could hold it). An
// attempt at a cloud is a burst event, whatever came of it.
Result<Answer> place_workload(Service& service, const Caller& caller, const PlaceWorkload& what);

struct PlaceOnCluster {
  std::string project;
  json::object workload;
  std::string hardware_profile;
  std::string dataset_residency;
  std::string cluster;
  std::string policy;
  std::string group;
  bool group_required = false;
  std::string mig_profile;
};
// Chooses nodes and devices inside one cluster, by its newest snapshot, and keeps the decision. It
// is advice: the cluster's scheduler has the last word. Residency holds here as for pools.
Result<Answer> place_inside(Service& service, const Caller& caller, const PlaceOnCluster& what);

Result<Answer> list_decisions(Service& service, const Page& page);  // newest first
Result<Answer> show_decision(Service& service, const Caller& caller, const std::string& id);
Result<Answer> list_bursts(Service& service, const Page& page);

Result<Answer> show_burst_policy(Service& service);
struct SetBurstPolicy {
  std::optional<bool> cloud;
  std::optional<bool> open_to_unknown;
  std::optional<std::string> unlabelled;
  std::optional<std::vector<std::string>> narrow;  // "open=eu|uk"; an empty list lifts all
};
Result<Answer> set_burst_policy(Service& service, const Caller& caller, const SetBurstPolicy& what);

Result<Answer> list_regions(Service& service, const std::string& jurisdiction);
// No jurisdiction: back to what is shipped; "unknown": nobody may assume one.
// A region that somebody said something about has an entity tag; a shipped one is nobody's change.
Result<Answer> show_region(Service& service, const std::string& region);
Result<Answer> set_region(Service& service, const Caller& caller, const std::string& region,
                          const std::string& jurisdiction);

// An empty class takes the label off.
Result<Answer> show_project_label(Service& service, const std::string& project);
Result<Answer> label_project(Service& service, const Caller& caller, const std::string& project,
                             const std::string& residency);

}  // namespace exa
