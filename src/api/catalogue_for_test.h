// A catalogue to test with: a template whose program does what a file beside it says, compute
// profiles on it, and people of projects.
#pragma once

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/testing.h"
#include "service/instances.h"

namespace exa {

class CatalogueTest : public testing::Test {
 protected:
  CatalogueTest() {
    namespace fs = std::filesystem;
    fs::create_directories(template_folder());
    write(template_folder() / "template.json", R"({
      "inputs": {"size": {"type": "number"}, "zone": {"type": "text"}, "image": {"type": "text"},
                 "password": {"type": "secret"}},
      "outputs": {"url": {}, "token": {"secret": true}}})");
    write(template_folder() / "run", program());
    fs::permissions(template_folder() / "run", fs::perms::owner_all);
    exa.ask("environment_template.add", {{"name", "vm"},
                                         {"version", "v1"},
                                         {"driver", "script"},
                                         {"folder", template_folder().string()}});
    exa.ask("environment_template.activate", {{"name", "vm"}, {"version", "v1"}});
    exa.ask("project.create", {{"name", "vision"}});
  }

  std::filesystem::path template_folder() const { return exa.folder() / "template"; }
  static void write(const std::filesystem::path& file, const std::string& text) {
    std::ofstream(file) << text;
  }
  void break_template(const std::string& why) { write(exa.folder() / "broken", why + "\n"); }
  void mend_template() { std::filesystem::remove(exa.folder() / "broken"); }
  int64_t runs_of_template() const {
    int64_t count = 0;
    for (const auto& one : std::filesystem::directory_iterator(exa.folder() / "instances")) {
      std::ifstream runs(one.path() / "work" / "runs");
      count += std::count(std::istreambuf_iterator<char>(runs), {}, '\n');
    }
    return count;
  }

  // Says what it does, counts its runs, and fails where a file beside it says so: `broken` and
  // `runs` lie outside, so that they change no file of the template.
  std::string program() const {
    return fmt::format(R"sh(#!/bin/sh
set -eu
echo "$1 with $(cat "$EXA_INPUTS")"
echo run >> runs
if [ -f {0}/broken ]; then cat {0}/broken >&2; exit 3; fi
case $1 in
apply | start)
  echo up > state
  size=$(sed -n 's/.*"size":\([0-9]*\).*/\1/p' "$EXA_INPUTS")
  printf '{{"url": "http://nb.example.org/%s", "token": "token-of-nb"}}' "$size" > "$EXA_OUTPUTS" ;;
stop) echo down > state ;;
destroy) rm -f state ;;
esac
)sh",
                       exa.folder().string());
  }

  // The document of a profile on the template.
  static json::object sku(const std::string& name) {
    const auto input = [](std::string_view of, std::string_view type, json::object more) {
      json::object setting{{"name", of}, {"type", type}};
      for (auto& member : more) setting[member.key()] = member.value();
      return json::value(std::move(setting));
    };
    return {{"name", name},
            {"display_name", "Small"},
            {"description", "one small machine"},
            {"allocation", "dedicated"},
            {"environment_template", json::object{{"name", "vm"}, {"version", "v1"}}},
            {"labels", json::object{{"team", "platform"}}},
            {"annotations", json::object{{"contact", "desk 4"}}},
            {"price_per_hour", json::object{{"amount", 1.5}, {"currency", "USD"}}},
            {"inputs",
             json::array{input("size", "number", {{"default", 1}, {"min", 1}, {"max", 4}}),
                         input("zone", "text",
                               {{"override", "restricted"},
                                {"allowed_values", json::array{"eu", "us"}},
                                {"default", "eu"}}),
                         input("image", "text", {{"override", "notallowed"}, {"default", "base"}}),
                         input("password", "secret", {})}},
            {"outputs", json::array{json::object{{"name", "url"}, {"label", "Address"}},
                                    json::object{{"name", "token"}, {"secret", true}}}}};
  }
  using Change = std::function<void(json::object&)>;
  void create(
      const std::string& name, const Change& change = [](json::object&) {}) {
    json::object document = sku(name);
    change(document);
    exa.ask("compute_profile.create", {{"name", name}, {"file", document}});
    documents_[name] = document;
  }
  void publish(const std::string& name, bool anew = true) {
    if (anew) create(name);
    exa.ask("compute_profile.publish", {{"name", name}});
  }
  void edit(const std::string& name, const Change& change) {
    change(documents_[name]);
    exa.ask("compute_profile.edit", {{"name", name}, {"file", documents_[name]}});
  }
  void share(const std::string& name, const std::vector<std::string>& with) {
    exa.ask("compute_profile.share",
            {{"name", name}, {"with", json::array(with.begin(), with.end())}});
  }

  static json::object launch_args(const std::string& name, json::object inputs,
                                  const std::string& profile = "small") {
    return {{"name", name}, {"compute_profile", profile}, {"inputs", std::move(inputs)}};
  }
  static json::object in(const std::string& project, json::object args) {
    args["project"] = project;
    return args;
  }
  Reply launch(const std::string& name, json::object inputs) {
    return exa.call("instance.launch", launch_args(name, std::move(inputs)));
  }
  json::value ask_launch(const std::string& name, json::object inputs) {
    return exa.ask("instance.launch", launch_args(name, std::move(inputs)));
  }

  // How many things were due, and done.
  size_t tend() {
    const auto tended = tend_instances(exa.service(), unwatched());
    EXPECT_TRUE(tended);
    for (const ComputeInstance& instance : tended->due)
      EXPECT_TRUE(do_what_is_due(exa.service(), instance, unwatched()));
    return tended->due.size();
  }

  std::filesystem::path folder_of(const json::value& instance) const {
    return exa.folder() / "instances" / std::string(instance.at("id").as_string());
  }
  std::string file_of(const json::value& instance, const std::string& name) const {
    std::ifstream file(folder_of(instance) / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  void member(const std::string& user, const std::string& project, const std::string& role) {
    const Principal before = exa.principal;
    exa.principal = owner_of_folder("ada", "uid:1000");
    exa.call("user.create", {{"name", user}});
    exa.ask("project_member.add", {{"project", project}, {"name", user}, {"role", role}});
    exa.principal = before;
    Rights& rights = rights_[user];
    rights.by_project[project] = *find_role(role);
  }
  void as(const std::string& user) { exa.principal = {"user", user, user, rights_[user], "", {}}; }
  void as_owner() { exa.principal = owner_of_folder("ada", "uid:1000"); }

  TestExa exa;

 private:
  std::map<std::string, json::object> documents_;
  std::map<std::string, Rights> rights_;
};

}  // namespace exa
