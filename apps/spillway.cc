// The command line tool: `spillway describe [OP]`.
#include <CLI/CLI.hpp>
#include <iostream>
#include <string>

#include "spillway/front/describe_operator.h"

namespace {

int describe(const std::string& name) {
  if (name.empty()) {
    std::cout << spillway::describe_operators();
    return 0;
  }
  const spillway::OperatorDef* def = spillway::find_operator(name);
  if (def == nullptr || def->hidden) {
    std::cerr << "spillway: no such operator: " << name << "; `spillway describe` lists them\n";
    return 2;
  }
  std::cout << spillway::describe_operator(*def);
  return 0;
}

int run(int argc, char** argv) {
  CLI::App app("Input pipelines under a memory limit.", "spillway");
  app.require_subcommand(1);
  std::string name;
  CLI::App* describing =
      app.add_subcommand("describe", "What operators there are, or what one of them does.");
  describing->add_option("operator", name, "its name; without one, all are listed");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  }
  return describe(name);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "spillway: " << error.what() << '\n';
    return 1;
  }
}
