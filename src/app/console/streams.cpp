#include "app/console/streams.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

#include "core/error.hpp"
#include "process/standard_streams.hpp"

namespace fatune {

void print_result(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0) {
    if (errno == EPIPE) {
      end_by_broken_pipe();  // as in 'fatune list | head -1', which is no mistake
    }
    throw Error(ExitCode::io, fmt::format("cannot write: {}", std::strerror(errno)),
                "standard output");
  }
}

void print_diagnostic(std::string_view text) {
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
  static_cast<void>(std::fflush(stderr));
}

}  // namespace fatune
