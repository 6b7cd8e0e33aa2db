// `exa agent`: tells a server what this machine is, again and again (issue of the document: "the
// Palette agent"). What it cannot detect it leaves out, and tags fill it.
#pragma once

#include "cli/local_commands.h"
#include "compute/machine.h"
#include "hardware/inventory.h"

namespace exa {

Route agent_row();
Result<LocalText> agent(const LocalCall& call);

// What the probe of one machine comes to; pure. `machine` is uname's word: "x86_64" is AMD64.
MachineReport report_of_host(const Inventory& inventory, std::string_view machine);

// "edge-" and 32 hex digits that belong to this installation of the machine and tell nobody its
// machine-id, which is confidential (machine-id(5)). Pure.
std::string machine_id_of(std::string_view machine_id_file);

}  // namespace exa
