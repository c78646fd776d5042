// Streams, events, modules and launches. Work is done when it is queued.
#include <cuda.h>

#include <array>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "common/attention_args.h"
#include "fake_cuda/attached_ptx.hpp"
#include "fake_cuda/emulated_launch.hpp"
#include "fake_cuda/module.hpp"
#include "fake_cuda/script.hpp"
#include "fake_cuda/state.hpp"
#include "reference/measurement_args.h"

#undef cuEventElapsedTime  // every driver has this name, as in src/gpu/cuda_api.hpp
extern "C" CUresult CUDAAPI cuEventElapsedTime(float* ms, CUevent start, CUevent stop);

using namespace fake_cuda;

namespace {

struct FakeStream {};

struct FakeEvent {
  double at_us = 0.0;
  bool recorded = false;
};

template <typename T>
const T& argument(void** arguments, int index) {
  return *static_cast<const T*>(arguments[index]);
}

/// With FATUNE_FAKE_KERNELS=never_run, fatune's kernels that check an output report no faults.
void pretend_to_check(const std::string& kernel, void** arguments) {
  if (kernel == "fatune_compare_output") {
    const auto& args = argument<CompareArgs>(arguments, 0);
    args.counts->compared += args.elements;
  } else if (kernel == "fatune_check_row_values") {
    const auto& args = argument<RowValueArgs>(arguments, 0);
    args.counts->compared += args.selected;
    args.counts->scanned += args.elements;
  } else if (kernel == "fatune_scan_output") {
    constexpr unsigned long long kChunkElements = 8;
    argument<CheckCounts*>(arguments, 2)->scanned +=
        kChunkElements * argument<unsigned long long>(arguments, 1);
  }
}

template <typename Object, typename Raw>
CUresult create(Raw* raw) {
  ++state().live_objects;
  *raw = reinterpret_cast<Raw>(new Object);
  return CUDA_SUCCESS;
}

template <typename Object>
void destroy(void* raw) {
  --state().live_objects;
  delete static_cast<Object*>(raw);
}

template <typename Object, typename Raw>
Object& object(Raw raw) {
  return *reinterpret_cast<Object*>(raw);
}

bool can_launch(const Launch& launch) {
  return launch.smem_bytes <= static_cast<unsigned>(launch.function->max_dynamic_smem) &&
         launch.block[0] * launch.block[1] * launch.block[2] <= 1024;
}

double duration_us(const std::string& kernel) {
  const long long us = kernel == "fatune_matmul_rate"
                           ? integer_setting("FATUNE_FAKE_MATMUL_US", 2500)
                       : kernel == "fatune_read_memory"
                           ? integer_setting("FATUNE_FAKE_READ_US", 25)
                           : integer_setting(("FATUNE_FAKE_US_" + kernel).c_str(),
                                             integer_setting("FATUNE_FAKE_KERNEL_US", 100));
  return static_cast<double>(us);
}

/// The gate is open from the start: the host opens it only after the launch. There are no SM
/// clocks, and there is no L2 to flush. The rates of dense products and of reads follow from
/// the fake's clock.
bool is_always_skipped(const std::string& kernel) {
  return kernel == "fatune_device_gate" || kernel == "fatune_clock_span" ||
         kernel == "fatune_matmul_rate" || kernel == "fatune_read_memory";
}

/// Does what the launch does. Returns the resulting state of the context.
CUresult carry_out(const Launch& launch, void** arguments) {
  const std::string& kernel = launch.function->name;
  if (launch_hook() != nullptr) {
    launch_hook()(kernel.c_str(), arguments);
  } else if (runs_kernels() && !is_always_skipped(kernel)) {
    return run_emulated(launch, arguments);
  } else if (!runs_kernels() && integer_setting("FATUNE_FAKE_CHECKS", 1) != 0) {
    pretend_to_check(kernel, arguments);
  }
  return CUDA_SUCCESS;
}

void run(const Launch& launch, void** arguments) {
  const std::string& kernel = launch.function->name;
  const long long number = ++state().launches;
  state().profiled_launches += state().profiling ? 1 : 0;
  state().clock_us = state().clock_us + duration_us(kernel);
  {
    const std::lock_guard lock(state().mutex);
    state().grid = launch.grid;
  }
  const CUresult done = carry_out(launch, arguments);
  const CUresult scripted = scripted_kernel_error(number, kernel);
  state().context_error = scripted != CUDA_SUCCESS ? scripted : done;
}

CUresult launch_on_gpu(const Launch& launch, void** arguments) {
  if (!can_launch(launch)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  run(launch, arguments);
  return CUDA_SUCCESS;
}

#if !defined(FAKE_CUDA_OLD) && CUDA_VERSION >= 12000
std::array<unsigned, 3> cluster_in(const CUlaunchConfig& config) {
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    if (config.attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
      const auto& cluster = config.attrs[i].value.clusterDim;
      return {cluster.x, cluster.y, cluster.z};
    }
  }
  return {1, 1, 1};
}
#endif

/// A graph of one kernel with a single argument, an AttentionForwardArgs.
struct FakeGraph {
  Launch launch;
  AttentionForwardArgs argument{};
};

}  // namespace

