// The program: the real edges, the route table, the data folder.
#include "cli/environment.h"
#include "cli/local.h"
#include "cli/terminal.h"

int main(int argc, char** argv) {
  exa::guard_descriptors();
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  const exa::Environment environment = exa::terminal_environment();
  std::unique_ptr<exa::LocalServer> server;
  const exa::Connect connect = [&](const exa::DataSource& source) -> exa::Result<exa::Send> {
    const auto variable = [&](const std::string& name) {
      return environment.variable(name.c_str());
    };
    const std::string store = exa::store_named(source.store, variable);
    auto path = exa::data_folder(source.folder, variable);
    EXA_ASSIGN(const exa::Duration wait, exa::lock_wait(variable));
    server = std::make_unique<exa::LocalServer>(std::move(path), environment.clock, wait, store);
    return exa::Send([&](const exa::Request& request) { return server->handle(request); });
  };
  return exa::run_cli(words, exa::routes(), environment, connect);
}
