// An exa with people of three projects, and compute profiles to look at with their eyes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/testing.h"

namespace exa {

class ComputeProfiles : public testing::Test {
 protected:
  ComputeProfiles() {
    for (const char* project : {"vision", "nlp"}) exa.ask("project.create", {{"name", project}});
  }

  static json::object document(std::string_view members = "{}") {
    json::object made{{"environment_template", json::object{{"name", "vm"}, {"version", "v1"}}},
                      {"display_name", "Small"}};
    const json::value more = parse_json(members, "the test").value();
    for (const auto& member : more.as_object()) made[member.key()] = member.value();
    return made;
  }
  json::value create(const std::string& name, std::string_view members = "{}",
                     const std::string& project = "default") {
    return exa.ask("compute_profile.create",
                   {{"name", name}, {"file", document(members)}, {"project", project}});
  }
  void publish(const std::string& name, const std::string& project = "default") {
    exa.ask("compute_profile.publish", {{"name", name}, {"project", project}});
  }
  void share(const std::string& name, const std::vector<std::string>& with) {
    exa.ask("compute_profile.share",
            {{"name", name}, {"with", json::array(with.begin(), with.end())}});
  }

  void as_owner() { exa.principal = owner_of_folder("ada", "uid:1000"); }
  void as(Role role, const std::string& project) {
    exa.principal = {"user", "grace", "user:grace", {}, "", {}};
    exa.principal.rights.by_project[project] = role;
  }

  // In the order of a list.
  std::vector<std::string> names(const std::string& project = "default",
                                 const std::string& search = "") {
    json::object args{{"project", project}};
    if (!search.empty()) args["search"] = search;
    std::vector<std::string> found;
    const json::value page = exa.ask("compute_profile.list", args);
    for (const json::value& item : page.at("items").as_array())
      found.emplace_back(item.at("name").as_string());
    return found;
  }
  json::value show(const std::string& name, const std::string& project = "default") {
    return exa.ask("compute_profile.show", {{"name", name}, {"project", project}});
  }
  int status(std::string_view route, const json::object& args) {
    return exa.call(route, args).status;
  }
  // "POINTER MESSAGE" of a refusal.
  std::vector<std::string> problems(std::string_view route, const json::object& args) {
    const Error error = error_of(exa.call(route, args));
    std::vector<std::string> lines;
    for (const Problem& problem : error.problems)
      lines.push_back(problem.where + " " + problem.message);
    return lines;
  }

  TestExa exa;
};

}  // namespace exa