extern "C" {

CUresult cuStreamCreate(CUstream* stream, unsigned) {
  FAKE_GATE("cuStreamCreate");
  return create<FakeStream>(stream);
}

CUresult cuStreamDestroy(CUstream stream) {
  destroy<FakeStream>(stream);
  FAKE_GATE("cuStreamDestroy");
  return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream) {
  FAKE_GATE("cuStreamSynchronize");
  return CUDA_SUCCESS;
}

CUresult cuStreamQuery(CUstream) {
  FAKE_GATE("cuStreamQuery");
  return CUDA_SUCCESS;
}

CUresult cuStreamIsCapturing(CUstream, CUstreamCaptureStatus* status) {
  FAKE_GATE("cuStreamIsCapturing");
  *status = integer_setting("FATUNE_FAKE_CAPTURES", 0) != 0 ? CU_STREAM_CAPTURE_STATUS_ACTIVE
                                                            : CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  thread_local CUstreamCaptureMode current = CU_STREAM_CAPTURE_MODE_GLOBAL;
  std::swap(*mode, current);
  return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent* event, unsigned) {
  FAKE_GATE("cuEventCreate");
  return create<FakeEvent>(event);
}

CUresult cuEventDestroy(CUevent event) {
  destroy<FakeEvent>(event);
  FAKE_GATE("cuEventDestroy");
  return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream) {
  FAKE_GATE("cuEventRecord");
  object<FakeEvent>(event) = {state().clock_us, true};
  return CUDA_SUCCESS;
}

CUresult cuEventSynchronize(CUevent) {
  FAKE_GATE("cuEventSynchronize");
  return CUDA_SUCCESS;
}

CUresult cuEventQuery(CUevent) {
  FAKE_GATE("cuEventQuery");
  return integer_setting("FATUNE_FAKE_BUSY", 0) != 0 ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

CUresult cuEventElapsedTime(float* ms, CUevent start, CUevent stop) {
  FAKE_GATE("cuEventElapsedTime");
  const FakeEvent& from = object<FakeEvent>(start);
  const FakeEvent& to = object<FakeEvent>(stop);
  if (!from.recorded || !to.recorded) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  *ms = static_cast<float>((to.at_us - from.at_us) / 1000.0);
  return CUDA_SUCCESS;
}

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  FAKE_GATE("cuModuleLoadData");
  const auto* bytes = static_cast<const unsigned char*>(image);
  if (std::memcmp(bytes, "\177ELF", 4) != 0) {
    return CUDA_ERROR_INVALID_IMAGE;
  }
  const CUresult result = create<FakeModule>(module);
  object<FakeModule>(*module).image.assign(bytes, bytes + elf_bytes(bytes));
  object<FakeModule>(*module).ptx = attached_ptx(bytes);
  return result;
}

CUresult cuModuleUnload(CUmodule module) {
  destroy<FakeModule>(module);
  FAKE_GATE("cuModuleUnload");
  return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  FAKE_GATE("cuModuleGetFunction");
  auto& loaded = object<FakeModule>(module);
  if (!loaded.has_kernel(name)) {
    return CUDA_ERROR_NOT_FOUND;
  }
  loaded.functions.push_back(std::make_unique<FakeFunction>());
  loaded.functions.back()->name = name;
  loaded.functions.back()->module = &loaded;
  *function = reinterpret_cast<CUfunction>(loaded.functions.back().get());
  return CUDA_SUCCESS;
}

CUresult cuFuncLoad(CUfunction) {
  FAKE_GATE("cuFuncLoad");
  return CUDA_SUCCESS;
}

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute which, CUfunction function) {
  FAKE_GATE("cuFuncGetAttribute");
  switch (which) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = 1024;
      break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      *value = 64;
      break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = object<FakeFunction>(function).max_dynamic_smem;
      break;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      *value = compute_capability();
      break;
    default:
      *value = 0;
  }
  return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute which, int value) {
  FAKE_GATE("cuFuncSetAttribute");
  if (which == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) {
    if (value > 232448) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    object<FakeFunction>(function).max_dynamic_smem = value;
  }
  return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction, int threads,
                                                     std::size_t) {
  FAKE_GATE("cuOccupancyMaxActiveBlocksPerMultiprocessor");
  *blocks = threads <= 0 ? 0 : 2048 / threads;
  return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned smem_bytes,
                        CUstream, void** arguments, void**) {
  FAKE_GATE("cuLaunchKernel");
  return launch_on_gpu({&object<FakeFunction>(function),
                        {grid_x, grid_y, grid_z},
                        {block_x, block_y, block_z},
                        smem_bytes},
                       arguments);
}

