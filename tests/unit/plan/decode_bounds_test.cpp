// The bounds in the family.json of flash_decode and of flash_decode_sm80, which know the sum of all
// lengths of keys and none of them, against what kernels/flash_decode/part_schedule.cuh computes
// from each.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include <fmt/format.h>

#include "model/kv_lengths.hpp"
#include "plan/config_text.hpp"
#include "plan/planner.hpp"
#include "unit/plan/plan_fixtures.hpp"

namespace fatune {
namespace {

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// The steps and parts of a sequence, for one tile of rows of one head.
struct DecodeWork {
  std::int64_t steps;
  std::int64_t parts;
};

DecodeWork work_of(const Problem& problem, std::int64_t keys, std::int64_t step_keys,
                   std::int64_t part_keys) {
  const std::int64_t unseen = keys - problem.seq_len - problem.window + 1;
  const std::int64_t first = problem.window > 0 ? std::max<std::int64_t>(0, unseen) / step_keys : 0;
  const std::int64_t steps = ceil_div(keys, step_keys) - first;
  return {steps, std::max<std::int64_t>(1, ceil_div(steps, part_keys / step_keys))};
}

TEST(KeyLengthsOfFamilies, AreTakenByThoseWithATensorForThem) {
  for (const char* name : {"flash_decode", "flash_decode_sm80", "flash_sm90"}) {
    EXPECT_TRUE(takes(load_family(FileTree{}, name).arguments, kToldKeyLengths)) << name;
  }
  EXPECT_FALSE(takes(load_family(FileTree{}, "flash_sm80").arguments, kToldKeyLengths));
}

/// shape: of a configuration, with {} for STEP_KEYS and PART_KEYS
void expect_bounds(const char* family_name, const char* shape) {
  const Family family = load_family(FileTree{}, family_name);
  std::mt19937_64 random(3);
  const auto below = [&](std::size_t end) { return static_cast<std::int64_t>(random() % end); };
  for (int i = 0; i < 2000; ++i) {
    const std::int64_t step_keys = 64 << below(2);
    const std::int64_t part_keys = step_keys << below(4);
    const Config config =
        parse_config(family, fmt::format(fmt::runtime(shape), step_keys, part_keys));
    Problem problem{1, 1 + below(9), 4, 64, DType::fp16, true};
    problem.kv_heads = 2;
    problem.window = below(2) == 0 ? 0 : 1 + below(300);
    problem.seq_len_kv = 1 + below(900);
    std::vector<std::int64_t> lengths;
    for (std::int64_t sequences = 1 + below(6); sequences > 0; --sequences) {
      lengths.push_back(below(4) == 0 ? 0
                                      : below(static_cast<std::size_t>(problem.seq_len_kv) + 1));
    }
    problem = with_kv_lengths(problem, lengths);
    const auto quantity = [&](const char* name) {
      return find_quantity({family, config, problem, fixtures::h200()}, name).value();
    };
    std::int64_t steps = 0;
    std::int64_t parts = 0;
    for (const std::int64_t keys : lengths) {
      const DecodeWork work = work_of(problem, keys, step_keys, part_keys);
      EXPECT_LE(static_cast<double>(work.steps), quantity("kv_steps")) << describe(problem);
      EXPECT_LE(static_cast<double>(work.parts), quantity("parts")) << describe(problem);
      steps += work.steps;
      parts += work.parts;
    }
    const double tiles = quantity("row_tiles") * 2.0;
    EXPECT_LE(static_cast<double>(steps) * tiles, quantity("all_steps")) << describe(problem);
    EXPECT_LE(static_cast<double>(parts) * tiles, quantity("all_parts")) << describe(problem);
    const double most = tiles * static_cast<double>(parts + problem.batch);
    EXPECT_TRUE(problem.window > 0 || quantity("all_parts") <= most) << describe(problem);
  }
}

/// quotient() of kernels/flash_decode/kernel_args.cuh, with the argument of family.json.
std::int64_t quotient(std::int64_t number, std::int64_t divisor) {
  const auto times_four = static_cast<std::uint32_t>(4 * number);
  const auto reciprocal = static_cast<std::uint64_t>(ceil_div(std::int64_t{1} << 30, divisor));
  return static_cast<std::int64_t>(times_four * reciprocal >> 32);
}

/// The greatest number that a valid problem divides, and those beside the multiples below it.
void expect_exact(double end, double by, const std::string& where) {
  const auto divisor = static_cast<std::int64_t>(std::max(1.0, by));
  const auto greatest = std::max<std::int64_t>(0, static_cast<std::int64_t>(end) - 1);
  const std::int64_t multiple = greatest / divisor * divisor;
  for (const std::int64_t number : {greatest, multiple, multiple - 1}) {
    EXPECT_TRUE(number < 0 || quotient(number, divisor) == number / divisor)
        << number << " / " << divisor << ": " << where;
  }
}

/// shape: of a configuration, with {} for PART_KEYS
void expect_exact_quotients(const char* family_name, const char* shape) {
  const Family family = load_family(FileTree{}, family_name);
  std::mt19937_64 random(5);
  const auto power = [&](unsigned most) { return std::int64_t{1} << random() % (most + 1); };
  int valid = 0;
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    const Config config = parse_config(family, fmt::format(fmt::runtime(shape), 64 * power(7)));
    Problem problem{power(12) + power(4), power(11) + power(3), 0, 64, DType::fp16, false};
    problem.kv_heads = power(7) + power(3) - 1;
    const auto group = static_cast<double>(power(3));
    problem.heads = problem.kv_heads * static_cast<std::int64_t>(group);
    problem.seq_len_kv = power(22);
    if (const auto why = check_valid(family, config, &problem, &fixtures::h200())) {
      EXPECT_EQ(why->rule, "parts-counted") << describe(problem);
      ++refused;
      continue;
    }
    const auto quantity = [&](const char* name) {
      return find_quantity({family, config, problem, fixtures::h200()}, name).value();
    };
    const double tiles = static_cast<double>(problem.batch * problem.kv_heads);
    const double rows = quantity("row_tiles");
    const double items = quantity("tile_items");
    const std::string where = describe(problem);
    expect_exact(quantity("all_parts"), rows, where);
    expect_exact(quantity("all_parts") / rows, static_cast<double>(problem.kv_heads), where);
    expect_exact(static_cast<double>(problem.batch) * quantity("parts"), quantity("parts"), where);
    expect_exact(tiles * rows * items, items, where);
    expect_exact(tiles * rows, static_cast<double>(problem.kv_heads), where);
    expect_exact(static_cast<double>(problem.batch) * rows, rows, where);
    expect_exact(quantity("kv_steps") + quantity("part_steps"), quantity("part_steps"), where);
    expect_exact(static_cast<double>(problem.seq_len) * group, group, where);
    ++valid;
  }
  EXPECT_GT(valid, 300);
  EXPECT_GT(refused, 300);
}

TEST(DecodeBounds, KeepQuotientsExact) {
  expect_exact_quotients("flash_decode", "(FP16, 64, 8, 64, 2, 1): parts_{}+shared_sums");
}

TEST(DecodeBounds, KeepQuotientsExactOnOlderDevicesToo) {
  expect_exact_quotients("flash_decode_sm80", "(FP16, 64, 16, 64, 2, 4, 1): parts_{}");
}

TEST(DecodeBounds, AreNeverExceeded) {
  expect_bounds("flash_decode", "(FP16, 64, 8, {}, 2, 1): parts_{}");
}

TEST(DecodeBounds, AreNeverExceededOnOlderDevicesEither) {
  expect_bounds("flash_decode_sm80", "(FP16, 64, 16, {}, 2, 4, 1): parts_{}");
}

}  // namespace
}  // namespace fatune
