#include "base/error.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

namespace exa {
namespace {

constexpr std::array kCodes = {
    CodeInfo{
        Code::unexpected, "unexpected", 1, 500, "Something went wrong inside exa",
        "exa met a situation that its authors did not foresee. Nothing was half done: a change "
        "is stored whole or not at all.\nRun the command again; if it stays, report it with the "
        "full message and the output of `exa version`."},
    CodeInfo{Code::usage, "usage", 2, 400, "The command or request cannot be understood",
             "A flag, argument or path is unknown, missing or given twice. Nothing was run. The "
             "message names the nearest spelling; `exa COMMAND --help` lists what there is."},
    CodeInfo{Code::method_not_allowed, "method_not_allowed", 2, 405,
             "The path does not take this method",
             "There is such a path, but not for this method. The answer names those it takes."},
    CodeInfo{
        Code::invalid_input, "invalid_input", 2, 422, "The input breaks a rule",
        "Every problem is listed with its place. Nothing was changed. Correct them all and run "
        "the command again; `--dry-run` checks without changing anything."},
    CodeInfo{
        Code::not_found, "not_found", 3, 404, "There is no such thing here",
        "The name, version or label does not exist in this project, or you may not see it: the "
        "answer is the same on purpose. The message names close spellings."},
    CodeInfo{Code::unauthenticated, "unauthenticated", 4, 401, "Not signed in",
             "Sign in first, or give a token."},
    CodeInfo{Code::forbidden, "forbidden", 4, 403, "Not permitted",
             "Your role does not allow this. Ask an admin of the project."},
    CodeInfo{Code::too_many_requests, "too_many_requests", 9, 429, "Too many tries",
             "Signing in failed too often in a short time, for this name or from this address. "
             "Nothing is locked for good: wait for as long as the message says, then try again."},
    CodeInfo{Code::history_gone, "history_gone", 5, 410, "That revision is not in this log",
             "What you watched from is not part of the log that is here now: an earlier copy was "
             "restored, or it is another installation. Read the lists again and watch from the "
             "revision that they were read at."},
    CodeInfo{Code::conflict, "conflict", 5, 409, "Something else is in the way",
             "The change contradicts what is stored now (a name that exists, a deleted version, a "
             "label that moved). Look at the present state and try again."},
    CodeInfo{
        Code::in_use, "in_use", 5, 409, "It is in use",
        "Consumers refer to what you want to remove. They are listed with what would happen to "
        "each. Retire it instead (`exa hardware profile deprecate`), or use --force --reason."},
    CodeInfo{Code::stale, "stale", 5, 412, "It changed since you read it",
             "Someone changed it in between. Read it again, then repeat the change."},
    CodeInfo{Code::match_needed, "match_needed", 5, 428, "Say which state you are changing",
             "Over HTTP, what replaces or removes a thing that others may have changed names the "
             "state that it was read in: the ETag of the read, as If-Match. `If-Match: *` changes "
             "whatever is there."},
    CodeInfo{Code::unresolvable, "unresolvable", 6, 409, "The target can never hold this shape",
             "The shape asks more than the usable nodes of the target have in total. The message "
             "names each dimension with what was asked and what there is."},
    CodeInfo{
        Code::blocked, "blocked", 7, 403, "A policy forbids it",
        "Residency, a limit or a missing approval stands against it. The message names the rule."},
    CodeInfo{Code::confirmation_needed, "confirmation_needed", 8, 428, "Confirmation needed",
             "The command removes something and there is no terminal to ask on. Add --yes once you "
             "have read what --dry-run prints. Output as JSON is no consent."},
    CodeInfo{Code::inapplicable, "inapplicable", 2, 422, "The profile is not made for this use",
             "A profile lists the surfaces it may be used for (workbench, training, serving, any). "
             "Choose another profile, or set a new version with a wider --applicability."},
    CodeInfo{Code::unreadable_output, "unreadable_output", 2, 422, "Output in an unknown shape",
             "A file or tool output could not be read as what it claims to be. exa names the place "
             "and reads nothing rather than counting a guess. Save the output with "
             "`exa cluster capture NAME` and report it."},
    CodeInfo{
        Code::probe_failed, "probe_failed", 9, 502, "The cluster could not be probed",
        "The tool or server that should describe the cluster failed, is missing, or answered in "
        "an unknown shape. The last good snapshot stays in use and ages; the failure is recorded."},
    CodeInfo{Code::store_unwritable, "store_unwritable", 9, 503, "The data folder cannot be used",
             "The data folder or its file system refuses reads or writes. Nothing was changed. "
             "Check its owner, mode and mount."},
    CodeInfo{Code::store_full, "store_full", 9, 503, "The disk is full",
             "The file system of the data folder has no room. Nothing was changed and nothing is "
             "lost. Free some space and run the command again."},
    CodeInfo{Code::store_locked, "store_locked", 9, 503, "Another process holds the data folder",
             "Another exa process has been writing for longer than the wait allows. Nothing was "
             "changed. Run the command again; the message names the process."},
    CodeInfo{
        Code::store_newer, "store_newer", 9, 503, "The data is from a newer exa",
        "This data folder was written by a newer version. Use that version, or restore a backup; "
        "exa never downgrades data."},
    CodeInfo{Code::store_damaged, "store_damaged", 9, 503, "The data folder is damaged",
             "The database or key file is not what exa wrote. exa refuses to go on rather than to "
             "guess. Restore a backup; `exa audit verify` tells what can still be trusted."},
    CodeInfo{Code::store_unreachable, "store_unreachable", 9, 503,
             "The database server cannot be reached",
             "The PostgreSQL server that holds the data did not answer, refused the connection, or "
             "was restarted. Nothing was changed. Run the command again once it is up; the message "
             "carries what the server said."},
    CodeInfo{
        Code::outcome_unknown, "outcome_unknown", 9, 504, "It is not known whether it was stored",
        "The connection to the database was lost between asking it to store the change and its "
        "answer. The change was stored whole or not at all. Look before you repeat it, or repeat "
        "it with the same idempotency key, which does it at most once."},
    CodeInfo{Code::audit_broken, "audit_broken", 9, 503,
             "The audit log does not match its checkpoint",
             "The log is shorter than, or differs from, what the last signed checkpoint says: the "
             "database was edited or an old copy was restored. Changes are refused until it is "
             "explained. `exa audit verify` says where."},
    CodeInfo{Code::unreachable, "unreachable", 9, 502, "The server cannot be reached",
             "The server did not answer, or its certificate is not trusted."},
    CodeInfo{
        Code::fail_on, "fail_on", 10, 200, "--fail-on was met",
        "The command did its work; the exit code is 10 because the answer is one that --fail-on "
        "names."},
    CodeInfo{
        Code::interrupted, "interrupted", 130, 499, "Interrupted",
        "The command was stopped by a signal, or long work was cancelled before it was done. What "
        "was acknowledged stays; work that was cancelled changed nothing."},
};

}  // namespace

std::span<const CodeInfo> all_codes() {
  return kCodes;
}

const CodeInfo& info(Code code) {
  const auto* found = std::ranges::find(kCodes, code, &CodeInfo::code);
  EXA_ASSERT(found != kCodes.end());
  return *found;
}

const CodeInfo* find_code(std::string_view name) {
  const auto* found = std::ranges::find(kCodes, name, &CodeInfo::name);
  return found == kCodes.end() ? nullptr : found;
}

Error invalid(std::string_view what, std::vector<Problem> problems) {
  Error error;
  error.code = Code::invalid_input;
  error.message = problems.size() == 1 ? fmt::format("{} has a problem", what)
                                       : fmt::format("{} has {} problems", what, problems.size());
  error.problems = std::move(problems);
  return error;
}

void assertion_failed(const char* condition, const char* file, int line) {
  fmt::print(stderr, "exa: internal check failed: {} ({}:{})\n", condition, file, line);
  std::abort();
}

}  // namespace exa
