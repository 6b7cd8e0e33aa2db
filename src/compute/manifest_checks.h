// What can be wrong with the value of a field, beyond its type: the functions that the rows of
// fields_of name. Each has the form of ManifestField::check. Pure.
#pragma once

#include "compute/palette_manifest.h"

namespace exa {

void add_problem(Findings& findings, std::string_view where, std::string message,
                 std::string suggestion = {});
// In quotes, as a terminal may see it, and not longer than a line.
std::string in_quotes(std::string_view text);

void check_manifest_name(const json::value& value, std::string_view where, Findings& findings);
void check_dns_label(const json::value& value, std::string_view where, Findings& findings);
void check_manifest_names(const json::value& value, std::string_view where, Findings& findings);
void check_labels(const json::value& value, std::string_view where, Findings& findings);
void check_annotations(const json::value& value, std::string_view where, Findings& findings);
void check_min_nodes_label(const json::value& value, std::string_view where, Findings& findings);

void check_ssh_keys(const json::value& value, std::string_view where, Findings& findings);
void check_vip(const json::value& value, std::string_view where, Findings& findings);
void check_ntp_servers(const json::value& value, std::string_view where, Findings& findings);
void check_overlay_cidr(const json::value& value, std::string_view where, Findings& findings);
void check_overlay_type(const json::value& value, std::string_view where, Findings& findings);

void check_node_count(const json::value& value, std::string_view where, Findings& findings);
void check_count(const json::value& value, std::string_view where, Findings& findings);
void check_taint_key(const json::value& value, std::string_view where, Findings& findings);
void check_taint_value(const json::value& value, std::string_view where, Findings& findings);
void check_taint_effect(const json::value& value, std::string_view where, Findings& findings);
void check_taints(const json::value& value, std::string_view where, Findings& findings);
// Of a compute profile's spec: what its fields say together.
void check_profile(const json::value& value, std::string_view where, Findings& findings);

void check_gpu_limits(const json::value& value, std::string_view where, Findings& findings);
void check_gpu_request(const json::value& value, std::string_view where, Findings& findings);
void check_gpu_memory(const json::value& value, std::string_view where, Findings& findings);
void check_allocation_mode(const json::value& value, std::string_view where, Findings& findings);
void check_architecture(const json::value& value, std::string_view where, Findings& findings);
void check_resource_groups(const json::value& value, std::string_view where, Findings& findings);

}  // namespace exa
