#include "audit/bundle.h"

#include <algorithm>

#include <fmt/format.h>

#include "audit/checkpoint.h"
#include "audit/entry.h"
#include "audit/replay.h"
#include "base/json.h"

namespace exa {
namespace {

std::string header_line(const PublicKey& key) {
  json::object header;
  header["exa_audit_bundle"] = kBundleFormat;
  header["key"] = to_text(key);
  return to_canonical_text(header) + "\n";
}

std::string checkpoint_line(const std::string& text) {
  return to_text(json::value(text)) + "\n";
}

// One header has one spelling: whatever is not the line that the writer makes is refused.
std::optional<PublicKey> read_header(std::string_view line) {
  const auto header = parse_json(line, "header");
  if (!header) return std::nullopt;
  const auto key = public_key_from_text(text_or(*header, "key", ""));
  if (!key) return std::nullopt;
  const std::string written = header_line(*key);
  return line == std::string_view(written).substr(0, written.size() - 1) ? std::optional(*key)
                                                                         : std::nullopt;
}

std::optional<std::string> read_checkpoint_line(std::string_view line) {
  const auto value = parse_json(line, "checkpoint");
  if (!value || !value->is_string() || to_text(*value) != line) return std::nullopt;
  return std::string(std::string_view(value->get_string()));
}

struct Sized {
  uint64_t size = 0;
  const std::string* text = nullptr;
};

Result<std::vector<Sized>> by_size(const std::vector<std::string>& checkpoints) {
  std::vector<Sized> sorted;
  for (const std::string& text : checkpoints) {
    EXA_ASSIGN(const Checkpoint checkpoint, parse_checkpoint(text));
    sorted.push_back({checkpoint.size, &text});
  }
  std::ranges::stable_sort(sorted, {}, &Sized::size);
  const auto same_size = [](const Sized& a, const Sized& b) { return a.size == b.size; };
  sorted.erase(std::unique(sorted.begin(), sorted.end(), same_size), sorted.end());
  return sorted;
}

}  // namespace

Result<void> write_bundle(const PublicKey& key, const std::vector<std::string>& checkpoints,
                          const NextRow& rows, const WriteBytes& write) {
  EXA_ASSIGN(const std::vector<Sized> sorted, by_size(checkpoints));
  if (sorted.empty())
    return fail(Code::audit_broken, "there is no checkpoint to export", "exa audit verify");
  EXA_TRY(write(header_line(key)));
  uint64_t written = 0;
  for (const Sized& checkpoint : sorted) {
    for (; written < checkpoint.size; ++written) {
      LogRow row;
      EXA_ASSIGN(const bool more, rows(row));
      if (!more) {
        return fail(Code::audit_broken,
                    fmt::format("the log has {} entries, but a checkpoint covers {}", written,
                                checkpoint.size),
                    "exa audit verify");
      }
      EXA_TRY(write(row.leaf_text));
      EXA_TRY(write("\n"));
    }
    EXA_TRY(write(checkpoint_line(*checkpoint.text)));
  }
  return {};
}

class BundleCheck::State {
 public:
  explicit State(BundleAnchor anchor) : anchor_(std::move(anchor)) {}

  bool feed(std::string_view bytes) {
    while (good_ && !bytes.empty()) {
      const size_t end = bytes.find('\n');
      const std::string_view piece = bytes.substr(0, end);
      if (partial_.size() + piece.size() > kMaxBundleLine) {
        ++line_;
        return malformed(fmt::format("line {} is longer than {} bytes", line_, kMaxBundleLine));
      }
      if (end == std::string_view::npos) {
        partial_ += piece;
        break;
      }
      ++line_;
      if (partial_.empty()) {
        good_ = take_line(piece);
      } else {
        partial_ += piece;
        good_ = take_line(partial_);
        partial_.clear();
      }
      bytes.remove_prefix(end + 1);
    }
    return good_;
  }

