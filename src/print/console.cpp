#include "print/console.hpp"

#include <sys/ioctl.h>
#include <unistd.h>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/visible_text.hpp"
#include "print/document/document.hpp"

namespace fatune {
namespace {

/// A message's text, which may quote files.
class VisibleMessage : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm& /*time*/,
              spdlog::memory_buf_t& to) override {
    const std::string text =
        visible_lines(std::string_view(message.payload.data(), message.payload.size()));
    to.append(text.data(), text.data() + text.size());
  }
  [[nodiscard]] std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<VisibleMessage>();
  }
};

}  // namespace

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
  auto pattern = std::make_unique<spdlog::pattern_formatter>();
  pattern->add_flag<VisibleMessage>('*').set_pattern("fatune: %l: %*");
  logger->set_formatter(std::move(pattern));
  logger->set_level(verbosity == Verbosity::quiet     ? spdlog::level::err
                    : verbosity == Verbosity::verbose ? spdlog::level::debug
                                                      : spdlog::level::warn);
  spdlog::set_default_logger(std::move(logger));
}

void print_document(const Document& document, const OutputOptions& output) {
  const Document& shown = output.view.is_set() ? viewed(document, output.view) : document;
  const std::string text = render(shown, {output.format, output.columns, output.colour});
  const bool on_terminal = output.format == OutputFormat::table;
  print_result(on_terminal ? wrapped_lines(text, output.columns) : text);
}

void print_text(std::string_view text) { print_result(visible_lines(text)); }

void print_note(const OutputOptions& output, std::string_view text) {
  if (output.verbosity != Verbosity::quiet) {
    print_diagnostic(visible_lines(text) + "\n");
  }
}

std::size_t terminal_columns(int descriptor, std::size_t said) {
  if (::isatty(descriptor) != 1) {
    return 0;
  }
  winsize size{};
  const bool known = ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : said;
}

}  // namespace fatune
