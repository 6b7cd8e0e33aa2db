#include "cli/complete.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.h"

namespace exa {
namespace {

constexpr std::string_view kBash = R"(# exa completion for bash: source <(exa completion bash)
_exa() {
  local line candidates=() IFS=$'\n'
  local words=("${COMP_WORDS[@]:1:COMP_CWORD}")
  # bash splits --flag=value at the =: put it together again
  local joined=() word
  for word in "${words[@]}"; do
    if [[ ${#joined[@]} -gt 0 && ( $word == "=" || ${joined[-1]} == --*= ) ]]; then
      joined[-1]+=$word
    else
      joined+=("$word")
    fi
  done
  while IFS= read -r line; do candidates+=("$line"); done \
    < <("${COMP_WORDS[0]}" __complete -- "${joined[@]}" 2>/dev/null)
  if [[ ${candidates[0]:-} == ":files" ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
  else
    # bash replaces only what stands after its last word break
    local current=${COMP_WORDS[COMP_CWORD]} typed=${joined[-1]:-}
    [[ $current == "=" ]] && current=
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

// Whose names: the list route that knows them.
struct Source {
  std::string_view completes;
  std::string_view route;
};
constexpr Source kSources[] = {
    {"profile", "hardware_profile.list"}, {"cluster", "cluster.list"}, {"project", "project.list"}};

class Completion {
 public:
  Completion(CommandTable commands, std::span<const Route> routes, const Connect& connect)
      : commands_(commands), routes_(routes), connect_(connect) {}

  std::set<std::string> candidates(std::span<const std::string> words) {
    last_ = words.empty() ? std::string() : words.back();
    const auto before = words.empty() ? words : words.first(words.size() - 1);
    const Descent descent = descend(commands_, before);
    note_earlier(descent);
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
      if (descent.rest[i] == "--data") data_folder_ = descent.rest[i + 1];
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
    if (is_output(word) || word == "--data") return true;
    const Param* param = find_flag(descent, word);
    return param != nullptr && param->kind != Kind::flag;
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
    if (param.kind == Kind::file) return {":files"};
    std::set<std::string> found;
    if (param.kind == Kind::csv) {
      const size_t typed = last_.rfind(',');
      if (typed != std::string::npos) prefix = last_.substr(0, typed + 1);
    }
    for (const std::string_view choice : param.choices) found.insert(prefix + std::string(choice));
    for (const std::string& live : live_names(param.completes)) found.insert(prefix + live);
    return found;
  }

  std::vector<std::string> live_names(std::string_view completes) {
    const auto* source = std::ranges::find(kSources, completes, &Source::completes);
    if (source == std::end(kSources)) return {};
    const auto route = std::ranges::find(routes_, source->route, &Route::id);
    if (route == routes_.end()) return {};
    const auto send = connect_(data_folder_);
    if (!send) return {};
    json::object args;
    if (!project_.empty() && find_param_named(*route, "project")) args["project"] = project_;
    if (find_param_named(*route, "limit")) args["limit"] = 1000;
    const Reply reply = (*send)(build_request(*route, args));
    const auto body = parse_json(reply.body, "reply", tool_output_limits());
    const json::value* items = body ? find(*body, "items") : nullptr;
    std::vector<std::string> names;
    if (reply.status >= 400 || items == nullptr || !items->is_array()) return names;
    for (const json::value& item : items->get_array())
      names.emplace_back(text_or(item, "name", ""));
    return names;
  }

  CommandTable commands_;
  std::span<const Route> routes_;
  const Connect& connect_;
  std::string last_;
  std::string project_;
  std::string data_folder_;
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
