#include "launch/refusals.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace exa {
namespace {

struct OptionRow {
  std::string_view name;
  std::string_view whose;
  bool (*given)(const SchedulerOptions&);
};
constexpr OptionRow kOptions[] = {
    {"partition", "a partition is of Slurm, a queue of Flux",
     [](const SchedulerOptions& o) { return !o.partition.empty(); }},
    {"account", "an account is of Slurm, a bank of Flux",
     [](const SchedulerOptions& o) { return !o.account.empty(); }},
    {"qos", "a quality of service is of Slurm",
     [](const SchedulerOptions& o) { return !o.qos.empty(); }},
    {"name_space", "a namespace is of Kubernetes",
     [](const SchedulerOptions& o) { return !o.name_space.empty(); }},
    {"time_limit", "it would end when its program does",
     [](const SchedulerOptions& o) { return o.time_limit.micros > 0; }},
};

bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// host:port/path/name:tag@sha256:…; no program that reads one takes a blank or a leading '-'.
bool is_image(std::string_view text) {
  return !text.empty() && text.size() <= 512 && is_alphanumeric(text.front()) &&
         std::ranges::all_of(text, [](char c) {
           return is_alphanumeric(c) ||
                  std::string_view("._-/:@+").find(c) != std::string_view::npos;
         });
}

// Volumes are written SOURCE:TARGET, so no path in one may hold a ':'.
void refuse_path(std::string_view path, std::string_view where, std::vector<Problem>& problems) {
  const bool control = printable(path) != path;
  if (!path.starts_with('/') || control || path.find(':') != std::string_view::npos) {
    problems.push_back({std::string(where),
                        fmt::format("\"{}\" is no absolute path without ':' and control characters",
                                    printable(path)),
                        ""});
  }
}

}  // namespace

void refuse_options(const LaunchSpec& spec, std::string_view target,
                    std::initializer_list<std::string_view> known, std::vector<Problem>& problems) {
  for (const OptionRow& row : kOptions) {
    if (!row.given(spec.options) || std::ranges::find(known, row.name) != known.end()) continue;
    problems.push_back({fmt::format("/options/{}", row.name),
                        fmt::format("{} has no word for it: {}", target, row.whose),
                        "leave it out"});
  }
}

void refuse_other_than_text(const LaunchSpec& spec, std::string_view file,
                            std::vector<Problem>& problems) {
  const auto look = [&](std::string_view text, const std::string& where) {
    if (is_valid_utf8(text)) return;
    problems.push_back({where, fmt::format("holds bytes that are no UTF-8, which {} cannot", file),
                        "pass a file's name instead"});
  };
  for (size_t i = 0; i < spec.command.size(); ++i)
    for (const auto& part : spec.command[i].parts)
      if (const auto* literal = std::get_if<std::string>(&part))
        look(*literal, fmt::format("/argv/{}", i));
  for (const auto& [key, value] : spec.environment)
    look(value, fmt::format("/environment/{}", key));
  for (size_t i = 0; i < spec.files.size(); ++i)
    look(spec.files[i].text, fmt::format("/files/{}", i));
  look(spec.folder, "/folder");
  look(spec.volume.mount, "/volume/mount");
}

void refuse_without_container(const LaunchSpec& spec, std::string_view target,
                              std::vector<Problem>& problems) {
  if (spec.image.empty()) {
    problems.push_back({"/image", fmt::format("is missing: {} runs containers", target),
                        "name an image, such as docker.io/library/python:3.12"});
  } else if (!is_image(spec.image)) {
    problems.push_back({"/image", fmt::format("\"{}\" is no image", printable(spec.image)), ""});
  }
  if (!spec.folder.empty()) refuse_path(spec.folder, "/folder", problems);
  if (spec.volume.bytes > 0) refuse_path(spec.volume.mount, "/volume/mount", problems);
}

void refuse_kserve(const LaunchSpec& spec, std::string_view target,
                   std::vector<Problem>& problems) {
  if (!spec.kserve) return;
  problems.push_back({"/kserve", fmt::format("{} has no InferenceServices", target),
                      "run it on Kubernetes, where KServe is installed"});
}

void refuse_files(const LaunchSpec& spec, std::string_view target, std::vector<Problem>& problems) {
  if (spec.files.empty()) return;
  problems.push_back({"/files", fmt::format("{} gives a program no files beside its image", target),
                      "build them into the image"});
}

}  // namespace exa
