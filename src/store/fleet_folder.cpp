#include "store/fleet_folder.hpp"

#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/descriptor.hpp"
#include "base/file_tree.hpp"
#include "base/json_file.hpp"
#include "base/members.hpp"
#include "base/sha256.hpp"
#include "print/document/document.hpp"
#include "print/files.hpp"
#include "store/open_store.hpp"
#include "store/run_reader.hpp"

namespace fatune {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFleetFile = "fleet.json";
constexpr const char* kFleetSchema = "fleet";
constexpr const char* kShardSchema = "shard";
constexpr std::size_t kMostDatabaseBytes = std::size_t{1} << 34;

/// The record that a shard writes when it has ended: shards/<number>-of-<count>.json.
struct ShardRecord {
  int number = 1;
  int count = 1;
  std::string fleet;
  std::int64_t problems = 0;  ///< how many the shard has
  std::int64_t finished = 0;  ///< how many of its problems are finished
  int exit_code = 0;
  std::string database;         ///< file beside the record; empty: the shard has no problems
  std::string database_sha256;  ///< the hash of the shard's database file
  std::string ended_at;         ///< ISO 8601, UTC
};

FATUNE_MEMBERS(FleetPlan, name, shards, limit)
FATUNE_MEMBERS(ShardRecord, number, count, fleet, problems, finished, exit_code, database,
               database_sha256, ended_at)

/// `format`: the format of the file, which is also the name of its schema.
template <typename Value>
void write_file(const fs::path& file, const char* format, const Value& value) {
  Json json = json_head(format);
  visit_members(value, [&](const MemberInfo& info, const auto& member) {
    json[std::string(info.name)] = member;
  });
  write_output_file(file, json_text(json));
}

template <typename Value>
Value read_file(const fs::path& file, const char* schema) {
  const JsonFile json = load_json_from_disk(FileTree(), file, schema);
  Value value;
  visit_members(value, [&](const MemberInfo& info, auto& member) {
    json.root().at(std::string(info.name)).raw().get_to(member);  // the schema limits the numbers
  });
  return value;
}

/// "3-of-8": the name of a shard's files.
std::string shard_file_stem(int number, int count) {
  return fmt::format("{}-of-{}", number, count);
}

/// Returns why the record's database cannot be used. Empty: it can, or there is none.
std::string database_fault(const fs::path& records, const ShardRecord& record) {
  if (record.database.empty()) {
    return {};
  }
  // A record may only name a file in its own folder.
  const fs::path file = records / fs::path(record.database).filename();
  if (!fs::exists(file)) {
    return "its database is gone";
  }
  return sha256_hex(read_disk_file(file, kMostDatabaseBytes)) == record.database_sha256
             ? std::string()
             : "its database is damaged";
}

std::string why_not_done(const ShardRecord& record, const ShardState& state,
                         const FleetPlan& plan) {
  if (record.fleet != plan.name || record.count != plan.shards || record.number != state.number) {
    return "its record is from another fleet";
  }
  return record.finished == record.problems
             ? std::string()
             : fmt::format("{} of its {} problems are finished", record.finished, record.problems);
}

ShardState shard_state(const fs::path& records, int number, const FleetPlan& plan) {
  ShardState state{.number = number, .lacks = "it has not ended", .exit_code = {}, .database = {}};
  const fs::path file = records / (shard_file_stem(number, plan.shards) + ".json");
  if (!fs::exists(file)) {
    return state;
  }
  try {
    const ShardRecord record = read_file<ShardRecord>(file, kShardSchema);
    state.exit_code = record.exit_code;
    state.lacks = database_fault(records, record);
    if (state.lacks.empty() && !record.database.empty()) {
      state.database = records / fs::path(record.database).filename();
    }
    if (state.lacks.empty()) {
      state.lacks = why_not_done(record, state, plan);
    }
  } catch (const Error& error) {
    state.lacks = "its record cannot be read: " + error.what_was_wrong();
  }
  return state;
}

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

void write_fleet(const fs::path& folder, const FleetPlan& plan) {
  write_file(folder / kFleetFile, kFleetSchema, plan);
}

FleetPlan read_fleet(const fs::path& folder) {
  return read_file<FleetPlan>(folder / kFleetFile, kFleetSchema);
}

std::vector<ShardState> shard_states(const fs::path& folder, const FleetPlan& plan) {
  return mapped(std::views::iota(1, plan.shards + 1),
                [&](int number) { return shard_state(records_folder(folder), number, plan); });
}

Delivery join_stores(const std::vector<fs::path>& stores, Mixture mixture) {
  const ScratchFolder scratch;
  const fs::path joined = scratch.path() / "joined.db";
  Delivery delivery;
  {
    Database target = open_store(joined, Database::Mode::create);
    delivery.stores = merge_stores(target, stores, mixture);
  }
  delivery.bytes = read_disk_file(joined, kMostDatabaseBytes);
  return delivery;
}

void deliver_shard(const StoreOptions& store, const Shard& shard, ExitCode code,
                   const fs::path& records) {
  ShardRecord record = record_of(shard, code);
  const std::string stem = shard_file_stem(record.number, record.count);
  if (record.problems > 0) {
    const fs::path file = store_path(store.file);
    {
      Database database = open_store(file, Database::Mode::existing);
      record.finished = count_finished(database, shard);
    }
    const Delivery delivery = join_stores({file}, Mixture::grouped);
    record.database = stem + ".db";
    record.database_sha256 = sha256_hex(delivery.bytes);
    write_output_file(records / record.database, delivery.bytes);
  }
  write_file(records / (stem + ".json"), kShardSchema, record);
}

}  // namespace fatune
