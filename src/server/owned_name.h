// Background work that one replica does at a time, and another takes over (Store::try_own). One
// thread.
#pragma once

#include <memory>
#include <string>

#include "store/store.h"

namespace exa {

class OwnedName {
 public:
  OwnedName(Store& store, std::string name) : store_(store), name_(std::move(name)) {}

  // Asks for it where it is not held, or not any more. Never waits for who holds it.
  bool owns() {
    if (held_ && held_->holds()) return true;
    held_.reset();
    if (auto taken = store_.try_own(name_)) held_ = *std::move(taken);
    return held_ != nullptr;
  }

 private:
  Store& store_;
  std::string name_;
  std::unique_ptr<Ownership> held_;
};

}  // namespace exa
