#include "provision/run_log.h"

#include <algorithm>

#include <fmt/format.h>
#include <unistd.h>

#include "base/json.h"
#include "base/redact.h"
#include "base/text.h"

namespace exa {
namespace {

constexpr std::string_view kHidden = "…";
constexpr size_t kShortestSecret = 4;  // shorter ones would hide half of the log

std::string cut_note(int64_t bytes) {
  return fmt::format("… {} bytes cut …\n", bytes);
}

// As Ansible prints it.
std::string in_json(std::string_view text) {
  if (!is_valid_utf8(text)) return std::string(text);
  const std::string quoted = to_text(json::value(json::string(text)));
  return quoted.substr(1, quoted.size() - 2);
}

// A full disk cuts the file, not the run.
void write_at(int file, std::string_view bytes, size_t at) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (written <= 0) return;
    bytes.remove_prefix(static_cast<size_t>(written));
    at += static_cast<size_t>(written);
  }
}

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

// A line that was cut may end in the middle of a secret.
void hide_begun_secret(std::string& line, const std::vector<std::string>& secrets) {
  for (const std::string& secret : secrets)
    for (size_t length = std::min(secret.size(), line.size()); length >= kShortestSecret; --length)
      if (std::string_view(line).ends_with(std::string_view(secret).substr(0, length))) {
        line.replace(line.size() - length, length, kHidden);
        break;
      }
}

}  // namespace

RunLog::RunLog(int file, int64_t limit_bytes, const std::vector<std::string>& secrets,
               std::function<void(std::string_view)> line)
    : file_(file),
      half_(static_cast<size_t>(std::max<int64_t>(limit_bytes, 4096)) / 2),
      longest_line_(std::clamp<size_t>(half_ / 4, 512, 16384)),
      line_(std::move(line)) {
  for (const std::string& secret : secrets)
    for (const std::string_view part : split(secret, '\n')) {
      if (trim(part).size() < kShortestSecret) continue;
      secrets_.emplace_back(trim(part));
      if (std::string quoted = in_json(trim(part)); quoted != trim(part))
        secrets_.push_back(std::move(quoted));
    }
  std::ranges::sort(secrets_, std::ranges::greater{}, &std::string::size);
}

void RunLog::add(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    const size_t taken = std::min(part.size(), longest_line_ - pending_.size());
    pending_ += part.substr(0, taken);
    pending_cut_ += static_cast<int64_t>(part.size() - taken);
    if (end == std::string_view::npos) break;
    end_line();
    bytes.remove_prefix(end + 1);
  }
  write_new();
}

void RunLog::finish() {
  if (!pending_.empty()) end_line();
  if (tail_.size() > half_) shorten_tail();
  write_new();
}

void RunLog::end_line() {
  std::string line = shown(pending_, pending_cut_ > 0);
  if (pending_cut_ > 0) line += fmt::format(" … {} bytes of this line cut", pending_cut_);
  cut_ += pending_cut_;
  pending_.clear();
  pending_cut_ = 0;
  ++lines_;
  line_(line);
  keep(line + "\n");
}

std::string RunLog::shown(std::string_view line, bool is_cut) const {
  if (line.ends_with('\r')) line.remove_suffix(1);
  std::string text(line);
  for (const std::string& secret : secrets_) replace_all(text, secret, kHidden);
  if (is_cut) hide_begun_secret(text, secrets_);
  replace_all(text, "\t", "  ");
  text = without_secrets(text);
  const bool is_plain = std::ranges::all_of(text, [](char c) { return c >= ' ' && c < 0x7f; });
  return is_plain ? text : printable(text);
}

void RunLog::keep(std::string line) {
  // bytes that are no text take four each
  if (line.size() > half_) {
    cut_ += static_cast<int64_t>(line.size() - half_);
    line.resize(half_ - 1);
    while (!is_valid_utf8(line)) line.pop_back();
    line += '\n';
  }
  head_is_full_ = head_is_full_ || head_.size() + line.size() > half_;
  (head_is_full_ ? tail_ : head_) += line;
  if (tail_.size() > 2 * half_) shorten_tail();
}

void RunLog::shorten_tail() {
  const size_t line = tail_.find('\n', tail_.size() - half_ - 1);
  const size_t dropped = line == std::string::npos ? tail_.size() - half_ : line + 1;
  cut_ += static_cast<int64_t>(dropped);
  tail_.erase(0, dropped);
  note_ = cut_note(cut_);
  written_ = std::min(written_, head_.size());
}

void RunLog::write_new() {
  if (written_ <= head_.size() && !note_.empty()) {
    [[maybe_unused]] const int ignored = ::ftruncate(file_.get(), static_cast<off_t>(written_));
  }
  size_t begin = 0;
  for (const std::string_view part :
       {std::string_view(head_), std::string_view(note_), std::string_view(tail_)}) {
    const size_t known = std::clamp(written_, begin, begin + part.size()) - begin;
    write_at(file_.get(), part.substr(known), begin + known);
    begin += part.size();
  }
  written_ = begin;
}

std::string RunLog::text() const {
  return head_ + note_ + tail_;
}

}  // namespace exa
