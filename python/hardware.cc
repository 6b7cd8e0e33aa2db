// The Python module exa.hardware: the document's snippets run as written apart from the package
// name. A thin skin: arguments become the JSON object that the command line and the API send, so
// all three are read and refused by the same code.
#include <string>

#include <fmt/format.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "base/text.h"
#include <exa/hardware.h>

namespace py = pybind11;

namespace exa {
namespace {

// --- errors: ValueError for input, KeyError for names that are not there; all problems in the text

std::string text_of(const Error& error) {
  std::string text = error.message;
  for (const Problem& problem : error.problems) {
    text += fmt::format("\n  {}: {}", problem.where.empty() ? "-" : problem.where.substr(1),
                        problem.message);
    if (!problem.suggestion.empty()) text += fmt::format(" ({})", problem.suggestion);
  }
  if (!error.alternatives.empty())
    text += fmt::format("\n  did you mean {}?", join(error.alternatives, " or "));
  return text;
}

[[noreturn]] void raise(const Error& error) {
  if (error.code == Code::not_found) throw py::key_error(text_of(error));
  throw py::value_error(text_of(error));
}

template <typename T>
T value_or_raise(Result<T> result) {
  if (!result) raise(result.error());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

// --- values to and from Python

json::value to_json_value(const py::handle& value) {
  if (value.is_none()) return nullptr;
  if (py::isinstance<py::bool_>(value)) return value.cast<bool>();
  if (py::isinstance<py::str>(value)) return json::string(value.cast<std::string>());
  if (py::isinstance<py::list>(value) || py::isinstance<py::tuple>(value) ||
      py::isinstance<py::set>(value)) {
    json::array list;
    for (const py::handle element : value) list.push_back(to_json_value(element));
    return list;
  }
  // numbers of every kind (int, float, Decimal) as the decimal that Python prints: nothing is
  // rounded on the way, and nan, inf and exponents are refused where amounts are read
  if (py::hasattr(value, "__float__")) return json::string(py::str(value).cast<std::string>());
  throw py::type_error(
      fmt::format("cannot take a {}",
                  py::str(py::type::handle_of(value).attr("__name__")).cast<std::string>()));
}

json::object to_json_object(const py::dict& given) {
  json::object out;
  for (const auto& [key, value] : given) out.emplace(key.cast<std::string>(), to_json_value(value));
  return out;
}

py::object to_python(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      return py::none();
    case json::kind::bool_:
      return py::bool_(value.get_bool());
    case json::kind::int64:
      return py::int_(value.get_int64());
    case json::kind::uint64:
      return py::int_(value.get_uint64());
    case json::kind::double_:
      return py::float_(value.get_double());
    case json::kind::string:
      return py::str(std::string(value.get_string()));
    case json::kind::array: {
      py::list list;
      for (const json::value& element : value.get_array()) list.append(to_python(element));
      return list;
    }
    case json::kind::object: {
      py::dict out;
      for (const auto& member : value.get_object())
        out[py::str(std::string(member.key()))] = to_python(member.value());
      return out;
    }
  }
  return py::none();
}

py::object float_or_none(const std::optional<int64_t>& micros) {
  if (!micros) return py::none();
  // through the decimal text: the nearest double to what is meant
  return py::float_(py::str(format_micros(*micros)));
}

py::object text_or_none(const std::string& text) {
  if (text.empty()) return py::none();
  return py::str(text);
}

double fraction(int64_t milli) {
  return static_cast<double>(milli) / 1000.0;
}

// --- the module's own pools: what add_pool fills and place reads when none are passed

PoolRegistry& registry() {
  static PoolRegistry pools;  // Python's global lock guards it
  return pools;
}

Workload make_workload(const std::string& name, const py::kwargs& given) {
  json::object input = to_json_object(given);
  input.insert_or_assign("name", name);
  return value_or_raise(read_workload(input, registry().rules().engines));
}

PlaceAsk ask_of(const Workload& workload, const std::string& project, const std::string& dataset) {
  PlaceAsk ask;
  ask.workload = workload;
  ask.project_residency = project;
  ask.dataset_residency = dataset;
  return ask;
}

Decision decide(const PlaceAsk& ask, const py::object& pools) {
  if (pools.is_none()) return value_or_raise(registry().decide(ask));
  std::vector<Pool> list;
  for (const py::handle pool : pools) list.push_back(pool.cast<Pool>());
  std::ranges::sort(list, {}, &Pool::name);
  if (const auto twice = std::ranges::adjacent_find(list, {}, &Pool::name); twice != list.end())
    throw py::value_error(fmt::format("two pools are named {}", twice->name));
  return value_or_raise(place(ask, build_pools(std::move(list), registry().rules()), Time{}));
}

py::dict accounting_of(const Placement& placement, const py::object& given, bool details) {
  const auto time = parse_hours(py::str(given).cast<std::string>());
  if (!time || py::isinstance<py::bool_>(given))
    throw py::value_error(time ? "hours must be a number" : time.error().message);
  const DeviceAccounting a = value_or_raise(device_accounting(placement, *time));
  py::dict out;
  out["device"] = std::string(info(a.device).name);
  out["region"] = text_or_none(a.region);
  out["hours"] = given;
  out["cost"] = float_or_none(a.cost ? std::optional(a.cost->micros) : std::nullopt);
  out["carbon_g"] = float_or_none(a.carbon_micrograms);
  if (!details) return out;
  out["currency"] = a.cost ? py::object(py::str(a.cost->currency)) : py::none();
  out["price_set"] = a.price_set;
  out["carbon_estimate"] = a.carbon_estimate;
  return out;
}

// --- classes

void define_workload(py::module_& m) {
  py::class_<Workload>(m, "Workload", R"(What a workload asks for, in neutral terms.

Workload(name, accelerator="nvidia", capabilities=[], target=None, engine="generic", fraction=1.0,
         gpus=1, nodes=1, cpu=0, memory_gb=0, gpu_memory=None, model=None, residency=None,
         fallback=True, hardware_profile=None)

accelerator   nvidia | amd | intel-gaudi | tpu | cpu
capabilities  tags that the pool must advertise, e.g. ["fp8"]
target        hpc | cloud | None (any)
engine        one of engines(); declares which backends it supports
fraction      of each device, more than 0 and at most 1, at most three decimals
gpus, nodes   devices on each node, number of nodes
cpu           cores on each node; 0.5 is half a core
memory_gb     GiB on each node
gpu_memory    on each device, with a unit: "80GB", "80GiB"
model         hint such as "A100-80GB"; a pool known to have another is refused
residency     open | eu-only | no-egress | restricted; an unknown class counts as restricted
fallback      whether another accelerator that the engine supports will do

Raises ValueError with every problem at once. Immutable. Source: requirement E8, "Neutral device
requirements".)")
      .def(py::init([](const std::string& name, const py::kwargs& given) {
             return make_workload(name, given);
           }),
           py::arg("name"))
      .def_readonly("name", &Workload::name)
      .def_property_readonly(
          "accelerator", [](const Workload& w) { return std::string(info(w.accelerator).name); })
      .def_readonly("capabilities", &Workload::capabilities)
      .def_property_readonly("target",
                             [](const Workload& w) {
                               return w.target == Target::any
                                          ? py::object(py::none())
                                          : py::str(std::string(name(w.target)));
                             })
      .def_readonly("engine", &Workload::engine)
      .def_property_readonly("fraction",
                             [](const Workload& w) { return fraction(w.fraction_milli); })
      .def_readonly("gpus", &Workload::gpus)
      .def_readonly("nodes", &Workload::nodes)
      .def_property_readonly("model", [](const Workload& w) { return text_or_none(w.model); })
      .def_property_readonly("residency",
                             [](const Workload& w) { return text_or_none(w.residency); })
      .def_readonly("fallback", &Workload::allow_fallback)
      .def("to_dict", [](const Workload& w) { return to_python(to_json(w)); })
      .def("__eq__", [](const Workload& a, const Workload& b) { return a == b; })
      .def("__repr__",
           [](const Workload& w) { return fmt::format("Workload({}: {})", w.name, describe(w)); });
}

void define_pool(py::module_& m) {
  py::class_<Pool>(m, "Pool",
                   "A device pool as registered with add_pool. Read-only; to_dict() has "
                   "every field.")
      .def_readonly("name", &Pool::name)
      .def_property_readonly("target", [](const Pool& p) { return std::string(name(p.target)); })
      .def_property_readonly("accelerator",
                             [](const Pool& p) { return std::string(info(p.accelerator).name); })
      .def_readonly("count", &Pool::count)
      .def_property_readonly("region", [](const Pool& p) { return text_or_none(p.region); })
      .def_property_readonly(
          "cost_per_hour",
          [](const Pool& p) {
            return float_or_none(p.price ? std::optional(p.price->micros) : std::nullopt);
          },
          "Per device and hour; None: no price set.")
      .def_property_readonly(
          "carbon_factor", [](const Pool& p) { return float_or_none(p.carbon_micrograms); },
          "Grams of CO2-equivalent per device and hour; None: not given.")
      .def_readonly("drained", &Pool::drained)
      .def("to_dict", [](const Pool& p) { return to_python(to_json(p)); })
      .def("__repr__", [](const Pool& p) {
        return fmt::format("Pool({}: {} × {} on {})", p.name, p.count, info(p.accelerator).name,
                           name(p.target));
      });
}

void define_placement(py::module_& m) {
  py::class_<Placement>(m, "Placement", R"(Where a workload should run. True in a condition.

workload, pool, accelerator, target, region (None: not told)
cost_per_hour     per device; None: unknown; 0.0 with price_set False: on premises, no price set
carbon_factor     grams of CO2-equivalent per device and hour; None: unknown
fallback          another accelerator than asked; note says which
fraction_honored  False: a fraction was asked and whole devices are taken
held_fraction     of each device that is taken, at least what was asked
unconfirmed       names of what could not be seen; remarks: sentences for people

str() is the line that the command prints. Advice: nothing is reserved. Source: requirement E8.)")
      .def_readonly("workload", &Placement::workload)
      .def_readonly("pool", &Placement::pool)
      .def_property_readonly(
          "accelerator", [](const Placement& p) { return std::string(info(p.accelerator).name); })
      .def_property_readonly("model", [](const Placement& p) { return text_or_none(p.model); })
      .def_property_readonly("target",
                             [](const Placement& p) { return std::string(name(p.target)); })
      .def_property_readonly("region", [](const Placement& p) { return text_or_none(p.region); })
      .def_readonly("engine", &Placement::engine)
      .def_readonly("gpus", &Placement::gpus)
      .def_readonly("nodes", &Placement::nodes)
      .def_property_readonly("devices", &Placement::devices)
      .def_property_readonly("fraction",
                             [](const Placement& p) { return fraction(p.fraction_milli); })
      .def_property_readonly("held_fraction",
                             [](const Placement& p) { return fraction(p.held_milli); })
      .def_readonly("fraction_honored", &Placement::fraction_honored)
      .def_readonly("held_as", &Placement::held_as)
      .def_readonly("fallback", &Placement::fallback)
      .def_property_readonly("note", [](const Placement& p) { return text_or_none(p.note); })
      .def_property_readonly("cost_per_hour",
                             [](const Placement& p) {
                               return float_or_none(p.cost_per_hour
                                                        ? std::optional(p.cost_per_hour->micros)
                                                        : std::nullopt);
                             })
      .def_readonly("price_set", &Placement::price_set)
      .def_property_readonly(
          "carbon_factor",
          [](const Placement& p) {
            return float_or_none(p.carbon ? std::optional(p.carbon->micrograms_per_hour)
                                          : std::nullopt);
          })
      .def_readonly("declared", &Placement::declared)
      .def_readonly("unconfirmed", &Placement::unconfirmed)
      .def_readonly("remarks", &Placement::remarks)
      .def("to_dict", [](const Placement& p) { return to_python(to_json(p)); })
      .def("__bool__", [](const Placement&) { return true; })
      .def("__str__", [](const Placement& p) { return to_text(p); })
      .def("__repr__", [](const Placement& p) {
        return fmt::format("Placement({} → {})", p.workload, p.pool);
      });
}

void define_rejection(py::module_& m) {
  py::class_<Rejection>(m, "Rejection", R"(Why a workload cannot be placed. False in a condition.

reason       one sentence
kind         no-pool | not-portable | busy | not-seen | blocked | impossible
near_misses  list of dicts, the smallest change first: pool, changes (texts), instead (the changed
             ask), only_the_ask (True: asked again like that, the pool takes it)

str() is the line that the command prints. Source: requirement E8.)")
      .def_readonly("workload", &Rejection::workload)
      .def_readonly("reason", &Rejection::reason)
      .def_property_readonly("kind", [](const Rejection& r) { return std::string(name(r.kind)); })
      .def_property_readonly("near_misses",
                             [](const Rejection& r) {
                               py::list misses;
                               for (const NearMiss& miss : r.near_misses)
                                 misses.append(to_python(to_json(miss)));
                               return misses;
                             })
      .def("to_dict", [](const Rejection& r) { return to_python(to_json(r)); })
      .def("__bool__", [](const Rejection&) { return false; })
      .def("__str__", [](const Rejection& r) { return to_text(r); })
      .def("__repr__", [](const Rejection& r) { return fmt::format("Rejection({})", r.reason); });
}

void define_portability(py::module_& m) {
  py::class_<Portability>(m, "Portability",
                          "Whether an engine runs on an accelerator; true in a "
                          "condition exactly when it does.")
      .def_readonly("engine", &Portability::engine)
      .def_property_readonly(
          "accelerator", [](const Portability& p) { return std::string(info(p.accelerator).name); })
      .def_readonly("portable", &Portability::portable)
      .def_readonly("needs", &Portability::needs)
      .def_property_readonly("supports",
                             [](const Portability& p) { return py::tuple(py::cast(p.supports)); })
      .def_property_readonly("reason", [](const Portability& p) { return text_or_none(p.reason); })
      .def("__bool__", [](const Portability& p) { return p.portable; })
      .def("__repr__", [](const Portability& p) {
        return p.portable
                   ? fmt::format("Portability({} runs on {})", p.engine, info(p.accelerator).name)
                   : fmt::format("Portability({})", p.reason);
      });
}

// --- functions

void define_registry(py::module_& m) {
  m.def(
      "add_pool",
      [](const std::string& name, const py::kwargs& given) {
        json::object input = to_json_object(given);
        input.insert_or_assign("name", name);
        return Pool(*value_or_raise(registry().add(input)));
      },
      py::arg("name"),
      R"(Register a pool of this process, or change the fields given of one that is there.

add_pool(name, *, target="hpc", accelerator, count=1, region=None, cost_per_hour=None,
         carbon_factor=None, supports_fractions=False, capabilities=[], model=None, ...)

cost_per_hour is per device, currency "USD" unless given; carbon_factor is g CO2e per device-hour,
else watts, pue and grid_intensity (g/kWh) give an estimate. Returns the Pool; raises ValueError
with every problem at once.)");
  m.def(
      "pools", [] { return registry().pools(); },
      "The registered pools as a list of Pool, cheapest first.");
  m.def(
      "remove_pool", [](const std::string& name) { value_or_raise(registry().remove(name)); },
      py::arg("name"), "Forget a pool. Raises KeyError when there is none of that name.");
  m.def(
      "drain_pool",
      [](const std::string& name, const std::string& reason) {
        value_or_raise(registry().drain(name, reason));
      },
      py::arg("name"), py::arg("reason") = "",
      "Keep a pool and place nothing on it. Raises KeyError when there is none of that name.");
  m.def(
      "resume_pool", [](const std::string& name) { value_or_raise(registry().resume(name)); },
      py::arg("name"), "End a drain. Raises KeyError when there is no pool of that name.");
  m.def(
      "clear_pools", [] { registry().clear(); }, "Forget all pools of this process.");
  m.def(
      "add_engine",
      [](const std::string& name, const std::vector<std::string>& backends) {
        value_or_raise(registry().add_engine({name, backends, false}));
      },
      py::arg("name"), py::arg("backends"),
      "Add an engine with its backends (cuda, rocm, ipex, xla, cpu). Raises ValueError.");
  m.def(
      "engines",
      [] {
        py::dict out;
        for (const Engine& engine : registry().rules().engines.engines)
          out[py::str(engine.name)] = py::tuple(py::cast(engine.backends));
        return out;
      },
      "Engines and their backends: dict of name to tuple.");
}

void define_decisions(py::module_& m) {
  m.def(
      "place",
      [](const Workload& workload, const py::object& pools, const std::string& project,
         const std::string& dataset) {
        return answer_of(decide(ask_of(workload, project, dataset), pools));
      },
      py::arg("workload"), py::arg("pools") = py::none(), py::arg("project_residency") = "",
      py::arg("dataset_residency") = "", R"(Where a workload should run: Placement or Rejection.

pools: an iterable of Pool; None: those registered with add_pool. The order of pools plays no part:
requested accelerator before fallback, other devices before cpu, price known before unknown, price
for this ask, fewest stranded devices, name. Residency (the strictest of project, dataset and
workload) filters before anything is chosen. Source: requirement E8; semantics section 5.)");
  m.def(
      "burst",
      [](const Workload& workload, bool allow_burst, const py::object& pools,
         const std::string& project, const std::string& dataset) {
        PlaceAsk ask = ask_of(workload, project, dataset);
        ask.burst = true;
        ask.opted_in = allow_burst;
        return answer_of(decide(ask, pools));
      },
      py::arg("workload"), py::arg("allow_burst") = false, py::arg("pools") = py::none(),
      py::arg("project_residency") = "", py::arg("dataset_residency") = "",
      "Place in the cloud only, which is opt-in: Placement or Rejection (kind \"blocked\" when "
      "residency or policy forbids it). Records nothing: events are kept by the exa service.");
  m.def(
      "decide",
      [](const Workload& workload, const py::object& pools, const std::string& project,
         const std::string& dataset) {
        return to_python(to_json(decide(ask_of(workload, project, dataset), pools)));
      },
      py::arg("workload"), py::arg("pools") = py::none(), py::arg("project_residency") = "",
      py::arg("dataset_residency") = "",
      "The whole decision as a dict: every pool with its outcome, every reason, price and carbon.");
  m.def(
      "portable",
      [](const std::string& engine, const std::string& accelerator) {
        return value_or_raise(portable(registry().rules().engines, engine, accelerator));
      },
      py::arg("engine"), py::arg("accelerator"),
      "Whether an engine runs on an accelerator: Portability, true when it does. Raises ValueError "
      "with a did-you-mean for unknown names.");
  m.def("device_accounting", &accounting_of, py::arg("placement"), py::arg("hours"),
        py::arg("details") = false,
        R"(What a placement costs over some hours, as the document has it.

Returns {"device", "region", "hours", "cost", "carbon_g"}: cost in the pool's currency = price ×
devices × hours × fraction held; carbon_g in grams of CO2-equivalent = factor × devices × hours.
Unknown is None, never 0. details=True adds currency, price_set (False: on premises without a
price, counted as 0) and carbon_estimate (True: from device power). hours: a number, 0 or more, at
most six decimals. Raises ValueError. Source: requirement E8, "Per-device accounting".)");
}

}  // namespace
}  // namespace exa

PYBIND11_MODULE(hardware, m) {
  m.doc() = R"(Heterogeneous placement: where a workload should run, why, and what it costs.

    from exa.hardware import Workload, add_pool, place, device_accounting

    add_pool("hpc-mi300", target="hpc", accelerator="amd", count=4, region="eu")
    placement = place(Workload("train-llm", accelerator="amd", target="hpc", engine="vllm"))
    print(placement)          # ✓ train-llm → pool hpc-mi300 · amd on hpc

Pure: no network, no disk, no clock; pools live in this process.)";
  exa::define_workload(m);
  exa::define_pool(m);
  exa::define_placement(m);
  exa::define_rejection(m);
  exa::define_portability(m);
  exa::define_registry(m);
  exa::define_decisions(m);
}
