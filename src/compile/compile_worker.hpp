#pragma once

#include <cstddef>
#include <string_view>

namespace fatune {

/// The argument that makes fatune a process that compiles.
inline constexpr const char* kCompileWorkerRole = "compile-worker";

/// Enough for thousands of nested expressions (docs/worker-protocol.md).
inline constexpr std::ptrdiff_t kMostStackBytes = std::ptrdiff_t{128} << 20;
/// What the process says on its standard error before a full stack ends it.
inline constexpr std::string_view kStackIsFull = "fatune: the compiler's stack is full\n";

/// Makes this process compile what the fatune that started it sends, one job after the other, until
/// that one ends. This process then has little memory and can open no file. Throws Error(usage) if
/// there is no connection.
void run_compile_worker();

}  // namespace fatune
