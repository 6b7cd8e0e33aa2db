// Reading the audit log: list, verify, export. Semantics: audit/verify.h, docs/audit-format.md.
#pragma once

#include "service/service.h"

namespace exa {

struct ListAudit {
  int64_t limit = 50;
  std::optional<int64_t> before;  // entries older than this index; newest first
  std::string actor;
  std::string action;
  std::string outcome;
  std::string name;  // of the object
};
Result<Answer> list_audit(Service& service, const ListAudit& what);

struct VerifyAudit {
  std::optional<std::string> bundle;  // content of an exported file: verified by itself, offline
  std::optional<std::string> public_key;  // that the log must be signed with, known from elsewhere
  std::optional<std::string> checkpoint;  // seen before: the log must contain its history
};
// exit_code as for audit_broken when the log is not what its checkpoints vouch for.
Result<Answer> verify_audit(Service& service, const VerifyAudit& what);

// Service::recover_audit where there is something to recover: a log that agrees with its checkpoint
// is left alone, and the answer says so.
Result<Answer> recover_log(Service& service, const Caller& caller, const std::string& reason);

Result<Answer> export_audit(Service& service);

}  // namespace exa
