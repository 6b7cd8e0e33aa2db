// Help from the rows: what a command does, takes, prints and costs (its tier), with examples.
#pragma once

#include "cli/command_tree.h"

namespace exa {

std::string group_help(CommandTable commands, std::string_view group);
std::string command_help(const Route& route);

std::string usage_line(const Route& route);  // "exa hardware profile show NAME [--version N] …"
// "--gpu N", "NAME", "--applicability workbench,training": as in a list of parameters.
std::string spelled(const Param& param);
std::string facts(const Param& param);  // help with choices, default and "required"
// What it changes: by its tier, or in words of its own.
std::string changes_sentence(const Route& route);

}  // namespace exa
