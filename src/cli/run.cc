// From words to an exit code: read, ask where it must be asked, send, show.
#include <fmt/format.h>

#include "api/router.h"
#include "base/quantity.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/complete.h"
#include "cli/environment.h"
#include "cli/errors.h"
#include "cli/help.h"
#include "cli/input_prompts.h"
#include "cli/local_commands.h"
#include "cli/operations.h"
#include "cli/output.h"

namespace exa {
namespace {

class Run {
 public:
  Run(std::span<const std::string> words, std::span<const Route> routes,
      const Environment& environment, const Connect& connect)
      : words_(words),
        routes_(routes),
        environment_(environment),
        connect_(connect),
        commands_(command_table(routes, local_routes())) {}

  int all() {
    if (!words_.empty() && words_[0] == kCompleteCommand) return complete_words();
    const std::vector<std::string> meant = without_help_verb();
    auto read = read_words(commands_, meant);
    if (!read) {
      json_errors_ = asks_for_json(words_);
      return refuse(read.error());
    }
    invocation_ = *std::move(read);
    json_errors_ = invocation_.globals.format == Format::json;
    if (invocation_.globals.version) return print(fmt::format("exa {}\n", EXA_VERSION), 0);
    if (invocation_.route == nullptr) return print(group_help(commands_, invocation_.words), 0);
    if (invocation_.globals.help) return print(command_help(*invocation_.route), 0);
    if (route().id == kOperationWait) return wait_for_operation();
    if (const LocalAnswer local = find_local(*invocation_.route)) return answer_locally(local);
    return ask_the_route();
  }

 private:
  const Route& route() const { return *invocation_.route; }

  // `exa help cluster add` is `exa cluster add --help`; `exa help error` is a command of its own.
  std::vector<std::string> without_help_verb() const {
    std::vector<std::string> words(words_.begin(), words_.end());
    const bool verb =
        !words.empty() && words[0] == "help" && !(words.size() > 1 && words[1] == "error");
    if (!verb) return words;
    words.erase(words.begin());
    words.push_back("--help");
    return words;
  }

  int complete_words() {
    auto words = words_.subspan(1);
    if (!words.empty() && words[0] == "--") words = words.subspan(1);
    return print(complete(commands_, routes_, words, connect_), 0);
  }

  int answer_locally(LocalAnswer local) {
    const auto text = local({invocation_, commands_, environment_});
    return text ? print(text->text, text->exit_code) : refuse(text.error());
  }

  int ask_the_route() {
    auto args = collect_arguments(invocation_, environment_);
    if (!args) return refuse(args.error());
    const json::value* dry = args->if_contains("dry_run");
    const bool dry_run = dry != nullptr && dry->is_bool() && dry->get_bool();
    const bool must_ask = route().tier == Tier::destructive && !invocation_.globals.yes && !dry_run;
    // refused before anything is opened: output as JSON is no consent, and nobody is there to ask
    if (must_ask && !(environment_.in_is_terminal && environment_.err_is_terminal)) {
      return refuse(unconfirmed());
    }
    const auto send = connect_(invocation_.globals.where);
    if (!send) return refuse(send.error());
    if (must_ask) {
      if (const auto stop = ask_first(*send, *args)) return *stop;
    }
    if (route().id == "instance.launch") ask_for_missing_inputs(*send, environment_, *args);
    Request request = build_request(route(), *args);
    if (!route().is_long) return show((*send)(request), dry_run);
    request.detached = invocation_.globals.no_wait;
    ShownProgress progress(environment_, invocation_.globals.quiet);
    progress.cancelled();  // from now on Ctrl-C is a wish
    progress.at("asking", 0, 0);
    request.progress = &progress;
    const Reply reply = (*send)(request);
    progress.clear();
    if (request.detached && reply.status == 202) return show_as("operation.show", reply);
    return show(reply, dry_run);
  }

  // `exa operation wait ID`: its answer, as the command that began it would have shown it.
  int wait_for_operation() {
    const auto send = connect_(invocation_.globals.where);
    if (!send) return refuse(send.error());
    ShownProgress progress(environment_, invocation_.globals.quiet);
    progress.cancelled();
    const Awaited awaited = await_operation(*send, invocation_.values.at(0).second, progress);
    progress.clear();
    return awaited.route.empty() ? show(awaited.reply, false)
                                 : show_as(awaited.route, awaited.reply);
  }

  int show_as(std::string_view route_id, const Reply& reply) {
    if (const Route* other = find_route(route_id)) invocation_.route = other;
    invocation_.values.clear();  // of the command that was typed
    return show(reply, false);
  }

