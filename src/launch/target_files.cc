#include "launch/target_files.h"

#include <fmt/format.h>

#include "base/text.h"

namespace exa {

Result<std::string> home_on(Transport& transport) {
  EXA_ASSIGN(const Finished finished, transport.run({"sh", "-c", "printf %s \"$HOME\""}));
  const std::string home(trim(finished.out));
  if (finished.exit_code == 0 && home.starts_with('/')) return home;
  return fail(Code::probe_failed,
              fmt::format("{} has no home folder to work in", transport.describe()),
              "name a folder: --folder /shared/path");
}

Result<void> make_folder(Transport& transport, const std::string& folder) {
  EXA_ASSIGN(const Finished finished, transport.run({"mkdir", "-p", "-m", "700", "--", folder}));
  if (finished.exit_code == 0) return {};
  return fail(Code::invalid_input,
              fmt::format("the folder {} cannot be made on {}: {}", printable(folder),
                          transport.describe(), printable(trim(finished.err))),
              "name another: --folder /shared/path");
}

Result<void> write_files(Transport& transport, const std::string& folder,
                         std::span<const RenderedFile> files) {
  // fixed text: the name stands behind it, the content comes on standard input
  constexpr std::string_view kWrite = R"(umask 077; cat >"$1.part" && mv -f -- "$1.part" "$1")";
  for (const RenderedFile& file : files) {
    const std::string path = fmt::format("{}/{}", folder, file.name);
    EXA_ASSIGN(const Finished finished,
               transport.give({"sh", "-c", std::string(kWrite), "exa-launch", path}, file.text));
    if (finished.exit_code == 0) continue;
    return fail(Code::invalid_input,
                fmt::format("{} cannot be written on {}: {}", printable(path), transport.describe(),
                            printable(trim(finished.err))),
                "name another folder: --folder /shared/path");
  }
  return {};
}

Result<std::string> tail(Transport& transport, const std::string& path, int64_t lines) {
  EXA_ASSIGN(const Finished finished,
             transport.run({"tail", "-n", std::to_string(lines), "--", path}));
  if (finished.exit_code == 0) return finished.out;
  EXA_ASSIGN(const Finished there, transport.run({"test", "-e", path}));
  if (there.exit_code != 0)
    return fail(Code::not_found, "nothing was printed yet: there is no " + printable(path));
  return fail(Code::probe_failed,
              fmt::format("cannot read {}: {}", printable(path), printable(trim(finished.err))));
}

}  // namespace exa
