// What several targets refuse in a launch, each in its own name; problems are appended. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "launch/launch_spec.h"

namespace exa {

// Options of other schedulers: `known` are the members of SchedulerOptions that the target has a
// word for ("name_space", "time_limit").
void refuse_options(const LaunchSpec& spec, std::string_view target,
                    std::initializer_list<std::string_view> known, std::vector<Problem>& problems);

// Files that hold text and no other bytes: everything that a person wrote must be UTF-8.
void refuse_other_than_text(const LaunchSpec& spec, std::string_view file,
                            std::vector<Problem>& problems);

// An image reference, an absolute folder and mount, a volume of some size; what a container needs.
void refuse_without_container(const LaunchSpec& spec, std::string_view target,
                              std::vector<Problem>& problems);

// What only one kind of target knows: KServe's replicas are of Kubernetes; files lie in a folder.
void refuse_kserve(const LaunchSpec& spec, std::string_view target, std::vector<Problem>& problems);
void refuse_files(const LaunchSpec& spec, std::string_view target, std::vector<Problem>& problems);

// The value of a Kubernetes label, which may be empty.
bool is_label_value(std::string_view text);

}  // namespace exa
