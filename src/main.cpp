#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/visible_text.hpp"
#include "cli/command_line.hpp"
#include "commands/commands.hpp"
#include "gpu/compiler_processes.hpp"

namespace {

/// Prints the message and returns the code. Control characters that it quotes from a file have no
/// effect on a terminal.
int report(fatune::ExitCode code, const std::string& message) {
  std::fputs(fatune::visible_lines(message).c_str(), stderr);
  return static_cast<int>(code);
}

}  // namespace

int main(int argc, char** argv) {
  // With the signal ignored, a write beyond `ulimit -f` fails like one to a full disk, and does not
  // end the program.
  std::signal(SIGXFSZ, SIG_IGN);
  fatune::secure_standard_streams();
  fatune::compile_in_processes();
  try {
    return static_cast<int>(fatune::parse_command_line(argc, argv, fatune::add_commands)());
  } catch (const fatune::Error& error) {
    return report(error.code(), fmt::format("fatune: {}\n", error.what()));
  } catch (const std::filesystem::filesystem_error& error) {
    return report(fatune::ExitCode::io,
                  fmt::format("fatune: {}: {}\n", error.path1().string(), error.code().message()));
  } catch (const std::exception& error) {
    return report(fatune::ExitCode::internal,
                  fmt::format("fatune: internal error (please report it): {}\n", error.what()));
  }
}
