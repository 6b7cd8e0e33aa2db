// The program: the real edges, the route table, what answers.
#include "cli/connect.h"
#include "cli/terminal.h"

int main(int argc, char** argv) {
  exa::guard_descriptors();
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  const exa::Environment environment = exa::terminal_environment();
  exa::Connector connector(environment);
  return exa::run_cli(words, exa::routes(), environment, std::ref(connector));
}
