// Writes to a file what a profiler is told of ranges: README.md beside this file.
#include <nvtx3/nvToolsExt.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <string>

namespace {

std::mutex mutex;
std::map<nvtxRangeId_t, std::string> started;

void write(const std::string& line) {
  if (const char* const file = std::getenv("FATUNE_NVTX_LOG")) {
    std::ofstream(file, std::ios::app) << line + "\n";
  }
}

int push(const char* name) {
  write(std::string("push ") + name);
  return 0;
}

int pop() {
  write("pop");
  return 0;
}

nvtxRangeId_t start(const char* name) {
  const std::lock_guard lock(mutex);
  static nvtxRangeId_t last = 0;
  started[++last] = name;
  write(std::string("start ") + name);
  return last;
}

void end(nvtxRangeId_t id) {
  const std::lock_guard lock(mutex);
  write("end " + started[id]);
}

template <typename Function>
void replace(NvtxFunctionTable table, unsigned number, Function function) {
  *table[number] = reinterpret_cast<NvtxFunctionPointer>(function);
}

}  // namespace

extern "C" int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
  const auto* const tables =
      static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable core = nullptr;
  unsigned size = 0;
  if (tables == nullptr || tables->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &core, &size) == 0) {
    return 0;
  }
  replace(core, NVTX_CBID_CORE_RangePushA, push);
  replace(core, NVTX_CBID_CORE_RangePop, pop);
  replace(core, NVTX_CBID_CORE_RangeStartA, start);
  replace(core, NVTX_CBID_CORE_RangeEnd, end);
  return 1;
}
