#include "app/version.hpp"

namespace fatune {

std::string_view version() { return FATUNE_VERSION; }

}  // namespace fatune
