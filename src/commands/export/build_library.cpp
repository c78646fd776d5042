#include "commands/export/build_library.hpp"

#include <map>
#include <utility>

#include <fmt/format.h>

#include "app/artifacts/compile_batch.hpp"
#include "app/console/console.hpp"
#include "app/run/session.hpp"
#include "compile/compiler.hpp"
#include "core/error.hpp"
#include "core/sha256.hpp"
#include "library/family_code.hpp"
#include "library/kernel_cases.hpp"
#include "library/kernel_key.hpp"
#include "plan/planner.hpp"
#include "plan/scope.hpp"
#include "tuned/runtime_table.hpp"

namespace fatune {
namespace {

/// The kernels of one configuration, and the compile request of each, in the same order.
struct Wanted {
  LibraryConfig config;
  std::vector<CompileRequest> requests;
};

Wanted wanted_kernels(const TunedTable& table, const Family& family, const Config& config) {
  Wanted wanted{{config, {}}, {}};
  std::map<std::vector<double>, KernelCase> by_key;
  for (const KernelCase& one : kernel_cases(table, config)) {
    if (!check_valid(family, config, &one.problem, one.device)) {
      by_key.emplace(kernel_key(family, config, one.problem, *one.device), one);
    }
  }
  for (const auto& [key, one] : by_key) {
    wanted.config.kernels.push_back({key, 0});
    wanted.requests.push_back(
        compile_request(family, config, one.problem, one.device->arch, *one.device));
  }
  return wanted;
}

/// Machine code by its hash, so that equal code is stored once.
class Codes {
 public:
  std::size_t add(const std::shared_ptr<const CompileResult>& result, Arch arch) {
    const std::shared_ptr<const Artifact> artifact(result, &std::get<Artifact>(*result));
    const std::string hash = sha256_hex({artifact->cubin.data(), artifact->cubin.size()});
    const auto [known, is_new] = indices_.try_emplace(hash, codes_.size());
    if (is_new) {
      codes_.push_back({artifact, hash, arch});
    }
    return known->second;
  }
  [[nodiscard]] std::vector<LibraryCode> take() && { return std::move(codes_); }

 private:
  std::map<std::string, std::size_t> indices_;
  std::vector<LibraryCode> codes_;
};

void check_exportable(const Family& family) {
  if (needs_resident_blocks(family)) {
    throw Error(ExitCode::bad_file,
                fmt::format("launches of {} depend on {}, which exported libraries do not know",
                            family.name, kResidentBlocks),
                family.file, "choose other families with --family");
  }
}

void check_compiled(const CompileRequest& request,
                    const std::shared_ptr<const CompileResult>& result) {
  if (result == nullptr) {
    throw Error(ExitCode::interrupted, "interrupted: nothing was exported");
  }
  if (const std::string* log = failure_log(*result)) {
    throw Error(ExitCode::failed_outcomes, "a kernel of the library does not compile",
                request.label, *log);
  }
}

}  // namespace

Library build_library(const TunedTable& table, const FamilySet& families,
                      const CompileSettings& settings, const OutputOptions& output) {
  Library library{families, table, {}, {}};
  std::vector<CompileRequest> requests;
  const RuntimeTable runtime_table(table);
  for (const Config* config : runtime_table.configs()) {
    check_exportable(families.of(*config));
    Wanted wanted = wanted_kernels(table, families.of(*config), *config);
    library.configs.push_back(std::move(wanted.config));
    std::ranges::move(wanted.requests, std::back_inserter(requests));
  }
  print_note(output, fmt::format("compiling {} kernels of {} configurations", requests.size(),
                                 library.configs.size()));
  const auto results = compile_all(requests, settings, open_cache(settings).get());
  Codes codes;
  std::size_t next = 0;
  for (LibraryConfig& config : library.configs) {
    for (BuiltKernel& kernel : config.kernels) {
      check_compiled(requests[next], results[next]);
      kernel.code = codes.add(results[next], requests[next].arch);
      ++next;
    }
  }
  library.codes = std::move(codes).take();
  return library;
}

}  // namespace fatune
