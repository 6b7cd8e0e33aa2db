// Checks of what lies on the network and who may come in.
#include <fmt/format.h>

#include "base/text.h"
#include "compute/manifest_checks.h"
#include "compute/network_text.h"
#include "compute/ssh_public_key.h"

namespace exa {
namespace {

// Why nobody could reach a control plane there; empty: somebody may.
std::string_view never_reached(const IpAddress& address) {
  constexpr IpAddress kLoopbackV6 = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, true};
  const uint8_t first = address.bytes[0];
  if (address == IpAddress{{}, address.is_v6}) return "is no machine's address";
  if (address.is_v6 ? address == kLoopbackV6 : first == 127)
    return "is every machine's own address";
  if (address.is_v6 ? first == 0xFF : first >= 224 && first < 240) return "is a multicast address";
  if (!address.is_v6 && first >= 240) return "is a reserved address";
  return {};
}

}  // namespace

void check_ssh_keys(const json::value& value, std::string_view where, Findings& findings) {
  const json::array& keys = value.get_array();
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!keys[i].is_string()) continue;
    const std::string at = pointer(where, std::to_string(i));
    const SshKeyVerdict verdict = judge_ssh_public_key(keys[i].get_string());
    if (!verdict.problem.empty())
      add_problem(findings, at, "the key " + verdict.problem, verdict.suggestion);
    if (!verdict.warning.empty())
      findings.warnings.push_back({at, "the key " + verdict.warning, "copy the whole line"});
  }
}

void check_vip(const json::value& value, std::string_view where, Findings& findings) {
  const std::string_view text = value.get_string();
  const auto address = parse_ip_address(text);
  if (!address) {
    add_problem(findings, where, fmt::format("{} is no IP address", in_quotes(text)),
                "such as 10.10.189.24");
  } else if (const std::string_view why = never_reached(*address); !why.empty()) {
    add_problem(findings, where, fmt::format("{} {}", in_quotes(text), why),
                "a free address in the network of the machines");
  }
}

void check_ntp_servers(const json::value& value, std::string_view where, Findings& findings) {
  const json::array& servers = value.get_array();
  for (size_t i = 0; i < servers.size(); ++i) {
    if (!servers[i].is_string()) continue;
    const std::string_view text = servers[i].get_string();
    if (is_host_name(text) || parse_ip_address(text)) continue;
    add_problem(findings, pointer(where, std::to_string(i)),
                fmt::format("{} is neither a host name nor an IP address", in_quotes(text)),
                "such as time.google.com");
  }
}

void check_overlay_cidr(const json::value& value, std::string_view where, Findings& findings) {
  const std::string_view text = value.get_string();
  const auto network = parse_ip_network(text);
  if (!network) {
    add_problem(findings, where, fmt::format("{} is no network", in_quotes(text)),
                "such as 192.168.1.0/24");
  } else if (lowest_of(*network) != *network) {
    add_problem(findings, where, fmt::format("{} has bits behind its prefix", in_quotes(text)),
                fmt::format("did you mean {}?", format_ip_network(lowest_of(*network))));
  }
}

void check_overlay_type(const json::value& value, std::string_view where, Findings& findings) {
  const std::string_view text = value.get_string();
  if (text != "VXLAN")
    add_problem(findings, where, fmt::format("{} is no type of overlay network", in_quotes(text)),
                "VXLAN is the one");
}

}  // namespace exa
