#pragma once

namespace fatune {

/// The argument that makes fatune a process that compiles.
inline constexpr const char* kCompileWorkerRole = "compile-worker";

/// Makes this process compile what the fatune that started it sends, one job after the other, until
/// that one ends. Limits the memory of this process. Throws Error(usage) if there is no connection.
void run_compile_worker();

}  // namespace fatune