#if !defined(FAKE_CUDA_OLD) && CUDA_VERSION >= 12000
CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** arguments,
                          void**) {
  FAKE_GATE("cuLaunchKernelEx");
  return launch_on_gpu({&object<FakeFunction>(function),
                        {config->gridDimX, config->gridDimY, config->gridDimZ},
                        {config->blockDimX, config->blockDimY, config->blockDimZ},
                        config->sharedMemBytes,
                        cluster_in(*config)},
                       arguments);
}

// Libraries of kernels belong to no context. A kernel's handle is the handle of its function.
CUresult cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option*, void**, unsigned,
                           CUlibraryOption*, void**, unsigned) {
  FAKE_GATE("cuLibraryLoadData");
  return cuModuleLoadData(reinterpret_cast<CUmodule*>(library), code);
}

CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  FAKE_GATE("cuLibraryGetKernel");
  return cuModuleGetFunction(reinterpret_cast<CUfunction*>(kernel),
                             reinterpret_cast<CUmodule>(library), name);
}

CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  FAKE_GATE("cuKernelGetFunction");
  *function = reinterpret_cast<CUfunction>(kernel);
  return CUDA_SUCCESS;
}

CUresult cuKernelSetAttribute(CUfunction_attribute which, int value, CUkernel kernel, CUdevice) {
  FAKE_GATE("cuKernelSetAttribute");
  return cuFuncSetAttribute(reinterpret_cast<CUfunction>(kernel), which, value);
}

CUresult cuGraphKernelNodeSetAttribute(CUgraphNode, CUkernelNodeAttrID,
                                       const CUkernelNodeAttrValue*) {
  FAKE_GATE("cuGraphKernelNodeSetAttribute");
  return CUDA_SUCCESS;
}
#endif

#ifndef FAKE_CUDA_OLD
CUresult cuGraphCreate(CUgraph* graph, unsigned) {
  FAKE_GATE("cuGraphCreate");
  return create<FakeGraph>(graph);
}

CUresult cuGraphDestroy(CUgraph graph) {
  destroy<FakeGraph>(graph);
  FAKE_GATE("cuGraphDestroy");
  return CUDA_SUCCESS;
}

CUresult cuGraphAddKernelNode(CUgraphNode*, CUgraph graph, const CUgraphNode*, std::size_t,
                              const CUDA_KERNEL_NODE_PARAMS* params) {
  FAKE_GATE("cuGraphAddKernelNode");
  const Launch launch{&object<FakeFunction>(params->func),
                      {params->gridDimX, params->gridDimY, params->gridDimZ},
                      {params->blockDimX, params->blockDimY, params->blockDimZ},
                      params->sharedMemBytes};
  if (!can_launch(launch)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  object<FakeGraph>(graph) = {launch, argument<AttentionForwardArgs>(params->kernelParams, 0)};
  return CUDA_SUCCESS;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec* executable, CUgraph graph, unsigned long long) {
  FAKE_GATE("cuGraphInstantiateWithFlags");
  create<FakeGraph>(executable);
  object<FakeGraph>(*executable) = object<FakeGraph>(graph);
  return CUDA_SUCCESS;
}

CUresult cuGraphExecDestroy(CUgraphExec executable) {
  destroy<FakeGraph>(executable);
  FAKE_GATE("cuGraphExecDestroy");
  return CUDA_SUCCESS;
}

CUresult cuGraphLaunch(CUgraphExec executable, CUstream) {
  FAKE_GATE("cuGraphLaunch");
  auto& graph = object<FakeGraph>(executable);
  void* arguments[] = {&graph.argument};
  run(graph.launch, arguments);
  return CUDA_SUCCESS;
}
#endif

}  // extern "C"
