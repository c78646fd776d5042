#pragma once

namespace fatune {

/// Makes this process a worker: serves the connection on descriptor kWorkerDescriptor with a GPU of
/// this machine until the parent ends it or dies. Throws Error(usage) if there is no connection,
/// and ProtocolError if the parent is no fatune.
void run_gpu_worker();

}  // namespace fatune
