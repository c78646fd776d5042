// Checks a library on this machine's GPU against a CPU reference.
//
//   verify [--device N] [--all | --tiny]   every tuned problem, not one in four; or only tiny ones
//   verify --select N [--seed S] [--gpu NAME] [--arch 90] [--sms 132]
//
// Exit code: 0 if everything is right, 1 if something is wrong, 2 if there is no GPU or no driver.
#include <cstring>
#include <thread>

#include "cases.hpp"
#include "sha256.hpp"
#include "trial.hpp"

using namespace fatune_attention;
using namespace example;

namespace {

struct Options {
  int device = 0;
  bool all = false;
  bool tiny = false;
  int selections = 0;
  std::uint64_t seed = 1;
  Device gpu;
};

/// An H200, unless options change it.
Device usual_gpu() {
  Device gpu;
  std::strcpy(gpu.name, "NVIDIA H200");
  gpu.arch = 90;
  gpu.sm_count = 132;
  gpu.max_threads_per_block = 1024;
  gpu.max_threads_per_sm = 2048;
  gpu.registers_per_sm = 65536;
  gpu.smem_per_block_optin_bytes = 232448;
  gpu.smem_per_sm_bytes = 233472;
  return gpu;
}

/// Returns false if there is no such option.
bool set_option(const std::string& name, const char* value, Options& options) {
  if (name == "--gpu") {
    std::snprintf(options.gpu.name, sizeof options.gpu.name, "%s", value);
    return true;
  }
  const long long number = std::atoll(value);
  if (name == "--seed") {
    options.seed = static_cast<std::uint64_t>(number);
    return true;
  }
  int* const place = name == "--device"   ? &options.device
                     : name == "--select" ? &options.selections
                     : name == "--arch"   ? &options.gpu.arch
                     : name == "--sms"    ? &options.gpu.sm_count
                                          : nullptr;
  if (place != nullptr) {
    *place = static_cast<int>(number);
  }
  return place != nullptr;
}

Options options_of(int count, char** arguments) {
  Options options;
  options.gpu = usual_gpu();
  for (int i = 1; i < count; ++i) {
    const std::string name = arguments[i];
    if (name == "--all" || name == "--tiny") {
      (name == "--all" ? options.all : options.tiny) = true;
    } else if (i + 1 == count || !set_option(name, arguments[++i], options)) {
      end_program(kWrong, "verify: no option " + name + ", or no value for it");
    }
  }
  return options;
}

int count_wrong_hashes() {
  const auto& kernels = detail::kTable.kernels;
  int wrong = 0;
  for (int i = 0; i < kernels.count; ++i) {
    const bool right = sha256_of(kernels[i].cubin, kernels[i].bytes) == kernels[i].sha256;
    wrong += right ? 0 : 1;
  }
  std::printf("%d of %d kernels have the machine code that was exported\n", kernels.count - wrong,
              kernels.count);
  return wrong;
}

struct Counts {
  int right = 0;
  int wrong = 0;
  int refused = 0;
};

void print_row(const Case& one, const Selection& chosen, const Verdict& verdict,
               const Result& result) {
  const std::string said = !result ? std::string(status_name(result.status)) + ": " + result.reason
                           : verdict.fault.empty() ? "right"
                                                   : verdict.fault;
  std::printf("%-50s  %-19s  %7zu rows  %5.2f  %s  %s\n", text_of(one).c_str(),
              step_name(chosen.step), verdict.rows, verdict.worst, said.c_str(), chosen.config);
  std::fflush(stdout);
}

void verify_one(const Case& one, const Device& device, void* stream, Counts& counts) {
  const Selection chosen = select(one.problem, strides_of(one), device);
  if (chosen.step == Step::refused) {
    std::printf("%-50s  refused: %s\n", text_of(one).c_str(), chosen.reason);
    ++counts.refused;
    return;
  }
  Result result;
  const Verdict verdict = verify(one, inputs_of(one.problem), stream, result);
  print_row(one, chosen, verdict, result);
  ++(result && verdict.fault.empty() ? counts.right : counts.wrong);
}

/// The cases that the library has a kernel for.
std::vector<Case> eligible(const std::vector<Case>& cases, const Device& device) {
  std::vector<Case> found;
  for (const Case& one : cases) {
    if (select(one.problem, strides_of(one), device).step != Step::refused) {
      found.push_back(one);
    }
  }
  return found;
}

/// Verifies the cases in several threads at once, each with its own stream and workspace.
int count_wrong_in_threads(const std::vector<Case>& cases, int device) {
  constexpr int kThreads = 2;
  std::vector<int> wrong(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      use_gpu(device);
      const Stream stream;
      for (const Case& one : cases) {
        Result result;
        const Verdict verdict = verify(one, inputs_of(one.problem), stream.get(), result);
        wrong[static_cast<std::size_t>(i)] += result && verdict.fault.empty() ? 0 : 1;
      }
    });
  }
  int sum = 0;
  for (int i = 0; i < kThreads; ++i) {
    threads[static_cast<std::size_t>(i)].join();
    sum += wrong[static_cast<std::size_t>(i)];
  }
  std::printf("%d threads with a stream each: %d of %zu problems wrong\n", kThreads, sum,
              kThreads * cases.size());
  return sum;
}

