// The work folder of a run, held by one run at a time. Everything in it may be what an earlier
// program made of it: nothing is written or read through a link, and only files are read.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.h"
#include "base/error.h"

namespace exa {

class WorkFolder {
 public:
  // Made where it is not there. conflict: another run has it, or it is not this user's alone.
  static Result<WorkFolder> open(const std::string& path);

  const std::string& path() const { return path_; }
  int descriptor() const { return folder_->get(); }  // also the lock

  // Whatever has the name goes away first. `name` may be in a folder made by make_folder.
  Result<void> write(const std::string& name, std::string_view bytes);
  Result<int> create(const std::string& name);  // a new file, for writing; the caller's to close
  Result<void> make_folder(const std::string& name);
  Result<void> remove(const std::string& name);
  // See template_problems; what it finds is not copied.
  Result<void> copy_template(const std::string& from, const std::string& to);

  // nullopt: there is none. unreadable_output: it is no plain file, has a second name, or is
  // larger.
  Result<std::optional<std::string>> read(const std::string& name, size_t limit) const;

 private:
  WorkFolder(std::string path, std::unique_ptr<Descriptor> folder)
      : path_(std::move(path)), folder_(std::move(folder)) {}

  std::string path_;
  std::unique_ptr<Descriptor> folder_;
};

// What of a template folder cannot be copied: anything that is neither file nor folder, and more
// than 10000 entries or 256 MiB in all. `where` names the entry.
std::vector<Problem> template_problems(const std::string& folder);

}  // namespace exa
