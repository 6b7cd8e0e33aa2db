#include "hardware/engine.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace exa {
namespace {

constexpr size_t kLongestName = 63;

std::vector<std::string> engine_names(const EngineTable& table) {
  std::vector<std::string> names;
  for (const Engine& engine : table.engines) names.push_back(engine.name);
  return names;
}

bool is_name(std::string_view text) {
  const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !text.empty() && text.size() <= kLongestName && plain(text.front()) &&
         plain(text.back()) &&
         std::ranges::all_of(text, [&](char c) { return plain(c) || c == '-'; });
}

// As Python prints a tuple of texts: ('cuda',) or ('cuda', 'rocm'). The document's message has it.
std::string as_tuple(const std::vector<std::string>& texts) {
  std::string out = "(";
  for (size_t i = 0; i < texts.size(); ++i)
    out += fmt::format("{}'{}'", i == 0 ? "" : ", ", texts[i]);
  return out + (texts.size() == 1 ? ",)" : ")");
}

json::array texts(const std::vector<std::string>& list) {
  json::array array;
  for (const std::string& text : list) array.emplace_back(text);
  return array;
}

Problem unknown_engine(const EngineTable& table, std::string_view name) {
  const std::vector<std::string> known = engine_names(table);
  return {"/engine",
          fmt::format("\"{}\" is not an engine; there are {}", printable(name), join(known, ", ")),
          did_you_mean(name, known)};
}

}  // namespace

const EngineTable& shipped_engines() {
  static const EngineTable table{{
      {"cpu", {"cpu"}, true},
      {"generic", {"cuda", "rocm", "ipex", "xla", "cpu"}, true},
      {"ipex", {"ipex", "cpu"}, true},
      {"sglang", {"cuda"}, true},
      {"vllm", {"cuda", "rocm"}, true},
  }};
  return table;
}

const Engine* find_engine(const EngineTable& table, std::string_view name) {
  const auto found = std::ranges::lower_bound(
      table.engines, name, {}, [](const Engine& e) -> std::string_view { return e.name; });
  return found != table.engines.end() && found->name == name ? &*found : nullptr;
}

std::vector<std::string> backend_names() {
  std::vector<std::string> names;
  for (const FamilyInfo& row : families())
    if (row.askable) names.emplace_back(row.backend);
  return names;
}

std::vector<Problem> problems_of_engine(const Engine& engine) {
  std::vector<Problem> problems;
  if (!is_name(engine.name)) {
    problems.push_back({"/name",
                        fmt::format("\"{}\" is not an engine name: a-z, 0-9 and - inside, at most "
                                    "{} characters",
                                    printable(engine.name), kLongestName),
                        ""});
  }
  if (engine.backends.empty())
    problems.push_back({"/backends", "names no backend, so the engine would run nowhere", ""});
  const std::vector<std::string> known = backend_names();
  for (size_t i = 0; i < engine.backends.size(); ++i) {
    const std::string& backend = engine.backends[i];
    const std::string where = fmt::format("/backends/{}", i);
    if (std::ranges::find(known, backend) == known.end()) {
      problems.push_back({where,
                          fmt::format("\"{}\" is not a backend; there are {}", printable(backend),
                                      join(known, ", ")),
                          did_you_mean(backend, known)});
    } else if (std::find(engine.backends.begin(), engine.backends.begin() + static_cast<long>(i),
                         backend) != engine.backends.begin() + static_cast<long>(i)) {
      problems.push_back({where, fmt::format("\"{}\" stands twice", backend), ""});
    }
  }
  return problems;
}

