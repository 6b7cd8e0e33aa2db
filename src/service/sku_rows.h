// Compute profiles of the catalogue as they are kept, and who may see them: every interface finds
// one through find_sku, which fails closed. Requirement "Compute Profile"; semantics §7.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "catalogue/compute_sku.h"
#include "catalogue/sku_sharing.h"
#include "service/service.h"

namespace exa {

// One version; never changed once it is there.
struct SkuVersion {
  std::string project;  // whose it is
  int64_t version = 0;
  ComputeSku sku;
  Time created_at;
  std::string created_by;
  std::string reason;                 // why it was edited, in the editor's words
  std::optional<json::object> rafay;  // the document that it was imported from
};

// What stands beside the versions of a name.
struct SkuHead {
  std::string project;
  std::string name;
  int64_t latest_version = 0;  // what new instances get; numbers are never given twice
  bool published = false;
  SkuSharing sharing;
  Time created_at;
  std::string created_by;
  Time changed_at;
  std::string changed_by;
  std::optional<Time> deleted_at;  // final for launching, not for inspecting
  std::string deleted_by;

  std::string key() const { return project + "/" + name; }
};

json::object to_json(const SkuHead& head);              // as it is stored and digested
json::object to_stored_json(const SkuVersion& stored);  // likewise
Result<SkuHead> sku_head_from_json(const json::object& stored);
Result<SkuVersion> sku_version_from_json(const json::object& stored);

Result<std::optional<SkuHead>> load_sku_head(Transaction& tx, const std::string& project,
                                             const std::string& name);
Result<std::vector<SkuHead>> load_sku_heads(Transaction& tx);  // of all projects, by key
Result<std::optional<SkuVersion>> load_sku_version(Transaction& tx, const std::string& project,
                                                   const std::string& name, int64_t version);
Result<std::vector<SkuVersion>> load_sku_versions(Transaction& tx, const std::string& project,
                                                  const std::string& name);
Result<void> put_sku_head(Transaction& tx, const SkuHead& head);
Result<void> insert_sku_version(Transaction& tx, const SkuVersion& stored);

// Whether the caller, working in `project`, may know of it at all: whoever may write compute
// profiles of its project always; others what is published and reaches `project`, while it is not
// deleted.
bool may_see(const Caller& caller, const std::string& project, const SkuHead& head);
// Whether they may also see drafts, versions that are not the newest, and what was deleted.
bool may_write(const Caller& caller, const SkuHead& head);

// As it is referred to from `project`: NAME of its own, PROJECT/NAME of what another one shares.
std::string shown_name(const std::string& project, const SkuHead& head);

struct FoundSku {
  SkuHead head;
  SkuVersion stored;
};
// NAME, NAME@3 or PROJECT/NAME. What may not be seen and what is not there are one answer
// (not_found), in words, alternatives and time. For whoever may only use it, versions before the
// newest are not there.
Result<FoundSku> find_sku(Transaction& tx, const Caller& caller, const std::string& project,
                          const ProfileRef& ref);
// What may be launched in `project` now: found, not deleted, and the newest version. Drafts only by
// whoever may write them, in their own project.
Result<FoundSku> find_sku_to_launch(Transaction& tx, const Caller& caller,
                                    const std::string& project, const ProfileRef& ref);
// The one answer for what is not there and for what may not be seen.
Result<Error> no_such_sku(Transaction& tx, const Caller& caller, const std::string& project,
                          const ProfileRef& ref);

}  // namespace exa
