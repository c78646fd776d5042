#include "app/console/streams.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "core/error.hpp"
#include "process/standard_streams.hpp"

namespace fatune {

void print_result(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0) {
    if (errno == EPIPE) {
      end_by_broken_pipe();  // not an error: 'fatune list | head -1'
    }
    throw Error(ExitCode::io, fmt::format("cannot write: {}", std::strerror(errno)),
                "standard output");
  }
}

void print_diagnostic(std::string_view text) {
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
  static_cast<void>(std::fflush(stderr));
}

void configure_logging(Verbosity verbosity) {
  auto logger =
      std::make_shared<spdlog::logger>("fatune", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern("fatune: %l: %v");
  logger->set_level(verbosity == Verbosity::quiet     ? spdlog::level::err
                    : verbosity == Verbosity::verbose ? spdlog::level::debug
                                                      : spdlog::level::warn);
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace fatune