Result<EngineTable> with_engine(EngineTable table, Engine engine) {
  if (auto problems = problems_of_engine(engine); !problems.empty())
    return fail(invalid("engine", std::move(problems)));
  const auto at = std::ranges::lower_bound(table.engines, engine.name, {}, &Engine::name);
  if (at == table.engines.end() || at->name != engine.name) {
    table.engines.insert(at, std::move(engine));
  } else if (at->shipped) {
    return fail(Code::conflict,
                fmt::format("engine '{}' is shipped with exa and is not redefined; add yours under "
                            "another name",
                            engine.name),
                "exa hardware engines");
  } else {
    *at = std::move(engine);
  }
  return table;
}

Result<EngineTable> without_engine(EngineTable table, std::string_view name) {
  const Engine* engine = find_engine(table, name);
  if (engine == nullptr) {
    Error error{
        Code::not_found, fmt::format("there is no engine '{}'", printable(name)), {}, {}, {}};
    error.next = "exa hardware engines";
    error.alternatives = close_matches(name, engine_names(table));
    return fail(std::move(error));
  }
  if (engine->shipped)
    return fail(Code::conflict,
                fmt::format("engine '{}' is shipped with exa and is not removed", name));
  table.engines.erase(table.engines.begin() + (engine - table.engines.data()));
  return table;
}

bool runs_on(const Engine& engine, Family family) {
  return std::ranges::find(engine.backends, info(family).backend) != engine.backends.end();
}

std::string why_not_portable(const Engine& engine, Family family) {
  if (runs_on(engine, family)) return {};
  return fmt::format("engine '{}' cannot run on {} (needs backend {}; supports {})", engine.name,
                     info(family).name, info(family).backend, as_tuple(engine.backends));
}

Result<Portability> portable(const EngineTable& table, std::string_view engine,
                             std::string_view accelerator) {
  std::vector<Problem> problems;
  const Engine* found = find_engine(table, engine);
  if (found == nullptr) problems.push_back(unknown_engine(table, engine));
  const auto family = find_family(accelerator);
  if (!family || !info(*family).askable) {
    const std::vector<std::string> known = askable_family_names();
    problems.push_back({"/accelerator",
                        fmt::format("\"{}\" is not an accelerator; there are {}",
                                    printable(accelerator), join(known, ", ")),
                        did_you_mean(accelerator, known)});
  }
  if (!problems.empty()) return fail(invalid("portability question", std::move(problems)));
  Portability answer;
  answer.engine = found->name;
  answer.accelerator = *family;
  answer.needs = info(*family).backend;
  answer.supports = found->backends;
  answer.reason = why_not_portable(*found, *family);
  answer.portable = answer.reason.empty();
  return answer;
}

json::object to_json(const Engine& engine) {
  json::array accelerators;
  for (const FamilyInfo& row : families())
    if (row.askable && runs_on(engine, row.family)) accelerators.emplace_back(row.name);
  return {{"name", engine.name},
          {"backends", texts(engine.backends)},
          {"accelerators", std::move(accelerators)},
          {"shipped", engine.shipped}};
}

json::object to_json(const Portability& portability) {
  return {{"engine", portability.engine},
          {"accelerator", info(portability.accelerator).name},
          {"portable", portability.portable},
          {"needs", portability.needs},
          {"supports", texts(portability.supports)},
          {"reason",
           portability.reason.empty() ? json::value(nullptr) : json::value(portability.reason)}};
}

Result<Engine> engine_from_json(const json::object& stored) {
  Engine engine;
  engine.name = text_or(stored, "name", "");
  const json::value* backends = find(stored, "backends");
  if (backends == nullptr || !backends->is_array() || engine.name.empty())
    return fail(Code::store_damaged, "a stored engine has no name or no list of backends");
  for (const json::value& backend : backends->get_array()) {
    if (!backend.is_string())
      return fail(Code::store_damaged,
                  fmt::format("a backend of the stored engine {} is not a text", engine.name));
    engine.backends.emplace_back(backend.get_string());
  }
  const json::value* shipped = find(stored, "shipped");
  engine.shipped = shipped != nullptr && shipped->is_bool() && shipped->get_bool();
  return engine;
}

}  // namespace exa
