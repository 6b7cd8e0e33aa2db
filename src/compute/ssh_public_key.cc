#include "compute/ssh_public_key.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"

namespace exa {
namespace {

// RFC 4253, 5656, 8709 and OpenSSH's PROTOCOL.u2f: how many fields the blob has, its type's name
// among them.
struct KeyType {
  std::string_view name;
  size_t fields;
};
constexpr KeyType kTypes[] = {{"ssh-ed25519", 2},
                              {"ssh-rsa", 3},
                              {"ecdsa-sha2-nistp256", 3},
                              {"ecdsa-sha2-nistp384", 3},
                              {"ecdsa-sha2-nistp521", 3},
                              {"sk-ssh-ed25519@openssh.com", 3},
                              {"sk-ecdsa-sha2-nistp256@openssh.com", 4}};

constexpr std::string_view kForm = "write TYPE BASE64 COMMENT, as in the file that ends in .pub";

const KeyType* find_type(std::string_view name) {
  const auto* const found = std::ranges::find(kTypes, name, &KeyType::name);
  return found == std::end(kTypes) ? nullptr : found;
}

std::vector<std::string> type_names() {
  std::vector<std::string> names;
  for (const KeyType& type : kTypes) names.emplace_back(type.name);
  return names;
}

// Fields with their length before them in four bytes.
struct Fields {
  std::vector<std::string> complete;
  bool ends_with_one = true;
};

Fields fields_of(std::span<const uint8_t> blob) {
  Fields fields;
  while (!blob.empty()) {
    if (blob.size() < 4) return {std::move(fields.complete), false};
    const size_t length = static_cast<size_t>(blob[0]) << 24 | static_cast<size_t>(blob[1]) << 16 |
                          static_cast<size_t>(blob[2]) << 8 | blob[3];
    blob = blob.subspan(4);
    if (blob.size() < length) return {std::move(fields.complete), false};
    fields.complete.emplace_back(blob.begin(), blob.begin() + static_cast<ptrdiff_t>(length));
    blob = blob.subspan(length);
  }
  return fields;
}

std::string_view without_ellipsis(std::string_view base64) {
  for (const std::string_view dots : {"...", "\u2026"})
    if (base64.ends_with(dots)) return base64.substr(0, base64.size() - dots.size());
  return base64;
}

SshKeyVerdict of_other_type(std::string_view type) {
  return {fmt::format("is a key of {} with the name of another type before it", printable(type)),
          "copy the whole line again",
          {}};
}

SshKeyVerdict judge_cut(const KeyType& type, std::string_view base64) {
  std::vector<uint8_t> blob;
  if (!decode_base64(base64.substr(0, base64.size() / 4 * 4), blob))
    return {"is no base64 behind its type", std::string(kForm), {}};
  const Fields fields = fields_of(blob);
  if (fields.complete.empty())
    return {"is cut off before its type can be read", "copy the whole line", {}};
  if (fields.complete[0] != type.name) return of_other_type(fields.complete[0]);
  return {{}, {}, "is cut off (…): it will open nothing"};
}

SshKeyVerdict judge_whole(const KeyType& type, std::string_view base64) {
  std::vector<uint8_t> blob;
  if (!decode_base64(base64, blob))
    return {"is no base64 behind its type, or is cut off", std::string(kForm), {}};
  const Fields fields = fields_of(blob);
  if (!fields.complete.empty() && fields.complete[0] != type.name)
    return of_other_type(fields.complete[0]);
  if (fields.complete.size() != type.fields || !fields.ends_with_one ||
      std::ranges::any_of(fields.complete, &std::string::empty)) {
    return {fmt::format("is no whole key of {}", type.name), "copy the whole line again", {}};
  }
  return {};
}

SshKeyVerdict of_unknown_type(std::string_view type) {
  if (type == "ssh-dss")
    return {"is of ssh-dss, which OpenSSH takes no more", "make a new key", {}};
  const std::vector<std::string> known = type_names();
  const std::string close = did_you_mean(type, known);
  return {"begins with no known type of key",
          close.empty() ? fmt::format("known are {}", join(known, ", ")) : close,
          {}};
}

}  // namespace

SshKeyVerdict judge_ssh_public_key(std::string_view line) {
  line = trim(line);
  if (line.find("PRIVATE KEY") != std::string_view::npos) {
    return {"is a private key, which belongs nowhere but on its owner's machine",
            "write the line of the file that ends in .pub",
            {}};
  }
  if (std::ranges::any_of(line, [](char c) { return static_cast<uint8_t>(c) < ' ' || c == 0x7F; }))
    return {"holds a line break or another control character", "one key is one line", {}};
  const std::string_view name = line.substr(0, line.find(' '));
  const KeyType* const type = find_type(name);
  if (type == nullptr) return of_unknown_type(name);
  std::string_view rest = trim(line.substr(name.size()));
  rest = rest.substr(0, rest.find(' '));
  if (rest.empty()) return {"has nothing behind its type", std::string(kForm), {}};
  const std::string_view base64 = without_ellipsis(rest);
  return base64.size() < rest.size() ? judge_cut(*type, base64) : judge_whole(*type, base64);
}

}  // namespace exa
