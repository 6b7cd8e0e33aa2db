#include "cli/complete.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "compute/palette_manifest.h"

namespace exa {
namespace {

constexpr std::string_view kBash = R"(# exa completion for bash: source <(exa completion bash)
_exa() {
  local line candidates=() IFS=$'\n'
  # bash splits --flag=value and name@3 at = and @: what no blank parts belongs together
  local joined=() word rest=$COMP_LINE
  for word in "${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
    if [[ ${#joined[@]} -gt 0 && $rest != [[:blank:]]* ]]; then
      joined[-1]+=$word
    else
      joined+=("$word")
    fi
    while [[ $rest == [[:blank:]]* ]]; do rest=${rest#?}; done
    rest=${rest#"$word"}
  done
  joined=("${joined[@]:1}")
  while IFS= read -r line; do candidates+=("$line"); done \
    < <("${COMP_WORDS[0]}" __complete -- "${joined[@]}" 2>/dev/null)
  if [[ ${candidates[0]:-} == ":files" ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
  else
    # bash replaces only what stands after its last word break
    local current=${COMP_WORDS[COMP_CWORD]} typed=${joined[-1]:-}
    [[ $current == "=" ]] && current=
    # … and an @ that begins a word belongs to what it replaces
    [[ ${COMP_WORDS[COMP_CWORD-1]} == "@" && $typed == *"@$current" ]] && current="@$current"
    COMPREPLY=("${candidates[@]#"${typed%"$current"}"}")
  fi
}
complete -F _exa exa
)";

constexpr std::string_view kZsh = R"(#compdef exa
# exa completion for zsh: source <(exa completion zsh)
_exa() {
  local -a candidates
  candidates=("${(@f)$("${words[1]}" __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  candidates=(${candidates:#})
  if [[ ${candidates[1]} == ":files" ]]; then
    _files
  elif (( ${#candidates} )); then
    compadd -- "${candidates[@]}"
  fi
}
compdef _exa exa
)";

constexpr std::string_view kFish = R"(# exa completion for fish: exa completion fish | source
function __exa_complete
    set -l words (commandline -opc)
    set -l candidates (command $words[1] __complete -- $words[2..-1] (commandline -ct) 2>/dev/null)
    if test "$candidates[1]" = ":files"
        __fish_complete_path (commandline -ct)
    else
        printf '%s\n' $candidates
    end
end
complete -c exa -f -a '(__exa_complete)'
)";

struct Script {
  std::string_view shell;
  std::string_view text;
};
constexpr Script kScripts[] = {{"bash", kBash}, {"zsh", kZsh}, {"fish", kFish}};

// Whose names: the list route that knows them, and what they are called by.
struct Source {
  std::string_view completes;
  std::string_view route;
  std::string_view key = "name";
};
constexpr Source kSources[] = {{"profile", "hardware_profile.list"},
                               {"cluster", "cluster.list"},
                               {"project", "project.list"},
                               {"pool", "pool.list"},
                               {"engine", "engine.list"},
                               {"workbench", "workbench.list"},
                               {"training-run", "pipeline.list"},
                               {"service", "serving.list"},
                               {"lease", "lease.list", "id"},
                               {"machine", "machine.list", "id"},
                               {"machine-source", "machine_source.list"},
                               {"mlplatform", "ml_platform.list"},
                               {"instance", "instance.list"},
                               {"user", "user.list"},
                               {"compute-profile", "compute_profile.list"},

                               {"environment-template", "environment_template.list"}};

class Completion {
 public:
  Completion(CommandTable commands, std::span<const Route> routes, const Connect& connect)
      : commands_(commands), routes_(routes), connect_(connect) {}

  std::set<std::string> candidates(std::span<const std::string> words) {
    last_ = words.empty() ? std::string() : words.back();
    const auto before = words.empty() ? words : words.first(words.size() - 1);
    const Descent descent = descend(commands_, before);
    note_earlier(descent);
    note_profile(descent);
    if (const Param* asked = flag_before(descent)) return values(*asked, "");
    if (!descent.rest.empty() && is_output(descent.rest.back())) return formats("");
    if (last_.starts_with("--") && last_.find('=') != std::string::npos)
      return after_equals(descent);
    if (last_.starts_with('-')) return flags(descent);
    std::set<std::string> found;
    // a word that is no flag, after a command that is not yet complete
    if (words_given(descent) == 0) {
      for (const Child& child : children(commands_, descent.words)) found.emplace(child.word);
    }
    if (descent.route != nullptr) found.merge(positional(descent));
    return found;
  }

 private:
  static bool is_output(std::string_view word) { return word == "-o" || word == "--output"; }

  void note_earlier(const Descent& descent) {
    for (size_t i = 0; i + 1 < descent.rest.size(); ++i) {
      if (descent.rest[i] == "--project") project_ = descent.rest[i + 1];
      if (descent.rest[i] == "--data") where_.data_folder = descent.rest[i + 1];
      if (descent.rest[i] == "--store") where_.store = descent.rest[i + 1];
      if (descent.rest[i] == "--server") where_.server = descent.rest[i + 1];
    }
  }

  // The first word after the command: whose versions and labels are meant.
  void note_profile(const Descent& descent) {
    for (size_t i = 0; i < descent.rest.size(); ++i) {
      const std::string& word = descent.rest[i];
      if (!word.starts_with('-')) {
        profile_ = word.substr(0, word.find('@'));
        return;
      }
      if (takes_value(descent, word)) ++i;
    }
  }

  static const Param* find_flag(const Descent& descent, std::string_view flag) {
    if (descent.route == nullptr) return nullptr;
    const auto& params = descent.route->params;
    const auto found = std::ranges::find(params, flag, &Param::flag);
    return found == params.end() || flag.empty() ? nullptr : &*found;
  }

  // The flag whose value is being typed.
  static const Param* flag_before(const Descent& descent) {
    if (descent.rest.empty()) return nullptr;
    const Param* param = find_flag(descent, descent.rest.back());
    return param == nullptr || param->kind == Kind::flag ? nullptr : param;
  }

  static bool takes_value(const Descent& descent, std::string_view word) {
    if (const Param* param = find_flag(descent, word)) return param->kind != Kind::flag;
    return std::ranges::any_of(global_flags(descent.route), [&](const GlobalFlag& flag) {
      return flag.takes_value() && flag.is(word);
    });
  }

  static size_t words_given(const Descent& descent) {
    size_t count = 0;
    for (size_t i = 0; i < descent.rest.size(); ++i) {
      if (!descent.rest[i].starts_with('-'))
        ++count;
      else if (takes_value(descent, descent.rest[i]))
        ++i;
    }
    return count;
  }

  std::set<std::string> positional(const Descent& descent) {
    size_t index = words_given(descent);
    for (const Param& param : descent.route->params) {
      if (param.flag.empty() && index-- == 0) return values(param, "");
    }
    return {};
  }

  std::set<std::string> flags(const Descent& descent) {
    std::set<std::string> found;
    if (descent.route != nullptr) {
      for (const Param& param : descent.route->params) {
        if (!param.flag.empty()) found.emplace(param.flag);
      }
    }
    for (const GlobalFlag& flag : global_flags(descent.route)) {
      for (const std::string_view name : split(flag.names, ',')) {
        if (name.starts_with("--")) found.emplace(name);
      }
    }
    return found;
  }

  std::set<std::string> after_equals(const Descent& descent) {
    const size_t equals = last_.find('=');
    const std::string prefix = last_.substr(0, equals + 1);
    if (prefix == "--output=") return formats(prefix);
    const Param* param = find_flag(descent, prefix.substr(0, equals));
    return param == nullptr ? std::set<std::string>() : values(*param, prefix);
  }

  static std::set<std::string> formats(const std::string& prefix) {
    std::set<std::string> found;
    for (const std::string_view format : format_names()) found.insert(prefix + std::string(format));
    return found;
  }

  std::set<std::string> values(const Param& param, std::string prefix) {
    if (param.kind == Kind::file || param.kind == Kind::document || param.kind == Kind::secret ||
        param.kind == Kind::path || param.kind == Kind::saved) {
      return {":files"};
    }
    std::set<std::string> found;
    const std::string typed = last_.substr(std::min(prefix.size(), last_.size()));
    std::vector<std::string_view> given;
    if (param.kind == Kind::csv) {
      const size_t comma = typed.rfind(',');
      if (comma != std::string::npos) {
        given = split(std::string_view(typed).substr(0, comma), ',');
        prefix += typed.substr(0, comma + 1);
      }
    }
    for (const std::string_view choice : param.choices) {
      if (std::ranges::find(given, choice) == given.end()) {
        found.insert(prefix + std::string(choice));
      }
    }
    for (const std::string& live : names_for(param, typed)) found.insert(prefix + live);
    return found;
  }

  std::vector<std::string> names_for(const Param& param, const std::string& typed) {
    const size_t at = typed.find('@');
    if (param.completes == "profile" && at != std::string::npos) {
      const std::string name = typed.substr(0, at);
      std::vector<std::string> references = history_of(name, true, true);
      for (std::string& reference : references) reference.insert(0, name + "@");
      return references;
    }
    if (param.completes == "version") return history_of(profile_, true, false);
    if (param.completes == "label") return history_of(profile_, false, true);
    if (param.completes == "manifest-kind") {
      std::vector<std::string> kinds;
      for (const PaletteKindInfo& kind : palette_kinds()) kinds.emplace_back(kind.word);
      return kinds;
    }
    if (param.completes == "template-version") return versions_of_template();
    if (param.completes == "manifest") return manifests_of_kind();
    if (param.completes == "error") {
      std::vector<std::string> codes;
      for (const CodeInfo& code : all_codes()) codes.emplace_back(code.name);
      return codes;
    }
    return live_names(param.completes);
  }

  static const json::value& named_by(const json::value& item) {
    const json::value* metadata = find(item, "metadata");
    return metadata == nullptr ? item : *metadata;
  }

  // Of the kind that was named before.
  std::vector<std::string> manifests_of_kind() {
    std::vector<std::string> names;
    for (const json::value& item : items_of("manifest.get", {{"kind", profile_}}))
      names.emplace_back(text_or(named_by(item), "name", ""));
    return names;
  }

  std::vector<std::string> versions_of_template() {
    std::vector<std::string> versions;
    for (const json::value& item : items_of("environment_template.list", {}))
      if (text_or(item, "name", "") == profile_)
        versions.emplace_back(text_or(item, "version", ""));
    return versions;
  }

  // Versions that are not deleted, and labels, of one profile.
  std::vector<std::string> history_of(const std::string& name, bool versions, bool labels) {
    std::vector<std::string> found;
    if (name.empty()) return found;
    for (const json::value& item : items_of("hardware_profile.history", {{"name", name}})) {
      const json::value* version = find(item, "version");
      const json::value* deleted = find(item, "deleted_at");
      if (version == nullptr || (deleted != nullptr && !deleted->is_null())) continue;
      if (versions) found.push_back(to_text(*version));
      const json::value* list = find(item, "labels");
      if (!labels || list == nullptr || !list->is_array()) continue;
      for (const json::value& label : list->get_array()) {
        if (label.is_string()) found.emplace_back(label.get_string());
      }
    }
    return found;
  }

  std::vector<std::string> live_names(std::string_view completes) {
    const auto* source = std::ranges::find(kSources, completes, &Source::completes);
    if (source == std::end(kSources)) return {};
    std::vector<std::string> names;
    for (const json::value& item : items_of(source->route, {})) {
      names.emplace_back(text_or(item, source->key, ""));
    }
    return names;
  }

  json::array items_of(std::string_view id, json::object args) {
    const auto route = std::ranges::find(routes_, id, &Route::id);
    if (route == routes_.end()) return {};
    const auto send = connect_(where_);
    if (!send) return {};
    if (!project_.empty() && find_param_named(*route, "project")) args["project"] = project_;
    if (find_param_named(*route, "limit")) args["limit"] = 1000;
    const Reply reply = (*send)(build_request(*route, args));
    const auto body = parse_json(reply.body, "reply", tool_output_limits());
    const json::value* items = body ? find(*body, "items") : nullptr;
    if (reply.status >= 400 || items == nullptr || !items->is_array()) return {};
    return items->get_array();
  }

  CommandTable commands_;
  std::span<const Route> routes_;
  const Connect& connect_;
  std::string last_;
  std::string project_;
  std::string profile_;
  Where where_;
};

}  // namespace

std::optional<std::string> completion_script(std::string_view shell) {
  const auto* script = std::ranges::find(kScripts, shell, &Script::shell);
  if (script == std::end(kScripts)) return std::nullopt;
  return std::string(script->text);
}

std::string complete(CommandTable commands, std::span<const Route> routes,
                     std::span<const std::string> words, const Connect& connect) {
  const std::string last = words.empty() ? std::string() : words.back();
  std::string out;
  for (const std::string& candidate : Completion(commands, routes, connect).candidates(words)) {
    // a name with a blank or a control character would break into several candidates
    const bool usable = candidate.find_first_of(" \t\n\r\\'\"$`;|&<>()") == std::string::npos;
    if (candidate == ":files") return ":files\n";
    if (usable && !candidate.empty() && candidate.starts_with(last)) out += candidate + "\n";
  }
  return out;
}

}  // namespace exa
