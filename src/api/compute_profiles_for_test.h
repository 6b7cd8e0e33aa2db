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
    template_in(exa);
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
  // The template that a profile names, declared so that the profile fits it.
  void template_of(const std::string& profile) {
    json::object inputs;
    const json::value asked = exa.ask("compute_profile.inputs", {{"name", profile}});
    for (const json::value& each : asked.at("items").as_array())
      inputs[each.at("name").as_string()] = json::object{{"type", each.at("type")}};
    json::object outputs;
    const json::value shown = show(profile);
    for (const json::value& each : shown.at("outputs").as_array())
      outputs[each.at("name").as_string()] = json::object{{"secret", each.at("secret")}};
    const auto folder = exa.folder() / ("template-of-" + profile);
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "template.json")
        << to_text(json::object{{"inputs", std::move(inputs)}, {"outputs", std::move(outputs)}});
    std::ofstream(folder / "run") << "#!/bin/sh\n";
    std::filesystem::permissions(folder / "run", std::filesystem::perms::owner_all);
    json::object args{{"name", shown.at("environment_template").at("name")},
                      {"version", shown.at("environment_template").at("version")}};
    const json::object named = args;
    args["driver"] = "script";
    args["folder"] = folder.string();
    exa.ask("environment_template.add", args);
    exa.ask("environment_template.activate", named);
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
