#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace fatune::testing_cli {

/// The thread sanitizer makes emulated kernels many times slower.
#ifdef __SANITIZE_THREAD__
inline constexpr std::chrono::seconds kDeadline{900};
#else
inline constexpr std::chrono::seconds kDeadline{120};
#endif

struct ProcessResult {
  int exit_code = -1;  ///< 128 + signal if a signal ended it
  std::string out;
  std::string err;
};

struct ProcessOptions {
  std::map<std::string, std::string> environment;  ///< the complete environment
  std::string folder;                              ///< working directory; empty: this program's
  std::string input;                               ///< its standard input
  std::chrono::seconds deadline = kDeadline;       ///< after that it is killed, and the test fails
  /// Both of its streams are terminals with this number of columns; 0: of unknown width.
  std::optional<unsigned short> terminal_columns{};
  /// `then` is called once with the process id when standard error first contains `when_err_has`.
  std::string when_err_has;
  std::function<void(pid_t)> then;
};

/// Runs a program without a shell, reads both of its streams, and waits for it to end.
[[nodiscard]] ProcessResult run_process(const std::vector<std::string>& command,
                                        const ProcessOptions& options);

}  // namespace fatune::testing_cli
