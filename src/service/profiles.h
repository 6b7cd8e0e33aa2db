// Use cases of the profile registry (requirement "Hardware Profiles", Phase 1; semantics §3). Each
// answers with the JSON that every interface shows.
#pragma once

#include "service/profile_rows.h"
#include "service/service.h"

namespace exa {

struct SetProfile {
  std::string project;
  std::string name;
  Shape shape;
  std::string label;
};
// Creates the next version and moves the label to it, in one transaction.
Result<Answer> set_profile(Service& service, const Caller& caller, const SetProfile& what);

struct ListProfiles {
  HeadQuery page;
  std::optional<Surface> applicability;  // profiles that list it or `any`
};
Result<Answer> list_profiles(Service& service, const ListProfiles& what);

// What a name means in one place: a reference, with --version or --label given apart from it.
Result<ProfileRef> combine_reference(std::string_view text, std::optional<int64_t> version,
                                     const std::string& label);

struct ShowProfile {
  std::string project;
  ProfileRef ref;
  std::string cluster;  // with it: resolved there as well
};
Result<Answer> show_profile(Service& service, const ShowProfile& what);

struct DeleteProfile {
  std::string project;
  std::string name;
  std::optional<int64_t> version;  // none: every version and label
  bool force = false;              // although consumers exist; needs a reason
  std::string reason;
};
Result<Answer> delete_profile(Service& service, const Caller& caller, const DeleteProfile& what);

struct MoveLabel {
  std::string project;
  std::string name;
  std::string label;
  int64_t version = 0;
};
Result<Answer> label_profile(Service& service, const Caller& caller, const MoveLabel& what);

Result<Answer> profile_history(Service& service, const std::string& project, const ProfileRef& ref);

// exit_code 1 when the shapes differ.
Result<Answer> diff_profiles(Service& service, const std::string& project, const ProfileRef& from,
                             const ProfileRef& to);

struct DeprecateProfile {
  std::string project;
  ProfileRef ref;        // without a version: the whole name
  std::string redirect;  // a reference of the same project
  std::string reason;
  bool undo = false;
};
Result<Answer> deprecate_profile(Service& service, const Caller& caller,
                                 const DeprecateProfile& what);

// The profile's JSON with labels, deprecation and last resolutions: the one serializer of a stored
// version, for every interface.
Result<json::object> stored_json(Transaction& tx, const StoredVersion& stored, Time now);

}  // namespace exa
