// Whatever bytes come in as a checkpoint, key, entry or bundle: an answer, never a crash, and
// nothing is trusted that the fixed key did not sign. The first byte chooses what the rest is read
// as.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "audit/bundle.h"
#include "audit/checkpoint.h"
#include "audit/entry.h"
#include "audit/merkle.h"

namespace {

using namespace exa;

const SigningKey& key() {
  static const SigningKey kKey = SigningKey::from_seed("fuzz", SigningKey::Seed{1, 2, 3});
  return kKey;
}

void read_checkpoint(std::string_view text) {
  const auto parsed = parse_checkpoint(text);
  const auto checked = check_checkpoint(text, key().public_key());
  if (parsed) {
    // what reads reads back: one checkpoint has one text
    EXA_ASSERT(text.starts_with(note_text(*parsed) + "\n"));
    if (checked) EXA_ASSERT(*parsed == *checked);
  } else {
    EXA_ASSERT(!checked);
  }
}

// The fuzzer cannot sign, so a body that it invents is signed here to get past the signature.
void read_signed_body(std::string_view body) {
  const Signature signature = key().sign(body);
  EXA_ASSERT(verify_signature(key().public_key(), body, signature));
  if (body.empty()) return;
  std::string altered(body);
  altered[0] = static_cast<char>(altered[0] ^ 1);
  EXA_ASSERT(!verify_signature(key().public_key(), altered, signature));
}

void read_entry(std::string_view text) {
  const auto entry = audit_entry_from_leaf(text);
  if (!entry) return;
  const auto leaf = leaf_text(*entry);
  if (leaf) EXA_ASSERT(audit_entry_from_leaf(*leaf) == *entry);
}

void read_bundle(std::string_view text) {
  const Verdict whole = verify_bundle(text);
  BundleCheck check({});
  for (size_t at = 0; at < text.size(); at += 13) check.feed(text.substr(at, 13));
  EXA_ASSERT(check.finish() == whole);
  EXA_ASSERT(whole.ok == whole.where.empty());
}

void read_others(std::string_view text) {
  if (const auto parsed = public_key_from_text(text)) EXA_ASSERT(to_text(*parsed) == text);
  if (const auto frontier = frontier_from_bytes(text)) EXA_ASSERT(to_bytes(*frontier) == text);
  static_cast<void>(SigningKey::from_text(text));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  constexpr void (*kReaders[])(std::string_view) = {read_checkpoint, read_signed_body, read_entry,
                                                    read_bundle, read_others};
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  kReaders[data[0] % std::size(kReaders)](rest);
  return 0;
}
