// What all work shares that is done outside of the store, between an entry that begins it and one
// that ends it: a job that is submitted, a template that runs.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include "service/service.h"

namespace exa {

// Exactly one process at a time works on something, over all replicas; one that dies gives it up.
// By its id, which is never given twice. null: somebody works on it.
inline Result<std::unique_ptr<Ownership>> own_by_id(Service& service, std::string_view kind,
                                                    std::string_view id) {
  std::string name = std::string(kind) + "-" + std::string(id);
  std::ranges::transform(name, name.begin(), [](char c) {
    const bool fine = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    return fine ? c : '-';
  });
  return service.store().try_own(name);
}

// For the entries on the way: the key of a request is kept with its outcome.
inline Caller without_key(Caller caller) {
  caller.idempotency_key.clear();
  return caller;
}

}  // namespace exa
