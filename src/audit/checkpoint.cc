#include "audit/checkpoint.h"

#include <charconv>

#include <fmt/format.h>

#include "audit/instant.h"
#include "base/text.h"

namespace exa {
namespace {

constexpr size_t kMaxBytes = size_t{64} << 10;
constexpr size_t kMaxSignatures = 64;
constexpr std::string_view kSignatureStart = "\xE2\x80\x94 ";  // em dash, blank
constexpr std::string_view kTimeStart = "time ";

struct NoteSignature {
  std::string_view name;
  uint32_t key_id = 0;
  std::vector<uint8_t> bytes;
};

struct Note {
  std::string_view text;  // with its last newline
  std::vector<NoteSignature> signatures;
};

std::optional<NoteSignature> read_signature(std::string_view line) {
  if (!line.starts_with(kSignatureStart)) return std::nullopt;
  const std::string_view rest = line.substr(kSignatureStart.size());
  const size_t blank = rest.find(' ');
  if (blank == std::string_view::npos || blank == 0) return std::nullopt;
  std::vector<uint8_t> data;
  if (!decode_base64(rest.substr(blank + 1), data) || data.size() < 5) return std::nullopt;
  NoteSignature signature;
  signature.name = rest.substr(0, blank);
  for (size_t i = 0; i < 4; ++i) signature.key_id = (signature.key_id << 8) | data[i];
  signature.bytes.assign(data.begin() + 4, data.end());
  return signature;
}

bool has_control_character(std::string_view text) {
  return std::ranges::any_of(text,
                             [](char c) { return static_cast<uint8_t>(c) < 0x20 && c != '\n'; });
}

std::optional<Note> read_note(std::string_view text) {
  if (text.size() > kMaxBytes || !is_valid_utf8(text) || has_control_character(text)) {
    return std::nullopt;
  }
  const size_t gap = text.rfind("\n\n");
  if (gap == std::string_view::npos || !text.ends_with('\n')) return std::nullopt;
  Note note{text.substr(0, gap + 1), {}};
  std::string_view rest = text.substr(gap + 2);
  while (!rest.empty() && note.signatures.size() < kMaxSignatures) {
    const size_t end = rest.find('\n');
    auto signature = read_signature(rest.substr(0, end));
    if (!signature) return std::nullopt;
    note.signatures.push_back(std::move(*signature));
    rest.remove_prefix(end + 1);
  }
  if (note.signatures.empty() || !rest.empty()) return std::nullopt;
  return note;
}

bool is_origin(std::string_view text) {
  constexpr std::string_view kPrefix = "exa/audit/";
  return text.starts_with(kPrefix) && is_log_id(text.substr(kPrefix.size()));
}

std::optional<uint64_t> read_size(std::string_view text) {
  constexpr uint64_t kMost = INT64_MAX;  // indexes are signed 64-bit numbers
  if (text.empty() || (text[0] == '0' && text.size() > 1)) return std::nullopt;
  uint64_t size = 0;
  const auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (status != std::errc{} || stop != text.data() + text.size() || size > kMost)
    return std::nullopt;
  return size;
}

std::optional<Checkpoint> read_body(std::string_view text) {
  const std::vector<std::string_view> lines = split(text.substr(0, text.size() - 1), '\n');
  if (lines.size() < 3 || lines.size() > 4 || !is_origin(lines[0])) return std::nullopt;
  const auto size = read_size(lines[1]);
  std::vector<uint8_t> root;
  if (!size || !decode_base64(lines[2], root) || root.size() != sizeof(Hash)) return std::nullopt;
  Checkpoint checkpoint{std::string(lines[0]), *size, {}, {}};
  std::ranges::copy(root, checkpoint.root.begin());
  if (lines.size() == 4) {
    if (!lines[3].starts_with(kTimeStart)) return std::nullopt;
    checkpoint.time = exact_time(lines[3].substr(kTimeStart.size()));
    if (!checkpoint.time) return std::nullopt;
  }
  return checkpoint;
}

tl::unexpected<CheckpointRefusal> refuse(CheckpointFault fault, std::string message) {
  return tl::unexpected(CheckpointRefusal{fault, std::move(message)});
}

}  // namespace

std::string note_text(const Checkpoint& checkpoint) {
  std::string text =
      fmt::format("{}\n{}\n{}\n", checkpoint.origin, checkpoint.size, base64(checkpoint.root));
  if (checkpoint.time) text += fmt::format("{}{}\n", kTimeStart, format_rfc3339(*checkpoint.time));
  return text;
}

std::string sign_checkpoint(const Checkpoint& checkpoint, const SigningKey& key) {
  const PublicKey& named = key.public_key();
  EXA_ASSERT(named.name == checkpoint.origin);
  const std::string text = note_text(checkpoint);
  const Signature signature = key.sign(text);
  std::vector<uint8_t> data;
  for (int shift = 24; shift >= 0; shift -= 8) {
    data.push_back(static_cast<uint8_t>((key_id(named) >> shift) & 0xFF));
  }
  data.insert(data.end(), signature.begin(), signature.end());
  return fmt::format("{}\n{}{} {}\n", text, kSignatureStart, named.name, base64(data));
}

Result<Checkpoint> parse_checkpoint(std::string_view text) {
  const auto note = read_note(text);
  auto checkpoint = note ? read_body(note->text) : std::nullopt;
  if (!checkpoint) return fail(Code::audit_broken, "this is not an audit checkpoint");
  return *std::move(checkpoint);
}

tl::expected<Checkpoint, CheckpointRefusal> check_checkpoint(std::string_view text,
                                                             const PublicKey& key) {
  const auto note = read_note(text);
  auto checkpoint = note ? read_body(note->text) : std::nullopt;
  if (!checkpoint) return refuse(CheckpointFault::malformed, "it is not an audit checkpoint");
  size_t good = 0;
  for (const NoteSignature& signature : note->signatures) {
    if (signature.name != key.name || signature.key_id != key_id(key)) continue;
    if (!verify_signature(key, note->text, signature.bytes)) {
      return refuse(
          CheckpointFault::bad_signature,
          fmt::format("its signature under {} is false: it was altered or forged", key.name));
    }
    ++good;
  }
  if (good == 0) {
    return refuse(CheckpointFault::unknown_key,
                  fmt::format("it is not signed by the key {} ({:08x})", key.name, key_id(key)));
  }
  if (checkpoint->origin != key.name) {
    return refuse(CheckpointFault::other_log,
                  fmt::format("it belongs to {}, not to {}", checkpoint->origin, key.name));
  }
  return *std::move(checkpoint);
}

Result<Checkpoint> verify_checkpoint(std::string_view text, const PublicKey& key) {
  auto checked = check_checkpoint(text, key);
  if (!checked) {
    return fail(Code::audit_broken, "the checkpoint cannot be trusted: " + checked.error().message,
                "exa audit verify");
  }
  return *std::move(checked);
}

}  // namespace exa
