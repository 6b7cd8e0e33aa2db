// A Docker Compose service. NVIDIA's devices are reserved by number; AMD's and Gaudi's come through
// device files and a runtime, which have no number of devices.
#include <algorithm>

#include <fmt/format.h>

#include "base/quantity.h"
#include "base/text.h"
#include "launch/vocabulary_table.h"
#include "launch/vocabulary_text.h"

namespace exa::vocabulary {
namespace {

constexpr std::string_view kKfd = "/dev/kfd";
constexpr std::string_view kDri = "/dev/dri";
constexpr std::string_view kHabana = "habana";
constexpr std::string_view kHabanaDevices = "HABANA_VISIBLE_DEVICES";

// Docker's factors are 1024, with or without an "i"; a bare number counts bytes.
Result<int64_t> docker_memory(std::string_view text) {
  std::string unit_text = lower(trim(text));
  const size_t unit_at = std::min(unit_text.find_first_not_of("0123456789."), unit_text.size());
  const std::string amount = unit_text.substr(0, unit_at);
  std::string unit(trim(std::string_view(unit_text).substr(unit_at)));
  if (unit.size() > 1 && unit.back() == 'b') unit.pop_back();
  if (unit.size() > 1 && unit.back() == 'i') unit.pop_back();
  if (unit.empty() || unit == "b") {
    auto bytes = parse_count(amount, "memory");
    if (bytes) return bytes;
  } else if (unit == "k" || unit == "m" || unit == "g" || unit == "t") {
    return parse_bytes_with_unit(amount + unit + "i");
  }
  return fail(
      Code::invalid_input,
      fmt::format("\"{}\" is not an amount of memory such as 32g or 512m", printable(text)));
}

std::string docker_memory_words(int64_t bytes) {
  constexpr std::pair<int64_t, char> kUnits[] = {{kGiB, 'g'}, {kMiB, 'm'}, {kKiB, 'k'}};
  for (const auto& [unit, letter] : kUnits)
    if (bytes % unit == 0) return fmt::format("{}{}", bytes / unit, letter);
  return fmt::format("{}b", bytes);
}

// --- reading

class Reader {
 public:
  Reader(const Node& service, Reading& reading) : service_(service), reading_(reading) {}

  void read() {
    const Node resources = service_.at({"deploy", "resources"});
    read_share(resources["limits"]["cpus"], resources["reservations"]["cpus"], "cpu");
    read_share(resources["limits"]["memory"], resources["reservations"]["memory"], "memory_gb");
    for (const Node& device : resources["reservations"]["devices"].elements()) read_device(device);
    read_gpus();
    read_files();
    read_runtime();
    if (!asks_) reading_.say_no_devices();
  }

 private:
  // A limit holds; a reservation counts where there is no limit.
  void read_share(const Node& limit, const Node& reservation, std::string_view field) {
    const bool is_cpu = field == "cpu";
    const auto read = [&](const Node& node) {
      return read_amount(node, [&](std::string_view text) {
        return is_cpu ? parse_milli(text, "cpus") : docker_memory(text);
      });
    };
    const auto most = read(limit);
    const auto least = read(reservation);
    if (most && least && *most != *least)
      reservation.note("is another amount than the limit, which is what counts");
    if (!most && !least) return;
    Shape& shape = reading_.say(field, (most ? limit : reservation).where());
    (is_cpu ? shape.cpu_milli : shape.memory_bytes) = most ? *most : *least;
  }

  bool is_gpu(const Node& device) const {
    bool found = false;
    for (const Node& capability : device["capabilities"].elements())
      if (const auto text = capability.scalar()) found |= *text == "gpu";
    return found;
  }

  void read_device(const Node& device) {
    if (!is_gpu(device)) return;
    if (std::exchange(asks_, true))
      return device.problem("a second reservation of GPUs; a profile asks for one kind");
    const std::string driver = device["driver"].scalar().value_or("");
    if (driver == "nvidia")
      reading_.say("accelerator_family", device.where()).accelerator_family = Family::nvidia;
    else if (driver.empty())
      reading_.leave_open("accelerator_family", device.where(),
                          "no driver says whose the GPUs are");
    else
      reading_.leave_open("accelerator_family", device["driver"].where(),
                          "is no driver whose devices are known");
    const Node count = device["count"];
    const Node ids = device["device_ids"];
    if (count && count.value().is_number()) {
      if (const auto number = read_count(count))
        reading_.say("gpu_count", count.where()).gpu_count = *number;
    } else if (count || !ids) {
      count.take();
      reading_.leave_open("gpu_count", (count ? count : device).where(),
                          "all GPUs of the machine are asked for, which is no number");
    } else {
      reading_.say("gpu_count", ids.where()).gpu_count =
          static_cast<int64_t>(ids.elements().size());
      ids.note("which devices these are is no field of a profile");
    }
  }