  Verdict finish() {
    if (good_ && !partial_.empty()) {
      refuse({Finding::malformed_bundle, "end", "the last line is cut", {}, {}});
    } else if (good_ && line_ == 0) {
      refuse({Finding::malformed_bundle, "end", "the bundle is empty", {}, {}});
    } else if (good_ && !last_was_checkpoint_) {
      refuse_uncovered_end();
    }
    if (replay_ == nullptr) replay_ = std::make_unique<LogReplay>(PublicKey{});
    if (early_) replay_->refuse(*early_);
    Verdict verdict = replay_->verdict();
    if (!header_read_) verdict.key.clear();
    if (verdict.ok && !anchor_.key) {
      verdict.sentence += "; the key is the bundle's own: compare it with the one you know";
    }
    return verdict;
  }

 private:
  bool refuse(Trouble trouble) {
    good_ = false;
    if (replay_ != nullptr) return replay_->refuse(std::move(trouble));
    early_ = std::move(trouble);
    return false;
  }

  bool malformed(std::string sentence) {
    return refuse({Finding::malformed_bundle, here(), std::move(sentence), {}, {}});
  }

  // The last line of a bundle is a checkpoint: anything after one is vouched for by nobody.
  void refuse_uncovered_end() {
    const uint64_t first = covered_, size = replay_->size();
    if (size == first) {
      refuse({Finding::no_checkpoint, "end", "the bundle holds no checkpoint", {}, {}});
      return;
    }
    const std::string where = entries_from_to(first, size - 1);
    refuse({Finding::not_covered, where, fmt::format("no checkpoint covers {}", where),
            static_cast<int64_t>(first), static_cast<int64_t>(size) - 1});
  }

  std::string here() const { return fmt::format("line {}", line_); }

  bool take_line(std::string_view line) {
    if (line_ == 1) return take_header(line);
    if (line.starts_with('{')) return take_entry(line);
    if (line.starts_with('"')) return take_checkpoint(line);
    return malformed(fmt::format("line {} is neither an entry nor a checkpoint", line_));
  }

  bool take_header(std::string_view line) {
    const auto key = read_header(line);
    if (!key) return malformed("the first line is not the header of an exa audit bundle");
    header_read_ = true;
    replay_ = std::make_unique<LogReplay>(*key);
    if (anchor_.key && *anchor_.key != *key) {
      return refuse({Finding::unknown_key,
                     here(),
                     fmt::format("the bundle is signed with {}, not with the key that was given",
                                 to_text(*key)),
                     {},
                     {}});
    }
    for (size_t i = 0; i < anchor_.checkpoints.size(); ++i) {
      if (!replay_->expect(anchor_.checkpoints[i], fmt::format("checkpoint {}", i + 1)))
        return false;
    }
    return replay_->start();
  }

  bool take_entry(std::string_view line) {
    last_was_checkpoint_ = false;
    return replay_->row({static_cast<int64_t>(replay_->size()), line, std::nullopt});
  }

  bool take_checkpoint(std::string_view line) {
    if (last_was_checkpoint_) return malformed(fmt::format("line {} repeats a checkpoint", line_));
    const auto text = read_checkpoint_line(line);
    if (!text) return malformed(fmt::format("line {} is not a checkpoint as a JSON string", line_));
    last_was_checkpoint_ = true;
    covered_ = replay_->size();
    return replay_->checkpoint_here(*text, here());
  }

  BundleAnchor anchor_;
  std::unique_ptr<LogReplay> replay_;  // from the header on
  std::optional<Trouble> early_;       // before it
  std::string partial_;
  uint64_t line_ = 0;
  uint64_t covered_ = 0;  // size of the last checkpoint line
  bool good_ = true;
  bool header_read_ = false;
  bool last_was_checkpoint_ = false;
};

BundleCheck::BundleCheck(BundleAnchor anchor)
    : state_(std::make_unique<State>(std::move(anchor))) {}
BundleCheck::~BundleCheck() = default;
bool BundleCheck::feed(std::string_view bytes) {
  return state_->feed(bytes);
}
Verdict BundleCheck::finish() {
  return state_->finish();
}

Verdict verify_bundle(std::string_view text, BundleAnchor anchor) {
  BundleCheck check(std::move(anchor));
  check.feed(text);
  return check.finish();
}

}  // namespace exa
