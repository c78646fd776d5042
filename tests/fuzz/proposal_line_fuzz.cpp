// Arbitrary bytes as a line of proposals (docs/evaluate.md): either they become a configuration
// with a value for each parameter, or they give a usage error. In both cases their id is JSON.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "commands/evaluate/lines.hpp"
#include "model/device_limits.hpp"
#include "plan/planner.hpp"

namespace {

using namespace fatune;

void read(std::string_view line) {
  static const Family flash = load_family(FileTree{}, "flash_sm80");
  static const DeviceLimits limits = load_device_limits(FileTree{}, Arch{90, 'a'});
  const Problem problem{16, 4096, 16, 128, DType::fp16, false};
  const ProposalLine proposal = read_proposal(flash, problem, line);
  if (proposal.config.values.size() != flash.parameters.size() ||
      proposal.id != proposal_id(line)) {
    std::abort();
  }
  (void)check_valid(flash, proposal.config, &problem, &limits);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(bytes), size);
  if (!nlohmann::json::accept(proposal_id(line))) {
    std::abort();
  }
  try {
    read(line);
  } catch (const Error& error) {
    if (error.code() != ExitCode::usage) {
      std::abort();
    }
  }
  return 0;
}