  // The short form of newer releases.
  void read_gpus() {
    const Node gpus = service_["gpus"];
    if (!gpus) return;
    asks_ = true;
    gpus.problem("is not read", "write it as deploy.resources.reservations.devices");
  }

  void read_files() {
    for (const Node& file : service_["devices"].elements()) {
      if (!file || !file.value().is_string()) continue;
      const std::string path = file.value().get_string().c_str();
      const std::string_view device = std::string_view(path).substr(0, path.find(':'));
      if (device == kDri) file.take();
      if (device != kKfd) continue;
      file.take();
      asks_ = true;
      reading_.say("accelerator_family", file.where()).accelerator_family = Family::amd;
      reading_.leave_open("gpu_count", file.where(),
                          "all AMD GPUs of the machine are asked for, which is no number");
    }
  }

  // As a map, or as a list of KEY=VALUE.
  std::pair<Node, std::string> variable(std::string_view name) {
    const Node environment = service_["environment"];
    if (environment && environment.value().is_array()) {
      for (const Node& entry : environment.elements()) {
        const std::string text = entry ? exa::to_text(entry.value()) : "";
        const std::string start = fmt::format("\"{}=", name);
        if (!text.starts_with(start)) continue;
        entry.take();
        return {entry, text.substr(start.size(), text.size() - start.size() - 1)};
      }
      return {service_["runtime"], ""};
    }
    const Node value = environment[name];
    return {value ? value : service_["runtime"], value.scalar().value_or("")};
  }

  void read_runtime() {
    const Node runtime = service_["runtime"];
    if (!runtime || !runtime.value().is_string()) return;
    const std::string_view name = runtime.value().get_string();
    if (name == "nvidia" && !asks_) {
      asks_ = true;
      reading_.say("accelerator_family", runtime.where()).accelerator_family = Family::nvidia;
      runtime.take();
      return reading_.leave_open(
          "gpu_count", runtime.where(),
          "which GPUs it shows is no number: deploy.resources reserves them");
    }
    if (name != kHabana) return;
    asks_ = true;
    runtime.take();
    reading_.say("accelerator_family", runtime.where()).accelerator_family = Family::intel_gaudi;
    const auto [node, devices] = variable(kHabanaDevices);
    const auto ids = split(devices, ',');
    const bool are_numbers = std::ranges::all_of(
        ids, [](std::string_view id) { return parse_count(trim(id), "device").has_value(); });
    if (are_numbers) {
      reading_.say("gpu_count", node.where()).gpu_count = static_cast<int64_t>(ids.size());
      reading_.note(node.where(), "which devices these are is no field of a profile");
    } else {
      reading_.leave_open("gpu_count", node.where(),
                          "all Gaudis of the machine are asked for, which is no number");
    }
  }

