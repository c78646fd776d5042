// A counterpart of `fatune worker`, for tests of this layer alone.
#include "measure/gpu_worker.hpp"

int main() { fatune::run_gpu_worker(); }
