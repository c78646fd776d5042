#pragma once

#include <string>
#include <vector>

#include "emit/document/document.hpp"

namespace fatune {

enum class Health {
  fine,
  limited,  ///< works, but something that depends on this is not available
  broken,   ///< fatune cannot do its job
};

struct Check {
  std::string subject;  ///< "NVRTC", "cubin cache"
  Health health = Health::fine;
  std::string finding;
  std::string remedy;  ///< empty when there is nothing to do
};

[[nodiscard]] Document doctor_document(const std::vector<Check>& checks);

}  // namespace fatune
