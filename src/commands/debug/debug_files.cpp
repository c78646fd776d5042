#include "commands/debug/debug.hpp"

#include <algorithm>
#include <cctype>
#include <vector>

#include "attention/cpu_reference.hpp"
#include "emit/npy.hpp"
#include "emit/output_file.hpp"

namespace fatune {
namespace {

namespace fs = std::filesystem;

std::string file_name(StepTensor tensor, const char* source) {
  std::string name(enum_name(tensor));
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name + "_" + source + ".npy";
}

void write_input(const fs::path& path, const HeadProblem& head,
                 const std::vector<std::uint16_t>& elements) {
  std::vector<double> values(elements.size());
  std::ranges::transform(elements, values.begin(),
                         [&](std::uint16_t bits) { return element_value(bits, head.dtype); });
  write_output_file(path, npy_float32({head.seq_len, head.d_head}, values));
}

void write_tensor(const fs::path& folder, const DebugFiles& files, StepTensor tensor) {
  const std::vector<std::int64_t> shape = tensor_shape(files.head, tensor);
  write_output_file(folder / file_name(tensor, "float64"),
                    npy_float64(shape, files.comparison.float64.of(tensor)));
  write_output_file(folder / file_name(tensor, "16bit"),
                    npy_float32(shape, files.comparison.sixteen_bit.of(tensor)));
  const bool shown = files.kernel && (files.kernel->has_steps || tensor == StepTensor::output);
  if (shown) {
    write_output_file(folder / file_name(tensor, "kernel"),
                      npy_float32(shape, files.kernel->values.of(tensor)));
  }
}

}  // namespace

void write_debug_files(const fs::path& folder, const DebugFiles& files,
                       const std::string& report_json) {
  write_input(folder / "q.npy", files.head, files.inputs.q);
  write_input(folder / "k.npy", files.head, files.inputs.k);
  write_input(folder / "v.npy", files.head, files.inputs.v);
  for (const StepTensor tensor : kStepTensors) {
    write_tensor(folder, files, tensor);
  }
  write_tensor(folder, files, StepTensor::output);
  write_output_file(folder / kDebugJson, report_json);
}

}  // namespace fatune
