#include "unit/gpu/fake_driver.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <stdexcept>

namespace fatune::gpu {
namespace {

/// Set before main(), because the driver is loaded once per process, at its first use.
[[maybe_unused]] const bool kChosen = setenv("FATUNE_LIBCUDA", FATUNE_FAKE_CUDA, 1) == 0;
/// The tests compile in their own process, where no PTX is attached to machine code. Where the
/// effect of kernels matters, tests provide it by on_launch().
[[maybe_unused]] const bool kNeverRun = setenv("FATUNE_FAKE_KERNELS", "never_run", 1) == 0;

template <typename Function>
Function find(const char* name) {
  static void* const library = dlopen(FATUNE_FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
  void* symbol = library == nullptr ? nullptr : dlsym(library, name);
  if (symbol == nullptr) {
    throw std::runtime_error(std::string("the fake driver has no ") + name);
  }
  return reinterpret_cast<Function>(symbol);
}

}  // namespace

long long FakeDriver::live_objects() { return find<long long (*)()>("fatune_fake_live_objects")(); }
long long FakeDriver::launches() { return find<long long (*)()>("fatune_fake_launches")(); }
long long FakeDriver::profiled_launches() {
  return find<long long (*)()>("fatune_fake_profiled_launches")();
}
const unsigned* FakeDriver::grid() { return find<const unsigned* (*)()>("fatune_fake_grid")(); }
void FakeDriver::reset() { find<void (*)()>("fatune_fake_reset")(); }
void FakeDriver::on_launch(Hook hook) { find<void (*)(Hook)>("fatune_fake_on_launch")(hook); }

ScopedVariable::ScopedVariable(const char* name, const std::string& value) : name_(name) {
  if (const char* const before = std::getenv(name)) {
    before_ = before;
  }
  setenv(name, value.c_str(), 1);
}

ScopedVariable::~ScopedVariable() {
  if (before_) {
    setenv(name_, before_->c_str(), 1);
  } else {
    unsetenv(name_);
  }
}

}  // namespace fatune::gpu