  const Node& service_;
  Reading& reading_;
  bool asks_ = false;
};

bool asks(const json::value& service) {
  const json::value* deploy = find(service, "deploy");
  const json::value* runtime = find(service, "runtime");
  return (deploy != nullptr && find(*deploy, "resources") != nullptr) || runtime != nullptr ||
         find(service, "gpus") != nullptr;
}

// --- writing

bool is_gpu_reservation(const json::value& device) {
  const json::value* capabilities = find(device, "capabilities");
  return capabilities != nullptr && capabilities->is_array() &&
         std::ranges::any_of(capabilities->get_array(), [](const json::value& capability) {
           return capability == json::value("gpu");
         });
}

bool is_device_file(const json::value& device, std::string_view path) {
  if (!device.is_string()) return false;
  const std::string_view text = device.get_string();
  return text.substr(0, text.find(':')) == path;
}

template <typename Predicate>
void drop_elements(json::object& object, std::string_view key, Predicate goes) {
  json::value* list = object.if_contains(key);
  if (list == nullptr || !list->is_array()) return;
  json::array& array = list->get_array();
  array.erase(std::remove_if(array.begin(), array.end(), goes), array.end());
  if (array.empty()) drop(object, key);
}

void drop_devices(json::value& root) {
  json::object& service = as_object(root);
  object_at(root, {"deploy", "resources", "reservations"});
  json::object& reservations = object_at(root, {"deploy", "resources", "reservations"});
  drop_elements(reservations, "devices", is_gpu_reservation);
  if (reservations.empty()) drop_at(root, {"deploy", "resources", "reservations"});
  drop_elements(service, "devices", [](const json::value& device) {
    return is_device_file(device, kKfd) || is_device_file(device, kDri);
  });
  const std::string_view runtime = text_or(service, "runtime", "");
  if (runtime == kHabana || runtime == "nvidia") drop(service, "runtime");
  const json::value* environment = find(service, "environment");
  if (environment != nullptr && environment->is_object())
    drop_at(root, {"environment", kHabanaDevices});
  const std::string entry = fmt::format("{}=", kHabanaDevices);
  drop_elements(service, "environment", [&](const json::value& value) {
    return value.is_string() && std::string_view(value.get_string()).starts_with(entry);
  });
}

void write_gaudi(json::value& root) {
  json::object& service = as_object(root);
  put_text(service, "runtime", kHabana);
  const json::value* environment = find(service, "environment");
  if (environment != nullptr && environment->is_array())
    array_at(root, {"environment"}).push_back(json::value(fmt::format("{}=all", kHabanaDevices)));
  else
    put_text(object_at(root, {"environment"}), kHabanaDevices, "all");
}

void write_devices(const Shape& shape, json::value& root) {
  drop_devices(root);
  if (shape.gpu_count == 0) return;
  if (shape.accelerator_family == Family::nvidia) {
    json::array capabilities;
    capabilities.push_back("gpu");
    array_at(root, {"deploy", "resources", "reservations", "devices"})
        .push_back({{"driver", "nvidia"},
                    {"count", shape.gpu_count},
                    {"capabilities", std::move(capabilities)}});
  } else if (shape.accelerator_family == Family::amd) {
    json::array& devices = array_at(root, {"devices"});
    for (const std::string_view file : {kKfd, kDri}) devices.push_back(json::value(file));
  } else if (shape.accelerator_family == Family::intel_gaudi) {
    write_gaudi(root);
  }
}

void note_devices(const Writing& writing) {
  const Shape& shape = writing.shape;
  note_without_words(
      writing, {{"accelerator_model_hint", "a service takes the devices that its machine has"},
                {"mig_profile",
                 "MIG instances are named by their UUIDs: whole devices are asked "
                 "for"},
                {"gpu_fraction", "whole devices are asked for"}});
  if (shape.accelerator_family == Family::cpu) return;
  if (shape.gpu_count == 0)
    return writing.note("accelerator_family", "no device is asked for, so nothing says whose");
  if (shape.accelerator_family == Family::tpu) {
    writing.note("accelerator_family", "there is no word for TPUs");
    writing.note("gpu_count", "there is no word for TPUs");
  } else if (shape.accelerator_family != Family::nvidia) {
    writing.note("gpu_count", fmt::format("all {} devices of the machine are asked for",
                                          info(shape.accelerator_family).vendor));
  }
}

json::value& service_of(const Writing& writing, Source& target) {
  if (target.documents.empty()) new_document(target);
  json::object& services = object_at(target.documents.front().value, {"services"});
  if (services.size() == 1) return services.begin()->value();
  for (auto& member : services)
    if (asks(member.value())) return member.value();
  return services.empty() ? services[writing.name] : services.begin()->value();
}

}  // namespace

bool recognises_compose(const Source& source) {
  return source.documents.size() == 1 && find(source.documents[0].value, "services") != nullptr;
}

void read_compose(const Source& source, Reading& reading) {
  if (source.documents.size() != 1)
    return reading.problem(source.file, "a Compose file is one document");
  const Node root = Node::root(reading, source, 0);
  const auto services = root["services"].members();
  std::vector<Node> asking;
  for (const auto& [name, service] : services)
    if (services.size() == 1 || (service && asks(service.value()))) asking.push_back(service);
  if (asking.empty()) {
    reading.problem(root["services"].where(), "no service asks for resources");
  } else if (asking.size() > 1) {
    asking[1].problem(fmt::format("asks for resources as {} does; a profile is of one service",
                                  asking[0].where()));
  } else {
    Reader(asking.front(), reading).read();
  }
}

void write_compose(const Writing& writing, Source& target) {
  const Shape& shape = writing.shape;
  note_without_words(
      writing,
      {{"nodes", "a service runs on one machine"}, kNoDriver, kNoRuntime, kNoUse, kNoDescription});
  note_devices(writing);
  json::value& service = service_of(writing, target);
  const auto write_limit = [&](std::string_view key, const std::string& amount) {
    drop_at(service, {"deploy", "resources", "reservations", key});
    put_text_at(service, {"deploy", "resources", "limits", key}, amount);
  };
  if (writing.parts.cpu)
    write_limit("cpus", shape.cpu_milli == 0 ? "" : format_milli(shape.cpu_milli));
  if (writing.parts.memory)
    write_limit("memory", shape.memory_bytes == 0 ? "" : docker_memory_words(shape.memory_bytes));
  if (writing.parts.devices) write_devices(shape, service);
  as_object(service);  // also where nothing is asked for
}

}  // namespace exa::vocabulary