/// Captures a launch into a graph, and launches the graph twice, the second time with other lengths
/// of keys if they differ.
bool is_right_in_graph(const Case& one, void* stream) {
  Trial trial(one, inputs_of(one.problem), stream);
  if (!load(one.problem, trial.tensors())) {
    return false;
  }
  void* graph = nullptr;
  void* executable = nullptr;
  wait_for(stream);
  call("cuStreamBeginCapture_v2", stream, 0);
  const Result captured = trial.launch(false);
  call("cuStreamEndCapture", stream, &graph);
  call("cuGraphInstantiateWithFlags", &executable, graph, 0ULL);
  bool right = static_cast<bool>(captured);
  for (const std::size_t first : {0U, 1U}) {
    trial.set_lengths(first);
    trial.poison();
    call("cuGraphLaunch", executable, stream);
    right = trial.check().fault.empty() && right;
  }
  call("cuGraphExecDestroy", executable);
  call("cuGraphDestroy", graph);
  return right;
}

int count_wrong_in_graphs(const std::vector<Case>& cases, void* stream) {
  if (!has_function("cuStreamBeginCapture_v2")) {
    return 0;
  }
  int wrong = 0;
  for (const Case& one : cases) {
    wrong += is_right_in_graph(one, stream) ? 0 : 1;
  }
  std::printf("captured into CUDA graphs: %d of %zu problems wrong\n", wrong, cases.size());
  return wrong;
}

std::vector<Case> tuned_cases_of(const Options& options) {
  return options.tiny ? std::vector<Case>{} : tuned_cases(options.all ? 1 : 4);
}

/// Small problems. Those with packed sequences or pages are left out if the library has no kernel
/// for them: few libraries have one for each size of pages.
std::vector<Case> small_cases_of(const Options& options, const Device& device) {
  const auto reduced = [&](std::vector<Case> cases) {
    if (options.tiny) {
      std::transform(cases.begin(), cases.end(), cases.begin(), tiny);
    }
    return cases;
  };
  std::vector<Case> cases = reduced(small_cases());
  const std::vector<Case> served = eligible(reduced(served_cases()), device);
  cases.insert(cases.end(), served.begin(), served.end());
  return cases;
}

int verify_on_gpu(const Options& options) {
  use_gpu(options.device);
  Device device;
  if (const Result found = current_device(device); !found) {
    end_program(kNoGpu, found.reason);
  }
  std::printf("%s, compute capability %d.%d, %d SMs\n", device.name, device.arch / 10,
              device.arch % 10, device.sm_count);
  const Stream stream;
  Counts counts;
  const std::vector<Case> small = small_cases_of(options, device);
  for (const auto& cases : {tuned_cases_of(options), small}) {
    for (const Case& one : cases) {
      verify_one(one, device, stream.get(), counts);
    }
  }
  const std::vector<Case> launched = eligible(small, device);
  counts.wrong += count_wrong_in_threads(launched, options.device);
  counts.wrong += count_wrong_in_graphs(launched, stream.get());
  std::printf("%d right, %d wrong, %d refused\n", counts.right, counts.wrong, counts.refused);
  return counts.wrong == 0 && counts.right > 0 ? kRight : kWrong;
}

}  // namespace

int main(int count, char** arguments) {
  const Options options = options_of(count, arguments);
  if (options.selections > 0) {
    print_selections(options.selections, options.seed, options.gpu);
    return kRight;
  }
  const int wrong_hashes = count_wrong_hashes();
  const int code = verify_on_gpu(options);
  return wrong_hashes > 0 ? kWrong : code;
}
