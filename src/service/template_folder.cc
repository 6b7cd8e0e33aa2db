#include "service/template_folder.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/digest.h"
#include "base/descriptor.h"
#include "base/object_reader.h"
#include "base/text.h"
#include "catalogue/compute_sku.h"
#include "catalogue/input_values.h"
#include "provision/work_folder.h"

namespace exa {

namespace fs = std::filesystem;

namespace {

constexpr size_t kMostDeclaration = size_t{1} << 20;
// Of exa itself, beside the files of a job.
constexpr std::string_view kGiven[] = {"inputs.json", "outputs.json", "instance.json"};

// Calls `take` with one piece of the file after the other. `where` of a failure is empty.
template <typename Take>
Result<void> read_pieces(const std::string& path, Take take) {
  const auto refused = [](std::string why) { return fail(Code::invalid_input, std::move(why)); };
  // O_NONBLOCK: the open of a FIFO must not wait for its writer
  const Descriptor file(
      ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file.is_open() && errno == ELOOP) return refused("is a link: put the file itself there");
  if (!file.is_open()) return refused(fmt::format("cannot be read: {}", std::strerror(errno)));
  struct stat info {};
  if (::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return refused("is no plain file");
  std::string piece(size_t{1} << 20, '\0');
  while (true) {
    size_t filled = 0;
    while (filled < piece.size()) {
      const ssize_t size = ::read(file.get(), piece.data() + filled, piece.size() - filled);
      if (size < 0 && errno == EINTR) continue;
      if (size < 0) return refused(fmt::format("cannot be read: {}", std::strerror(errno)));
      if (size == 0) break;
      filled += static_cast<size_t>(size);
    }
    if (filled == 0) return {};
    EXA_TRY(take(std::string_view(piece).substr(0, filled)));
  }
}

Result<std::string> read_plain_file(const std::string& path, size_t most) {
  std::string text;
  EXA_TRY(read_pieces(path, [&](std::string_view piece) -> Result<void> {
    text += piece;
    if (text.size() <= most) return {};
    return fail(Code::invalid_input, fmt::format("is larger than {} bytes", most));
  }));
  return text;
}

// Of the digests of its pieces, so that a large file is never in memory as a whole.
Result<std::string> digest_of_file(const std::string& path) {
  std::string pieces;
  EXA_TRY(read_pieces(path, [&](std::string_view piece) -> Result<void> {
    pieces += fmt::format("{} {}\n", piece.size(), sha256_hex(piece));
    return {};
  }));
  return sha256_hex(pieces);
}

// "f 4 run x 9f86…": the length of a name says where it ends.
Result<std::string> line_of(const fs::path& root, const fs::directory_entry& entry) {
  std::error_code error;
  const fs::file_status status = entry.symlink_status(error);
  const std::string name = entry.path().lexically_relative(root).string();
  if (fs::is_directory(status)) return fmt::format("d {} {}\n", name.size(), name);
  const bool runs = (status.permissions() & fs::perms::owner_exec) != fs::perms::none;
  auto digest = digest_of_file(entry.path().string());
  if (!digest)
    return fail(invalid("the template", {{printable(name), digest.error().message, ""}}));
  return fmt::format("f {} {} {} {}\n", name.size(), name, runs ? 'x' : '-', *digest);
}

void read_inputs(const ObjectReader& top, TemplateDeclaration& declared,
                 std::vector<Problem>& problems) {
  const json::value* inputs = top.given("inputs");
  if (inputs == nullptr) return;
  if (!inputs->is_object()) return top.say("inputs", "must be an object of inputs by name");
  if (inputs->get_object().size() > kMostInputs)
    return top.say("inputs", fmt::format("are more than {}", kMostInputs));
  for (const auto& [name, value] : inputs->get_object()) {
    const std::string where = pointer(top.at("inputs"), printable(name));
    if (!is_input_name(name))
      problems.push_back(
          {where, "is no name of an input: letters, digits and '_', no digit first", ""});
    const ObjectReader reader(value, where, problems);
    reader.refuse_others({"type", "required"}, "a declared input");
    reader.require({"type"});
    DeclaredInput input{std::string(name), InputType::text, false};
    reader.flag("required", input.required);
    std::string type;
    const bool has_type = reader.text("type", 64, type);
    const auto known = find_input_type(type);
    if (has_type && !known)
      reader.say("type", fmt::format("\"{}\" is no type: {}", type, join(input_type_names(), ", ")),
                 did_you_mean(type, input_type_names()));
    input.type = known.value_or(InputType::text);
    declared.inputs.push_back(std::move(input));
  }
}

void read_outputs(const ObjectReader& top, TemplateDeclaration& declared,
                  std::vector<Problem>& problems) {
  const json::value* outputs = top.given("outputs");
  if (outputs == nullptr) return;
  if (!outputs->is_object()) return top.say("outputs", "must be an object of outputs by name");
  if (outputs->get_object().size() > kMostOutputs)
    return top.say("outputs", fmt::format("are more than {}", kMostOutputs));
  for (const auto& [name, value] : outputs->get_object()) {
    const std::string where = pointer(top.at("outputs"), printable(name));
    if (!is_input_name(name))
      problems.push_back(
          {where, "is no name of an output: letters, digits and '_', no digit first", ""});
    const ObjectReader reader(value, where, problems);
    reader.refuse_others({"secret"}, "a declared output");
    DeclaredOutput output{std::string(name), false};
    reader.flag("secret", output.is_secret);
    declared.outputs.push_back(std::move(output));
  }
}

// What keeps one entry of the folder from being a file of a job.
std::string wrong_with(const std::string& name, const fs::directory_entry& entry,
                       std::string_view text) {
  std::error_code error;
  if (fs::is_directory(entry.symlink_status(error)))
    return "is a folder: a job is given files alone";
  if (std::ranges::find(kGiven, name) != std::end(kGiven))
    return "is what exa gives a job itself: choose another name";
  if (!problems_of({RenderedFile{name, ""}}).empty())
    return "is no name of a job's file: letters, digits and . _ -, beginning with a letter or "
           "digit, at most 64";
  if (!is_valid_utf8(text) || text.find('\0') != std::string_view::npos)
    return "is no text (UTF-8): a job is given texts alone";
  return "";
}

}  // namespace

TemplateDeclaration declaration_from_json(const json::value& value,
                                          std::vector<Problem>& problems) {
  TemplateDeclaration declared;
  const ObjectReader top(value, kTemplateFile, problems);
  top.refuse_others({"inputs", "outputs"}, "template.json");
  read_inputs(top, declared, problems);
  read_outputs(top, declared, problems);
  return declared;
}

TemplateDeclaration read_declaration(const std::string& folder, std::vector<Problem>& problems) {
  const std::string file(kTemplateFile);
  std::error_code ignored;
  if (!fs::exists(fs::symlink_status(folder + "/" + file, ignored))) {
    problems.push_back({file, "is missing: it declares what goes in and comes out",
                        R"({"inputs": {}, "outputs": {}})"});
    return {};
  }
  const auto text = read_plain_file(folder + "/" + file, kMostDeclaration);
  if (!text) {
    problems.push_back({file, text.error().message, ""});
    return {};
  }
  const auto value = parse_json(*text, file);
  if (value) return declaration_from_json(*value, problems);
  for (const Problem& problem : value.error().problems)
    problems.push_back(
        {fmt::format("{}{}{}", file, problem.where.starts_with('/') ? "" : " ", problem.where),
         problem.message, problem.suggestion});
  if (value.error().problems.empty()) problems.push_back({file, value.error().message, ""});
  return {};
}

Result<std::string> digest_of_folder(const std::string& folder) {
  if (auto problems = template_problems(folder); !problems.empty())
    return fail(invalid("the template", std::move(problems)));
  std::error_code error;
  std::vector<fs::directory_entry> entries;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    entries.push_back(*entry);
  if (error) return fail(invalid("the template", {{"", "cannot be read: " + error.message(), ""}}));
  std::ranges::sort(entries, {}, [](const auto& entry) { return entry.path().native(); });
  std::string lines;
  for (const fs::directory_entry& entry : entries) {
    EXA_ASSIGN(const std::string line, line_of(folder, entry));
    lines += line;
  }
  return sha256_hex(lines);
}

TemplateFiles files_in_folder(const std::string& folder) {
  TemplateFiles found;
  std::error_code error;
  size_t bytes = 0;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name == kTemplateFile) continue;
    const auto text = read_plain_file(entry->path().string(), kMostTemplateBytes);
    std::string wrong = wrong_with(name, *entry, text ? *text : std::string());
    if (wrong.empty() && !text) wrong = text.error().message;
    if (!wrong.empty()) found.problems.push_back({printable(name), std::move(wrong), ""});
    if (!text) continue;
    bytes += text->size();
    found.files.push_back({name, *text});
    if (found.files.size() + found.problems.size() > kMostTemplateFiles ||
        bytes > 2 * kMostTemplateBytes)
      break;
  }
  if (error) found.problems.push_back({"", "cannot be read: " + error.message(), ""});
  if (found.files.size() > kMostTemplateFiles)
    found.problems.push_back({"", fmt::format("holds more than {} files", kMostTemplateFiles), ""});
  if (bytes > kMostTemplateBytes)
    found.problems.push_back(
        {"", fmt::format("holds more than {} bytes: a job is given no more", kMostTemplateBytes),
         ""});
  std::ranges::sort(found.files, {}, &RenderedFile::name);
  if (!error &&
      !std::ranges::any_of(found.files, [](const auto& file) { return file.name == "run"; }))
    found.problems.push_back({"run", "is missing: it is what a job runs", ""});
  return found;
}

}  // namespace exa
