// exa as a library: where should a workload run, and what does that cost. The requirement's
// vocabulary and nothing else; everything here is pure (no clock, no disk, no network) and reports
// failures as values.
//
//   exa::PoolRegistry registry;
//   registry.add({{"name", "hpc-mi300"}, {"target", "hpc"}, {"accelerator", "amd"}, {"count", 4}});
//   exa::PlaceAsk ask;
//   ask.workload = {.name = "train-llm", .accelerator = exa::Family::amd, .engine = "vllm"};
//   const auto decision = registry.decide(ask);                 // Result<Decision>
//   const exa::PlaceAnswer answer = exa::answer_of(*decision);  // Placement or Rejection
//
// Amounts: cpu in thousandths of a core, memory in bytes, fractions in thousandths of a device,
// money in millionths of a currency unit, carbon in millionths of a gram of CO2-equivalent. gpus,
// cpu and memory are per node.
//
//   Workload           what is asked                         place/workload.h
//   Pool, PoolRegistry where it can run                      place/pool.h, place/registry.h
//   place, Placement,  where it should run, or why it        place/pool_place.h, place/placement.h
//   Rejection          cannot, and the smallest change
//   explain            every pool with its outcome           place/pool_explain.h
//   portable           whether an engine runs on an          hardware/engine.h
//                      accelerator
//   device_accounting  cost and carbon of a placement        account/accounting.h
//   judge_burst        whether data may go to a region       govern/burst.h
#pragma once

#include "account/accounting.h"
#include "govern/burst.h"
#include "hardware/engine.h"
#include "place/placement.h"
#include "place/pool.h"
#include "place/pool_explain.h"
#include "place/pool_place.h"
#include "place/registry.h"
#include "place/workload.h"
