// Arbitrary bytes as fleet.json: either they are a plan, or they give a bad_file error. Arbitrary
// bytes as a shard's record are a state of that shard. The first byte chooses between these.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "base/error.hpp"
#include "store/fleet_folder.hpp"
#include "unit/base/temp_folder.hpp"

namespace {

using namespace fatune;

constexpr int kMostShards = 100'000;

void plan(const fixtures::TempFolder& folder, std::string_view text) {
  folder.write("fleet.json", text);
  try {
    const FleetPlan plan = read_fleet(folder.path());
    if (plan.shards < 1 || plan.shards > kMostShards || plan.limit < 0) {
      std::abort();
    }
  } catch (const Error& error) {
    if (error.code() != ExitCode::bad_file) {
      std::abort();
    }
  }
}

void record(const fixtures::TempFolder& folder, std::string_view text) {
  folder.write("shards/1-of-1.json", text);
  const auto states = shard_states(folder.path(), {"fuzz", 1, 0});
  const bool delivers = !states.at(0).database.empty();
  if (states.size() != 1 ||
      (delivers && states[0].database != records_folder(folder.path()) / "1-of-1.db")) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const fixtures::TempFolder folder;
  [[maybe_unused]] static const std::filesystem::path store =
      folder.write("shards/1-of-1.db", "a store");
  if (size > 0) {
    const std::string_view text(reinterpret_cast<const char*>(bytes) + 1, size - 1);
    bytes[0] == 'f' ? plan(folder, text) : record(folder, text);
  }
  return 0;
}
