#pragma once

#include <dlfcn.h>
#include <string>

// NVIDIA's libraries, which are opened at run time.
namespace fatune::gpu {

/// A library on this machine, and the remedy when it cannot be used.
struct LibraryStatus {
  std::string library;  ///< the file that was opened, or tried; empty when none was found
  std::string problem;  ///< one sentence; empty when it can be used
  std::string remedy;   ///< what to do about it; empty when it can be used

  [[nodiscard]] bool usable() const noexcept { return problem.empty(); }
};

/// Why the loader has not opened a library; `otherwise` if it does not say.
inline std::string loader_says(const std::string& otherwise) {
  const char* const reason = dlerror();
  return reason == nullptr ? otherwise : reason;
}

/// Finds a function; null if the library lacks it. `missing` keeps the first name that is not
/// there.
template <typename Function>
void find_function(void* library, const char* name, Function& function, std::string& missing) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  missing = function == nullptr && missing.empty() ? name : missing;
}

}  // namespace fatune::gpu
