// Provisioners: the programs that build ML platforms, registered by whoever administers the machine
// of exa. Settings name one; nobody else may say what exa runs.
#pragma once

#include "provision/provision.h"
#include "service/service.h"

namespace exa {

struct Provisioner {
  std::string name;
  ProvisionDriver driver = ProvisionDriver::script;
  std::string folder;  // its template, absolute
  Duration time_limit = minutes(30);
  std::vector<std::string> outputs;  // that it puts out
  Time created_at;
  std::string created_by;
};

Result<Provisioner> find_provisioner(Transaction& tx, const std::string& name);
// What keeps it from running here is told as notices: it may be put right later.
Result<Answer> add_provisioner(Service& service, const Caller& caller, Provisioner what);
Result<Answer> list_provisioners(Service& service);
// in_use while a platform is built by it.
Result<Answer> remove_provisioner(Service& service, const Caller& caller, const std::string& name);

}  // namespace exa
