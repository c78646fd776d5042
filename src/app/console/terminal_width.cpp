#include "app/console/terminal_width.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

namespace fatune {

std::size_t terminal_columns(int descriptor, std::size_t said) {
  if (::isatty(descriptor) != 1) {
    return 0;
  }
  winsize size{};
  const bool known = ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : said;
}

}  // namespace fatune
