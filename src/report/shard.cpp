#include "report/shard.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/text_parts.hpp"

namespace fatune {
namespace {

constexpr int kMostShards = 1'000'000;

[[noreturn]] void fail_shard(std::string_view text) {
  throw Error(ExitCode::usage, fmt::format("'{}' is not a shard", text), "--shard",
              fmt::format("a number from 1 to the count of shards, e.g. 3/8; at most {} shards",
                          kMostShards));
}

}  // namespace

std::string shard_text(const Shard& shard) {
  return fmt::format("{}/{}",
                     joined(shard.numbers, ",", [](int number) { return std::to_string(number); }),
                     shard.count);
}

Shard parse_shard(std::string_view text) {
  Shard shard;
  std::string_view count = text;
  std::string_view numbers = take_until(count, '/');
  shard.count = whole_number<int>(count).value_or(0);
  while (!numbers.empty()) {
    shard.numbers.push_back(whole_number<int>(take_until(numbers, ',')).value_or(0));
    if (shard.numbers.back() < 1 || shard.numbers.back() > shard.count) {
      fail_shard(text);
    }
  }
  if (shard.numbers.empty() || shard.count > kMostShards) {
    fail_shard(text);
  }
  return shard;
}

}  // namespace fatune
