#include "app/fleet/deliver.hpp"

#include <ctime>

#include <fmt/chrono.h>

#include "app/fleet/fleet_folder.hpp"
#include "app/scratch_folder.hpp"
#include "core/sha256.hpp"
#include "data/file_tree.hpp"
#include "emit/output_file.hpp"
#include "store/open_store.hpp"
#include "store/run_reader.hpp"

namespace fatune {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostStoreBytes = std::size_t{1} << 34;

ShardRecord record_of(const Shard& shard, ExitCode code) {
  ShardRecord record;
  record.number = shard.numbers.front();
  record.count = shard.count;
  record.fleet = shard.fleet;
  record.problems = std::ssize(shard.problems);
  record.exit_code = static_cast<int>(code);
  record.ended_at = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  return record;
}

}  // namespace

Delivery join_stores(const std::vector<fs::path>& stores, Mixture mixture) {
  const ScratchFolder scratch;
  const fs::path joined = scratch.path() / "joined.db";
  Delivery delivery;
  {
    Database target = open_store(joined, Database::Mode::create);
    delivery.stores = merge_stores(target, stores, mixture);
  }
  delivery.bytes = read_disk_file(joined, kMostStoreBytes);
  return delivery;
}

void deliver_shard(const StoreOptions& store, const Shard& shard, ExitCode code,
                   const fs::path& records) {
  ShardRecord record = record_of(shard, code);
  if (record.problems > 0) {
    const fs::path file = store_path(store.file);
    {
      Database database = open_store(file, Database::Mode::existing);
      record.finished = count_finished(database, shard);
    }
    const Delivery delivery = join_stores({file}, Mixture::grouped);
    record.database = shard_file_stem(record.number, record.count) + ".db";
    record.database_sha256 = sha256_hex(delivery.bytes);
    write_output_file(records / record.database, delivery.bytes);
  }
  write_record(records, record);
}

}  // namespace fatune
