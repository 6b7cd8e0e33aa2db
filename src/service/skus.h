// Use cases of the catalogue's compute profiles (requirement "Compute Profile"; semantics §7). Each
// answers with the JSON that every interface shows; who may see what is sku_rows.h.
#pragma once

#include "service/given_inputs.h"
#include "service/sku_rows.h"

namespace exa {

// What an admin writes: a document, and single fields that win over it.
struct WriteSku {
  std::string project;
  std::string name;
  std::optional<json::object> document;  // as compute_sku_from_json takes it, or as it is shown
  json::object fields;                   // members of that document; labels one by one
  std::string reason;
};
// A draft: nobody but those who write them sees it. A name that was deleted begins anew, with the
// next number, unpublished and shared with nobody.
Result<Answer> create_sku(Service& service, const Caller& caller, const WriteSku& what);
// The next version of what is there; with a document instead of it. New instances get it, running
// ones keep theirs. Where nothing changes there is no version.
Result<Answer> edit_sku(Service& service, const Caller& caller, const WriteSku& what);

struct ImportSku {
  std::string project;
  std::string text;  // Rafay's ComputeProfile, JSON or YAML; kept as it is
};
// Creates it, or is the next version of the name that it says.
Result<Answer> import_sku(Service& service, const Caller& caller, const ImportSku& what);

// Refused while something keeps it from being launched, every problem at once. Again is as good as
// once.
Result<Answer> publish_sku(Service& service, const Caller& caller, const std::string& project,
                           const std::string& name);
Result<Answer> unpublish_sku(Service& service, const Caller& caller, const std::string& project,
                             const std::string& name);
Result<Answer> share_sku(Service& service, const Caller& caller, const std::string& project,
                         const std::string& name, const std::vector<std::string>& with);
// Final for launching; who may write it still looks at its versions.
Result<Answer> delete_sku(Service& service, const Caller& caller, const std::string& project,
                          const std::string& name, const std::string& reason);

struct ListSkus {
  std::string project;
  std::string search;  // in name, display name and description, whatever the case; empty: all
  std::string after;   // where the page before stopped
  int64_t limit = 50;
};
// Those of the project, then those that reach it, as PROJECT/NAME.
Result<Answer> list_skus(Service& service, const Caller& caller, const ListSkus& what);

struct AskSku {
  std::string project;  // from which is asked
  ProfileRef ref;
};
Result<Answer> show_sku(Service& service, const Caller& caller, const AskSku& what);
Result<Answer> sku_history(Service& service, const Caller& caller, const AskSku& what);
// Between two of its versions; nullopt: the newest. exit_code 1 when they differ.
Result<Answer> diff_skus(Service& service, const Caller& caller, const AskSku& what, int64_t from,
                         std::optional<int64_t> to);
// The schema of its inputs and the settings in order: for prompts, flags and forms.
Result<Answer> sku_inputs(Service& service, const Caller& caller, const AskSku& what);
// Values held against the stored version, as a launch would; nothing is kept.
Result<Answer> check_sku_inputs(Service& service, const Caller& caller, const AskSku& what,
                                const GivenInputs& given);
// In Rafay's form. Over the document that it came from only for whoever may write it: what nobody
// here reads may be in it.
Result<Answer> export_sku(Service& service, const Caller& caller, const AskSku& what);

}  // namespace exa
