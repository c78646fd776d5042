// Any bytes given as fleet.json either are a plan or are answered with a bad_file error. Any bytes
// given as a shard's record are a state of that shard. The first byte chooses.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <unistd.h>

#include "app/fleet/fleet_folder.hpp"
#include "core/error.hpp"

namespace {

using namespace fatune;

constexpr int kMostShards = 100'000;

/// A fleet's folder whose files are rewritten for every input.
class FleetFolder {
 public:
  FleetFolder()
      : path_(std::filesystem::temp_directory_path() /
              ("fatune_fuzz_fleet_" + std::to_string(getpid()))) {
    std::filesystem::create_directories(records_folder(path_));
    write("shards/1-of-1.db", "a store");
  }
  ~FleetFolder() { std::filesystem::remove_all(path_); }
  FleetFolder(const FleetFolder&) = delete;
  FleetFolder& operator=(const FleetFolder&) = delete;
  FleetFolder(FleetFolder&&) = delete;
  FleetFolder& operator=(FleetFolder&&) = delete;

  void write(const std::string& name, std::string_view bytes) const {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

void plan(const FleetFolder& folder, std::string_view text) {
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

void record(const FleetFolder& folder, std::string_view text) {
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
  static const FleetFolder folder;
  if (size > 0) {
    const std::string_view text(reinterpret_cast<const char*>(bytes) + 1, size - 1);
    bytes[0] == 'f' ? plan(folder, text) : record(folder, text);
  }
  return 0;
}
