// Rows and handlers for who runs on which profile.
#include "api/handlers.h"
#include "service/consumers.h"

namespace exa {
namespace {

const std::vector<std::string_view> kUses = {"workbench", "training", "serving"};

Result<Reply> in_use(Service& service, const Call& call) {
  return reply_of(
      profiles_in_use(service, call.caller, call.text("project"), call.text("profile")));
}

Result<Reply> use(Service& service, const Call& call) {
  EXA_ASSIGN(ProfileRef ref, parse_reference(call.text("name")));
  const auto surface = find_surface(call.text("for"));
  EXA_ASSERT(surface);  // checked against the choices
  return reply_of(use_profile(
      service, call.caller,
      {call.text("project"), std::move(ref), *surface, call.text("as"), call.text("cluster")}));
}

Result<Reply> release(Service& service, const Call& call) {
  return reply_of(release_profile(service, call.caller, call.text("project"), call.text("for"),
                                  call.text("as")));
}

}  // namespace

std::vector<Route> consumer_routes() {
  return {
      {.id = "hardware_profile.in_use",
       .path = "/api/v1/consumers",
       .command = "hardware profile in-use",
       .action = "hardware_profile:read",
       .summary = "Show who runs on which version, resolved again now",
       .params = {{.name = "profile",
                   .flag = "--profile",
                   .help = "only consumers of this profile",
                   .completes = "profile"},
                  project_param()},
       .handler = in_use,
       .reply = "ConsumerList",
       .examples = {"exa hardware profile in-use"}},
      {.id = "hardware_profile.use",
       .method = Method::post,
       .path = "/api/v1/hardware-profiles/{name}/consumers",
       .command = "hardware profile use",
       .tier = Tier::mutating,
       .action = "consumer:write",
       .summary = "Record that something runs on a profile, and print the shape it gets",
       .detail = "For jobs and services that are started outside exa: they show in in-use and "
                 "protect the version "
                 "from being deleted unnoticed.",
       .params =
           {{.name = "name",
             .in = In::path,
             .help = "name, name@3 or name@label",
             .required = true,
             .completes = "profile"},
            {.name = "for",
             .in = In::body,
             .kind = Kind::choice,
             .flag = "--for",
             .help = "what it is",
             .required = true,
             .choices = kUses},
            {.name = "as", .in = In::body, .flag = "--as", .help = "its name", .required = true},
            {.name = "cluster",
             .in = In::body,
             .flag = "--cluster",
             .help = "where it runs",
             .completes = "cluster"},
            project_param(),
            dry_run_param()},
       .handler = use,
       .reply = "NewConsumer",
       .creates = true,
       .fails_with = {Code::inapplicable},
       .examples = {"exa hardware profile use small --for workbench --as my-notebook"}},
      {.id = "hardware_profile.release",
       .method = Method::del,
       .path = "/api/v1/consumers/{for}/{as}",
       .command = "hardware profile release",
       .tier = Tier::mutating,
       .action = "consumer:write",
       .summary = "Record that a consumer has ended",
       .params = {{.name = "as", .in = In::path, .help = "its name", .required = true},
                  {.name = "for",
                   .in = In::path,
                   .kind = Kind::choice,
                   .flag = "--for",
                   .help = "what it is",
                   .required = true,
                   .choices = kUses},
                  project_param(),
                  dry_run_param()},
       .handler = release,
       .reply = "ReleasedConsumer",
       .examples = {"exa hardware profile release my-notebook --for workbench"}},
  };
}

}  // namespace exa
