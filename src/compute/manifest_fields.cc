// The one table of what is known of each kind.
#include "compute/manifest_checks.h"

namespace exa {
namespace {

using Fields = std::vector<ManifestField>;
using enum FieldType;

// The rows `below` as fields of `base`.
void append(Fields& fields, std::string_view base, const Fields& below) {
  for (ManifestField field : below) {
    field.path = fmt::format("{}.{}", base, field.path);
    fields.push_back(std::move(field));
  }
}

Fields head(PaletteKind kind) {
  const bool is_project = kind == PaletteKind::project;
  return {
      {"apiVersion", text, true, fmt::format("{}", info(kind).api_version)},
      {"kind", text, true, fmt::format("{}", info(kind).name)},
      {"metadata", object, true, "Who it is"},
      {"metadata.name", text, true,
       is_project ? "The name of the project, which is the namespace of what belongs to it"
                  : "The name, unique among its kind in the namespace",
       is_project ? check_dns_label : check_manifest_name},
      {"metadata.namespace", text, false,
       is_project ? "Not used: the namespace of a project is its own name"
                  : "The project that it belongs to; where it is missing, the one of the caller",
       check_dns_label},
      {"metadata.labels", map_of_text, false, "Labels of the manifest itself", check_labels},
      {"metadata.annotations", map_of_text, false, "Annotations of the manifest itself",
       check_annotations},
  };
}

ManifestField status() {
  return {"status", anything, false,
          "What was seen last; it is told and never taken: in an input it is passed over"};
}

Fields settings_ref() {
  return {{"settingsRef", object, false,
           "The Settings to use; where it is missing, those of the project"},
          {"settingsRef.name", text, true, "The name of the Settings", check_manifest_name}};
}

// Labels, annotations and taints of the machines of one role.
Fields node_defaults() {
  return {
      {"labels", map_of_text, false, "Labels of each node, by the rules of Kubernetes",
       check_labels},
      {"annotations", map_of_text, false, "Annotations of each node", check_annotations},
      {"taints", list_of_objects, false,
       "Taints of each node: what is not tolerated does not run there", check_taints},
      {"taints[].key", text, true, "What the taint is called", check_taint_key},
      {"taints[].value", text, false, "What the taint says; may be missing", check_taint_value},
      {"taints[].effect", text, true, "NoSchedule, PreferNoSchedule or NoExecute",
       check_taint_effect},
  };
}

Fields edge() {
  return {
      {"vip", text, false, "The address, IPv4 or IPv6, that the control plane answers at",
       check_vip},
      {"ntpServers", list_of_text, false, "Host names or addresses of the time servers",
       check_ntp_servers},
      {"networkOverlayConfig", object, false, "The network laid over the one of the site"},
      {"networkOverlayConfig.enabled", boolean, false, "Whether there is an overlay network"},
      {"networkOverlayConfig.staticIp", boolean, false,
       "Whether nodes have fixed addresses instead of those of DHCP"},
      {"networkOverlayConfig.cidr", text, false,
       "The overlay's network, such as 192.168.1.0/24, without bits behind the prefix",
       check_overlay_cidr},
      {"networkOverlayConfig.overlayNetworkType", text, false, "VXLAN", check_overlay_type},
      {"isTwoNode", boolean, false,
       "Whether it is a two-node cluster: one control plane and its standby"},
  };
}

Fields profile_spec() {
  Fields fields = settings_ref();
  fields.push_back({"sshKeys", list_of_text, false,
                    "Public keys, a line of OpenSSH each, that open the nodes", check_ssh_keys});
  fields.push_back({"edge", object, false, "What is particular to edge clusters"});
  append(fields, "edge", edge());
  fields.push_back(
      {"controlPlaneDefaults", object, true, "How the nodes of the control plane are configured"});
  append(fields, "controlPlaneDefaults",
         {{"nodeCount", whole_number, false,
           "How many nodes the control plane has: 1, 3 or 5, so that it keeps its quorum; 1 where "
           "it is missing",
           check_node_count},
          {"workerNodeEligible", boolean, false,
           "Whether the one node of the control plane may work, too"}});
  append(fields, "controlPlaneDefaults", node_defaults());
  fields.push_back({"workerPoolDefaults", object, false, "How the workers are configured"});
  append(fields, "workerPoolDefaults", node_defaults());
  fields.push_back({"minWorkerNodes", whole_number, false,
                    "The least number of workers that a platform gets, whatever it asks for",
                    check_count});
  fields.push_back({"gpuLimits", map_of_whole_numbers, false,
                    "The most GPUs of each family that one platform may ask for; a family that is "
                    "not named has no limit, 0 is none",
                    check_gpu_limits});
  return fields;
}

Fields settings() {
  Fields fields = head(PaletteKind::settings);
  fields.push_back({"spec", object, false, "How the infrastructure is reached"});
  append(fields, "spec",
         {{"machineSources", list_of_text, false,
           "The sources that machines are taken from; where it is missing, every source",
           check_manifest_names},
          {"provisioner", text, false,
           "The driver that builds platforms; where it is missing, none", check_manifest_name}});
  return fields;
}

Fields compute_profile() {
  Fields fields = head(PaletteKind::compute_profile);
  fields.push_back(
      {"spec", object, true, "Defaults of the clusters that are built by it", check_profile});
  append(fields, "spec", profile_spec());
  return fields;
}

Fields workload_profile() {
  Fields fields = head(PaletteKind::workload_profile);
  fields.push_back({"metadata.labels[palette.ai/min-nodes]", text, false,
                    "The least number of workers, as text; it is asked before the override and the "
                    "compute profile",
                    check_min_nodes_label});
  fields.push_back({"spec", object, false, "What is to run; kept as it stands"});
  return fields;
}

Fields project() {
  Fields fields = head(PaletteKind::project);
  fields.push_back({"spec", object, true, "What the project uses"});
  append(fields, "spec",
         {{"computeProfileRef", object, true, "The compute profile of its platforms"},
          {"computeProfileRef.name", text, true, "A project must reference a compute profile",
           check_manifest_name},
          {"settingsRef", object, false, "The Settings of the project"},
          {"settingsRef.name", text, true, "The name of the Settings", check_manifest_name}});
  return fields;
}

Fields compute() {
  Fields fields = head(PaletteKind::compute);
  fields.push_back({"spec", object, false, "Which machines are watched"});
  append(fields, "spec", settings_ref());
  return fields;
}

// An override says only what differs, so nothing of it is required but what is whole in itself: an
// element of a list.
Fields override_fields() {
  Fields fields = profile_spec();
  for (ManifestField& field : fields)
    field.required = field.required && field.path.find("[]") != std::string::npos;
  return fields;
}

Fields ml_platform() {
  Fields fields = head(PaletteKind::ml_platform);
  fields.push_back({"spec", object, false, "What the platform asks for"});
  append(fields, "spec",
         {{"computeProfileRef", object, false, "The compute profile and what differs from it"},
          {"computeProfileRef.name", text, false,
           "The compute profile; where it is missing, the one of the project", check_manifest_name},
          {"computeProfileRef.override", object, false,
           "Fields of the compute profile's spec that are other for this platform"}});
  append(fields, "spec.computeProfileRef.override", override_fields());
  append(
      fields, "spec",
      {{"workloadProfileRef", object, false, "What is to run"},
       {"workloadProfileRef.name", text, true, "The name of the workload profile",
        check_manifest_name},
       {"gpus", map_of_whole_numbers, false, "How many GPUs of which family are asked for",
        check_gpu_request},
       {"gpuMemory", text, false, "The least memory of each GPU, with its unit: 80G, 81920MiB",
        check_gpu_memory},
       {"mode", text, false,
        "dedicated: its machines are this platform's alone, as where it is missing; shared: other "
        "platforms may have the rest of their GPUs",
        check_allocation_mode},
       {"architecture", text, false, "AMD64 or ARM64; where it is missing, any",
        check_architecture},
       {"controlPlaneResourceGroups", map_of_text, false,
        "Resource groups that a machine of the control plane must be in, all of them",
        check_resource_groups},
       {"workerResourceGroups", map_of_text, false,
        "Resource groups that a worker must be in, all of them", check_resource_groups}});
  return fields;
}

Fields with_status(Fields fields) {
  fields.push_back(status());
  return fields;
}

}  // namespace

std::span<const ManifestField> fields_of(PaletteKind kind) {
  static const std::map<PaletteKind, Fields> kFields = {
      {PaletteKind::settings, with_status(settings())},
      {PaletteKind::compute_profile, with_status(compute_profile())},
      {PaletteKind::workload_profile, with_status(workload_profile())},
      {PaletteKind::project, with_status(project())},
      {PaletteKind::compute, with_status(compute())},
      {PaletteKind::ml_platform, with_status(ml_platform())}};
  return kFields.at(kind);
}

}  // namespace exa