  Error unconfirmed() const {
    return {
        Code::confirmation_needed,
        fmt::format("exa {} removes something and there is no terminal to ask on", route().command),
        {},
        "add --yes, after reading what --dry-run prints",
        {}};
  }

  // Shows what would happen and asks; an exit code when it must not go on.
  std::optional<int> ask_first(const Send& send, json::object args) {
    if (find_param_named(route(), "dry_run") != nullptr) {
      args["dry_run"] = true;
      const Reply reply = send(build_request(route(), args));
      if (reply.status >= 400) return show(reply, true);
      const auto impact = render(reply, route().id, rendering(Format::table));
      environment_.err("This would happen:\n");
      if (impact) environment_.err(impact->out);
      for (const std::string& notice : reply.notices) note(notice);
    }
    const auto answer = environment_.ask(fmt::format("exa {}: go on? [y/N] ", route().command));
    const std::string said = answer ? lower(trim(*answer)) : "";
    if (said == "y" || said == "yes") return std::nullopt;
    environment_.err("Nothing was changed.\n");
    return info(Code::confirmation_needed).exit_code;
  }

  Rendering rendering(Format format) const {
    Rendering how;
    how.format = format;
    how.now = environment_.clock();
    how.screen = {width(), colour()};
    if (format == Format::wide) how.screen.columns = 0;
    return how;
  }

  size_t width() const {
    if (environment_.terminal_columns != 0) return environment_.terminal_columns;
    const auto columns = parse_count(environment_.variable("COLUMNS").value_or(""), "COLUMNS");
    return columns && *columns > 0 ? static_cast<size_t>(*columns) : 80;
  }

  bool colour() const {
    const bool unwanted = !environment_.variable("NO_COLOR").value_or("").empty() ||
                          environment_.variable("TERM").value_or("") == "dumb";
    return environment_.out_is_terminal && !invocation_.globals.no_color && !unwanted;
  }

  int show(const Reply& reply, bool dry_run) {
    if (reply.status >= 400) {
      const Error error = error_of(reply);
      environment_.err(json_errors_ ? reply.body : error_text(error, invocation_.route));
      return exit_code_of(error);
    }
    if (const auto saved = save_texts(reply); !saved) return refuse(saved.error());
    Rendering how = rendering(invocation_.globals.format);
    how.dry_run = dry_run;
    const auto rendered = render(reply, route().id, how);
    if (!rendered) return refuse(rendered.error());
    const Written written = environment_.out(rendered->out);
    if (written == Written::failed) {
      const bool changed = route().tier != Tier::read_only && !dry_run;
      return refuse(changed ? unwritten_change(reply) : unwritten());
    }
    if (written == Written::reader_gone) return reply.exit_code;
    for (const std::string& notice : reply.notices) note(notice);
    if (!rendered->hint.empty()) note(rendered->hint);
    if (dry_run) note("Dry run: nothing was changed.");
    return reply.exit_code;
  }

  // What the words ask to be written into files: texts of the reply, by name.
  Result<void> save_texts(const Reply& reply) const {
    for (const auto& [param, path] : invocation_.values) {
      if (param->kind != Kind::saved) continue;
      EXA_ASSIGN(const json::value body, parse_json(reply.body, "reply", tool_output_limits()));
      EXA_TRY(environment_.write_file(path, text_or(body, param->name, "")));
      note(fmt::format("wrote {}", path));
    }
    return {};
  }

  // What the command did stays done; who does not read it here would do it again.
  Error unwritten_change(const Reply& reply) const {
    Error error = unwritten();
    error.message = fmt::format("the change is stored: {}; but its answer could not be written",
                                deed_of(reply, route().id));
    return error;
  }

  void note(const std::string& text) const {
    if (!invocation_.globals.quiet) environment_.err(printable(text) + "\n");
  }

  int refuse(const Error& error) const {
    environment_.err(json_errors_ ? error_document(error) : error_text(error, invocation_.route));
    return exit_code_of(error);
  }

  int exit_code_of(const Error& error) const {
    const Route* route = invocation_.route;
    return route != nullptr && route->error_exit != 0 ? route->error_exit
                                                      : info(error.code).exit_code;
  }

  int print(const std::string& text, int exit_code) const {
    return environment_.out(text) == Written::failed ? refuse(unwritten()) : exit_code;
  }

  std::span<const std::string> words_;
  std::span<const Route> routes_;
  const Environment& environment_;
  const Connect& connect_;
  std::vector<const Route*> commands_;
  Invocation invocation_;
  bool json_errors_ = false;
};

}  // namespace

int run_cli(std::span<const std::string> words, std::span<const Route> routes,
            const Environment& environment, const Connect& connect) {
  return Run(words, routes, environment, connect).all();
}

}  // namespace exa
