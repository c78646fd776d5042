#include "commands/merge.hpp"

#include <system_error>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "cli/subcommands.hpp"
#include "core/ranges.hpp"
#include "emit/list_reports.hpp"
#include "store/merge.hpp"
#include "store/open_store.hpp"

namespace fatune {
namespace {

MergedStoreRow merged_row(const MergedStore& store) {
  return {store.file.string(),       store.added,   store.renewed, store.known,
          std::ssize(store.damaged), store.outcomes};
}

void warn_of_damage(const MergedStore& store) {
  for (const std::int64_t run : store.damaged) {
    spdlog::warn("run {} of {} is damaged, and left out", run, store.file.string());
  }
}

/// A shard without problems leaves a store without runs; a copy that failed leaves an empty file.
void say_if_empty(const MergedStore& store, const OutputOptions& output) {
  std::error_code ignored;
  if (std::filesystem::file_size(store.file, ignored) == 0) {
    spdlog::warn("{} has 0 bytes, and so no runs: was it copied whole?", store.file.string());
  } else if (store.added + store.renewed + store.known + std::ssize(store.damaged) == 0) {
    print_note(output, fmt::format("{} has no runs", store.file.string()));
  }
}

struct MergeOptions {
  std::filesystem::path target;
  std::vector<std::filesystem::path> stores;
  bool grouped = false;  ///< accept several GPU models, drivers or policies
  OutputOptions output;
};

/// Merges the stores into the target: either all of them or none.
ExitCode merge(const MergeOptions& options) {
  Database target = open_store(options.target, Database::Mode::create);
  print_merged(
      merge_stores(target, options.stores, options.grouped ? Mixture::grouped : Mixture::refused),
      options.output);
  return ExitCode::ok;
}

}  // namespace

void print_merged(const std::vector<MergedStore>& stores, const OutputOptions& output) {
  for (const MergedStore& store : stores) {
    warn_of_damage(store);
    say_if_empty(store, output);
  }
  print_document(merge_document(mapped(stores, merged_row)), output);
}

void add_merge_command(const Subcommands& all) {
  const auto [sub, options] = add_subcommand(
      all, "merge", "Join stores of measurements, e.g. those of a sweep's shards", merge);
  add_path_option(sub, "TARGET", "FILE",
                  "database that gets the runs; it is created if it is missing", options.target)
      ->required();
  add_paths(sub, "DB", "FILE", "databases to copy the runs from; they stay as they are",
            options.stores)
      ->required();
  sub.add_flag("--grouped", options.grouped,
               "also runs of several GPU models, drivers or policies; they stay separate runs");
  add_output_options(sub, options.output);
  sub.footer(R"(Examples:
  fatune merge all.db shard-1.db shard-2.db
  fatune history --db all.db
  fatune report last --db all.db --out all.html)");
}

}  // namespace fatune
