// What is to run: all that a renderer needs, and nothing that it has to guess. A launch from a
// profile and one from raw flags end in the same value, so what is rendered from it is the same
// byte for byte (requirement Phase 3, semantics §8). Pure values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "launch/command_line.h"
#include "profile/hardware_profile.h"

namespace exa {

// What is asked of each node: the part of a Shape that a scheduler hears of. Tags and description
// stay behind.
struct Resources {
  Family family = Family::cpu;
  std::string model;              // hint as written ("A100-80GB"); empty: any
  int64_t gpus = 0;               // per node; with mig_profile: instances
  int64_t fraction_milli = 1000;  // of each device
  std::string mig_profile;        // "1g.10gb"; empty: none
  int64_t cpu_milli = 0;          // per node; 0: not asked
  int64_t memory_bytes = 0;       // per node; 0: not asked
  int64_t nodes = 1;

  bool operator==(const Resources&) const = default;
};
Resources resources_of(const Shape& shape);

// Of the scheduler's own vocabulary; what a target has no word for, it refuses by name.
struct SchedulerOptions {
  std::string partition;   // Slurm partition, Flux queue
  std::string account;     // Slurm account, Flux bank
  std::string qos;         // Slurm
  std::string name_space;  // Kubernetes namespace; empty: default
  Duration time_limit{};   // 0: the scheduler's default
  // The cluster's own word for the device, as discovery found it (Offer::resource): Slurm's GRES
  // "gpu:a100", "gpu:nvidia_a100-sxm4-80gb_1g.10gb"; Flux's property "a100". Types are whatever a
  // site calls them, so none is made up from the model hint: empty asks for any of the family.
  std::string device;
  int64_t shares_per_device = 0;  // Slurm shards that a card is cut into; 0: not known
  bool operator==(const SchedulerOptions&) const = default;
};

// A disk that outlives starts and stops (a workbench's home).
struct Volume {
  int64_t bytes = 0;  // 0: none
  std::string mount;  // absolute path in the container
  bool operator==(const Volume&) const = default;
};

struct RenderedFile {
  std::string name;  // "job.sbatch", "manifest.yaml", "compose.yaml"
  std::string text;
  bool operator==(const RenderedFile&) const = default;
};

// A service whose replicas KServe keeps: LaunchSpec::replicas at least.
struct KServe {
  int64_t most = 1;
  int64_t target = 0;  // requests at a time of one replica; 0: KServe's own measure
  bool operator==(const KServe&) const = default;
};

struct LaunchSpec {
  Surface kind = Surface::training;  // any: an instance of the catalogue
  std::string project;
  std::string name;  // [a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?: see check_launch_name
  std::string id;    // of this launch: stands in the scheduler's comment or label, so that
                     // a submission whose answer was lost is found again, never repeated
  Resources resources;
  CommandLine command;  // run once on every node
  Variables environment;
  std::vector<RenderedFile> files;  // that the program finds in its folder: launch/driver.h
  std::string installed_by;         // what brings the program where it is missing; empty: unknown
  std::string folder;               // absolute, on the target: working folder and logs; empty: none
  std::string image;  // where the target runs containers; empty: the target needs none
  int64_t port = 0;   // that the program serves; 0: none
  Volume volume;
  int64_t replicas = 1;          // of a service
  std::optional<KServe> kserve;  // nullopt: the target keeps the replicas itself
  int64_t restarts = 0;          // after a failure of the whole job
  SchedulerOptions options;

  bool operator==(const LaunchSpec&) const = default;
};

// "workbench", "training", "serving"; "instance" of any.
std::string_view launch_kind(Surface kind);
std::optional<Surface> find_launch_kind(std::string_view word);

// "exa-training-llama": what the scheduler shows. A DNS-1123 label, as Kubernetes wants, and fine
// for Slurm and Flux.
std::string job_name(const LaunchSpec& spec);

// At most 40 characters, so that a job's name is a DNS label whatever is put before it.
Result<void> check_launch_name(std::string_view name);

// "KIND PROJECT/NAME ID", on one line: what a job carries so that it is known again as this launch.
std::string launch_tag(const LaunchSpec& spec);

// Files that cannot lie in a folder under their names, or stand there twice: letters, digits and
// . _ -, beginning with a letter or digit, at most 64.
std::vector<Problem> problems_of(const std::vector<RenderedFile>& files);

// The status with which a shell says that there is no such program.
inline constexpr int kNoSuchProgram = 127;
// "serve: not found on c1; pip install 'ray[serve]' there", for a launch that says what brings its
// program.
std::string without_its_program(const LaunchSpec& spec, std::string_view where);

// What will be run, before it runs: the same values that a driver submits.
struct Rendered {
  std::vector<std::string> command;  // that submits it: {"sbatch", "--parsable", "job.sbatch"}
  std::vector<RenderedFile> files;
  Variables environment;           // of `command`, where no file carries the program's own
  std::string folder;              // that `command` runs in, likewise
  std::vector<std::string> notes;  // what the target cannot carry, a sentence each
  bool operator==(const Rendered&) const = default;
};

}  // namespace exa
