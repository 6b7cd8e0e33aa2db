// Engines: which backends each serving or training engine runs on, and whether it runs on an
// accelerator. Requirement "Portability — never schedule what can't run".
//
// The shipped engines are data; an admin's own are rows of the EngineTable that is passed in. Pure;
// a const EngineTable may be read from any number of threads.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "hardware/family.h"

namespace exa {

struct Engine {
  std::string name;
  std::vector<std::string> backends;  // cuda, rocm, ipex, xla, cpu; as listed, unique
  bool shipped = false;               // false: added by an admin

  bool operator==(const Engine&) const = default;
};

// Sorted by name, unique.
struct EngineTable {
  std::vector<Engine> engines;
};

// The document's table: vllm, sglang, ipex, cpu, generic.
const EngineTable& shipped_engines();

const Engine* find_engine(const EngineTable& table, std::string_view name);  // nullptr: none such
std::vector<std::string> backend_names();  // of all askable families, in the table's order

// Everything wrong with an engine that an admin wants to add: its name ([a-z0-9-], at most 63), no
// backend, an unknown or repeated one (with a did-you-mean). Pointers as in its JSON.
std::vector<Problem> problems_of_engine(const Engine& engine);

// The table with this engine added, or replaced where an admin added it before. Fails with
// invalid_input (all problems) and conflict (a shipped engine is not redefined).
Result<EngineTable> with_engine(EngineTable table, Engine engine);
// Fails with not_found (did-you-mean) and conflict (a shipped engine is not removed).
Result<EngineTable> without_engine(EngineTable table, std::string_view name);

bool runs_on(const Engine& engine, Family family);

// "engine 'sglang' cannot run on amd (needs backend rocm; supports ('cuda',))", word for word as
// the document prints it; empty when it runs there.
std::string why_not_portable(const Engine& engine, Family family);

struct Portability {
  std::string engine;
  Family accelerator = Family::cpu;
  std::string needs;                  // the backend of the accelerator
  std::vector<std::string> supports;  // by the engine
  bool portable = false;
  std::string reason;  // empty when portable

  bool operator==(const Portability&) const = default;
};

// Whether the engine runs on the accelerator. Fails with invalid_input when either name is unknown,
// both problems at once (/engine, /accelerator), each with a did-you-mean.
Result<Portability> portable(const EngineTable& table, std::string_view engine,
                             std::string_view accelerator);

json::object to_json(const Engine& engine);            // name, backends, accelerators, shipped
json::object to_json(const Portability& portability);  // engine, accelerator, portable, …
// Reads what to_json wrote; fails with store_damaged.
Result<Engine> engine_from_json(const json::object& stored);

}  // namespace exa
