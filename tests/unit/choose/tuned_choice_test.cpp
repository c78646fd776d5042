// Compares the choice with a straightforward reference that makes one pass over the table for each
// step.
#include "choose/tuned_choice.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <tuple>

#include "choose/tuned_table.hpp"
#include "model/kv_lengths.hpp"
#include "unit/choose/table_samples.hpp"

namespace fatune {
namespace {

using samples::gpu;
using samples::problem;
using samples::row;

TunedChoice choose(const TunedTable& table, const Problem& wanted,
                   const DeviceLimits& device = gpu()) {
  return choose_tuned(table, wanted, device, samples::anything_goes());
}

TEST(TunedChoice, TakesTheTunedProblemItself) {
  const TunedTable table =
      samples::table({row(problem(512), {{1, 1.0}}), row(problem(500), {{2, 1.0}})});
  Problem scaled = problem(512);
  scaled.softmax_scale = 2.0F;
  EXPECT_EQ(choose(table, scaled).step, ChoiceStep::exact);
  EXPECT_EQ(choose(table, scaled).short_form, "c1");
  EXPECT_EQ(choose(table, problem(511)).step, ChoiceStep::same_bucket);
  EXPECT_EQ(choose(table, problem(511)).short_form, "c1");
  EXPECT_EQ(choose(table, problem(505)).short_form, "c2");
}

TEST(TunedChoice, PrefersANeighbourOnThisGpuToTheSameOnAnother) {
  const TunedTable table =
      samples::table({row(problem(1024), {{1, 1.0}}), row(problem(512), {{2, 1.0}}, gpu("GPU B"))});
  const TunedChoice choice = choose(table, problem(512));
  EXPECT_EQ(choice.step, ChoiceStep::neighbour_bucket);
  EXPECT_EQ(choice.short_form, "c1");
  const TunedChoice on_c = choose(table, problem(512), gpu("GPU C"));
  EXPECT_EQ(on_c.step, ChoiceStep::same_arch);
  EXPECT_EQ(on_c.short_form, "c2");
}

TEST(TunedChoice, TakesTheNearestFarFromAllRowsAndThatOfItsMaskBefore) {
  const TunedTable table =
      samples::table({row(problem(512), {{1, 1.0}}), row(problem(512, 16, true), {{2, 1.0}}),
                      row(problem(4096), {{3, 1.0}})});
  const TunedChoice far = choose(table, problem(65536));
  EXPECT_EQ(far.step, ChoiceStep::nearest);
  EXPECT_EQ(far.short_form, "c3");
  EXPECT_EQ(choose(table, problem(128, 1, true)).short_form, "c2");
  EXPECT_EQ(choose(table, problem(512, 1, true)).step, ChoiceStep::nearest);
  Problem window = problem(4096);
  window.window = 1000;
  EXPECT_EQ(choose(table, window).step, ChoiceStep::nearest);
  EXPECT_EQ(choose(table, window).short_form, "c3");
  EXPECT_NE(choose(table, window).untuned, "");
}

TEST(TunedChoice, TakesTheNearestOfAllGpusAndOfEquallyNearOnesThatOfThisGpu) {
  const TunedTable table =
      samples::table({row(problem(512), {{1, 1.0}}), row(problem(1024), {{2, 1.0}}, gpu("GPU B")),
                      row(problem(512), {{3, 1.0}}, gpu("GPU B"))});
  const TunedChoice choice = choose(table, problem(8192), gpu());
  EXPECT_EQ(choice.step, ChoiceStep::nearest);
  EXPECT_EQ(choice.short_form, "c2");
  EXPECT_EQ(choose(table, problem(64), gpu()).short_form, "c1");
  EXPECT_EQ(choose(table, problem(64), gpu("GPU B")).short_form, "c3");
}

TEST(TunedChoice, FallsBackToTheDefaultOfItsMask) {
  const TunedTable table =
      samples::table({row(problem(512), {{1, 1.0}}), row(problem(512, 16, true), {{2, 1.0}})});
  Problem other = problem(512, 16, true);
  other.d_head_v = 128;
  const TunedChoice choice = choose(table, other);
  EXPECT_EQ(choice.step, ChoiceStep::fallback);
  EXPECT_EQ(choice.short_form, "c2");
  EXPECT_FALSE(choice.row);
  EXPECT_EQ(choose(table, problem(512), gpu("GPU D", {80, '\0'})).step, ChoiceStep::fallback);
}

TEST(TunedChoice, PassesOverWhatIsNotEligible) {
  const TunedTable table =
      samples::table({row(problem(512), {{1, 1.0}, {2, 2.0}}), row(problem(1024), {{3, 1.0}})});
  const auto without = [&](int most) {
    return choose_tuned(
        table, problem(512), gpu(),
        [most](const Config& config, const Problem&, const DeviceLimits&) {
          return config.values[0] <= most
                     ? std::optional<std::string>("no " + std::to_string(config.values[0]))
                     : std::nullopt;
        });
  };
  EXPECT_EQ(without(1).short_form, "c2");
  EXPECT_EQ(without(1).step, ChoiceStep::exact);
  EXPECT_EQ(without(2).short_form, "c3");
  EXPECT_EQ(without(2).step, ChoiceStep::neighbour_bucket);
  EXPECT_EQ(without(3).step, ChoiceStep::refused);
  EXPECT_EQ(without(3).refusal, "no 1");
}

TEST(TunedChoice, IsAskedAboutLengthsAsAnExportedLibraryKnowsThem) {
  const TunedTable table =
      samples::table({row(problem(512), {{1, 1.0}, {2, 2.0}}), row(problem(1024), {{3, 1.0}})});
  Problem wanted = problem(512);
  wanted.seq_lens_kv = "zipf:1-512:1:0";
  std::vector<Problem> asked;
  const TunedChoice choice = choose_tuned(
      table, wanted, gpu(), [&](const Config& config, const Problem& about, const DeviceLimits&) {
        asked.push_back(about);
        return config.values[0] == 1 ? std::optional<std::string>("takes none") : std::nullopt;
      });
  EXPECT_EQ(choice.short_form, "c2");
  EXPECT_EQ(asked.size(), 2U);
  EXPECT_EQ(asked.front(), with_unknown_kv_lengths(wanted));
}

TEST(TunedChoice, IsRefusedByAnEmptyTable) {
  EXPECT_EQ(choose(TunedTable(), problem(512)).refusal, "the table is empty");
}

/// 32 heads that decode, in groups of 4.
Problem decoding(DType kv_dtype, KvScales kv_scales = KvScales::tensor) {
  Problem one{8, 1, 32, 64, DType::fp16, false};
  one.seq_len_kv = 4096;
  one.kv_heads = 8;
  one.kv_dtype = kv_dtype;
  one.kv_scales = kv_scales;
  return one;
}

TEST(TunedChoice, IsMadeByRowsWithTheSameTypeOfKAndV) {
  const TunedTable table = samples::table({row(decoding(DType::fp16), {{1, 10.0}}),
                                           row(decoding(DType::e4m3), {{2, 6.0}}),
                                           row(decoding(DType::e5m2), {{3, 5.0}})});
  EXPECT_EQ(choose(table, decoding(DType::fp16)).short_form, "c1");
  EXPECT_EQ(choose(table, decoding(DType::e4m3)).step, ChoiceStep::exact);
  EXPECT_EQ(choose(table, decoding(DType::e4m3)).short_form, "c2");
  EXPECT_EQ(choose(table, decoding(DType::e4m3, KvScales::head)).step, ChoiceStep::same_bucket);
  EXPECT_EQ(choose(table, decoding(DType::e4m3, KvScales::head)).short_form, "c2");
  EXPECT_EQ(choose(table, decoding(DType::e5m2)).short_form, "c3");
  Problem far = decoding(DType::e4m3);
  far.seq_len_kv = 65536;
  EXPECT_EQ(choose(table, far).short_form, "c2");
  far.d_head = far.d_head_v = 128;
  EXPECT_EQ(choose(table, far).step, ChoiceStep::fallback);
  EXPECT_EQ(choose(table, far).short_form, "c2");
}

TEST(TunedChoice, IsRefusedWithoutRowsWithTheTypeOfKAndV) {
  const TunedTable sixteen = samples::table({row(decoding(DType::fp16), {{1, 10.0}})});
  const TunedChoice refused = choose(sixteen, decoding(DType::e4m3));
  EXPECT_EQ(refused.step, ChoiceStep::refused);
  EXPECT_EQ(refused.refusal, "no tuned problem has K and V in E4M3 with scales of heads or all");
  const TunedTable eight = samples::table({row(decoding(DType::e4m3), {{1, 10.0}})});
  EXPECT_EQ(choose(eight, decoding(DType::e4m3, KvScales::token)).refusal,
            "no tuned problem has K and V in E4M3 with scales of each key");
  EXPECT_EQ(choose(eight, decoding(DType::fp16)).refusal,
            "no tuned problem has K and V of 16 bits");
}

class Random {
 public:
  template <typename Item>
  Item one_of(std::initializer_list<Item> items) {
    return *(items.begin() + static_cast<std::ptrdiff_t>(below(items.size())));
  }
  std::size_t below(std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(engine_);
  }
  Problem any_problem() {
    Problem any{one_of<std::int64_t>({1, 2, 5, 16}),
                1,
                8,
                one_of<std::int64_t>({64, 128}),
                one_of({DType::fp16, DType::bf16}),
                below(2) == 0};
    any.seq_len = one_of<std::int64_t>({1, 100, 363, 512, 724, 725, 1000, 4096, 9000});
    any.seq_len_kv = below(3) == 0 ? one_of<std::int64_t>({100, 600, 2000}) : any.seq_len;
    any.kv_heads = one_of<std::int64_t>({8, 4, 1});
    any.d_head_v = any.d_head;
    any.window = below(4) == 0 ? one_of<std::int64_t>({64, 200}) : 0;
    any.lse = below(4) == 0;
    any.layout = below(4) == 0 ? Layout::bhsd : Layout::bshd;
    return any;
  }
  DeviceLimits any_gpu() {
    return gpu(one_of<std::string>({"GPU A", "GPU B", "GPU C"}),
               one_of<Arch>({{90, 'a'}, {90, 'a'}, {80, '\0'}}));
  }

 private:
  std::mt19937 engine_{2026};
};

TunedTable random_table(Random& random) {
  std::vector<TunedProblem> rows;
  for (int i = 0; i < 300; ++i) {
    const int first = static_cast<int>(random.below(40));
    rows.push_back(row(random.any_problem(), {{first, 10.0}, {first + 1, 11.0}, {first + 2, 12.0}},
                       random.any_gpu()));
    rows.back().times[1].config.family = "g";
  }
  return samples::table(std::move(rows));
}

/// A rule without a pattern. A third of all is not eligible. "g" is not for bhsd, and "f" is not
/// for sm_80.
std::optional<std::string> odd_rule(const Config& config, const Problem& wanted,
                                    const DeviceLimits& device) {
  const bool odd = (config.values[0] * 7 + wanted.seq_len + wanted.batch) % 3 == 0;
  const bool wrong = config.family == "g" ? wanted.layout == Layout::bhsd : device.arch.sm == 80;
  return odd || wrong ? std::optional<std::string>("it is so") : std::nullopt;
}

/// The integer k with 2^(k - 1/2) <= value < 2^(k + 1/2).
int nearest_power(double value) {
  int power = -40;
  while (value * value >= std::exp2(2 * power + 1)) {
    ++power;
  }
  return power;
}

struct Reference {
  const TunedTable& table;
  const Problem& wanted;
  const DeviceLimits& device;

  std::optional<const TunedTime*> best_eligible(const TunedProblem& tuned) const {
    for (const TunedTime& time : tuned.times) {
      if (!odd_rule(time.config, wanted, device)) {
        return &time;
      }
    }
    return std::nullopt;
  }

  static std::int64_t keys_seen(const Problem& p) {
    return p.window == 0 ? p.seq_len_kv : std::min(p.seq_len_kv, p.window + p.seq_len - 1);
  }
  static bool is_few(const Problem& p) { return p.seq_len <= 128 && p.seq_len * 8 <= keys_seen(p); }
  static double packed_rows(const Problem& p) {
    double rows = 8.0;
    while (rows < double(p.seq_len * p.heads / p.kv_heads)) {
      rows *= 2.0;
    }
    return rows;
  }

  static std::vector<double> extents(const Problem& p, int sms) {
    if (is_few(p)) {
      return {packed_rows(p), double(keys_seen(p)),
              double(p.batch * p.kv_heads * keys_seen(p)) / sms, p.lse ? 2.0 : 1.0,
              p.layout == Layout::bhsd ? 2.0 : 1.0};
    }
    return {double(p.seq_len),
            double(p.seq_len_kv),
            double(p.batch * p.heads) / sms,
            double(p.heads / p.kv_heads),
            double(std::max<std::int64_t>(p.window, 1)),
            p.lse ? 2.0 : 1.0,
            p.layout == Layout::bhsd ? 2.0 : 1.0};
  }

  int masks_apart(const Problem& p) const {
    return is_few(p)
               ? 0
               : int(p.causal != wanted.causal) + int((p.window == 0) != (wanted.window == 0));
  }
  /// The buckets of each extent between a row and the problem.
  std::vector<int> steps_apart(const TunedProblem& tuned) const {
    const auto a = extents(tuned.problem, tuned.gpu.sm_count);
    const auto b = extents(wanted, device.sm_count);
    std::vector<int> steps;
    for (std::size_t i = 0; i < a.size(); ++i) {
      steps.push_back(std::abs(nearest_power(a[i]) - nearest_power(b[i])));
    }
    steps[0] *= is_few(wanted) && a[0] < b[0] ? 2 : 1;
    return steps;
  }

  std::pair<int, double> distance(const TunedProblem& tuned) const {
    const auto a = extents(tuned.problem, tuned.gpu.sm_count);
    const auto b = extents(wanted, device.sm_count);
    const std::vector<int> steps = steps_apart(tuned);
    std::pair<int, double> sum{masks_apart(tuned.problem), 0.0};
    for (std::size_t i = 0; i < a.size(); ++i) {
      sum.first += steps[i];
      sum.second += std::abs(std::log2(a[i]) - std::log2(b[i]));
    }
    return sum;
  }

  ChoiceStep step(const TunedProblem& tuned) const {
    const Problem& p = tuned.problem;
    const bool alike =
        p.dtype == wanted.dtype && p.d_head == wanted.d_head && is_few(p) == is_few(wanted);
    if (!alike || tuned.gpu.arch != device.arch) {
      return ChoiceStep::refused;
    }
    if (masks_apart(p) > 0 || std::ranges::max(steps_apart(tuned)) > 1) {
      return ChoiceStep::nearest;
    }
    if (tuned.gpu.name != device.name) {
      return ChoiceStep::same_arch;
    }
    return p == wanted                  ? ChoiceStep::exact
           : distance(tuned).first == 0 ? ChoiceStep::same_bucket
                                        : ChoiceStep::neighbour_bucket;
  }

  struct Candidate {
    const TunedProblem* row;
    ChoiceStep step;
    std::pair<int, double> distance;
    bool other_gpu;

    [[nodiscard]] bool is_nearer_than(const Candidate& other) const {
      if (distance.first != other.distance.first) {
        return distance.first < other.distance.first;
      }
      if (std::abs(distance.second - other.distance.second) > 1e-5) {
        return distance.second < other.distance.second;
      }
      return !other_gpu && other.other_gpu;
    }
  };

  /// The rows that say something about the problem and have an eligible configuration.
  std::vector<Candidate> candidates() const {
    std::vector<Candidate> all;
    for (const TunedProblem& tuned : table.problems) {
      const ChoiceStep by = step(tuned);
      if (by != ChoiceStep::refused && best_eligible(tuned)) {
        all.push_back({&tuned, by, distance(tuned), tuned.gpu.name != device.name});
      }
    }
    return all;
  }

  std::optional<TunedChoice> of_step(ChoiceStep which, const std::vector<Candidate>& all) const {
    const Candidate* best = nullptr;
    for (const Candidate& one : all) {
      if (one.step == which && (best == nullptr || one.is_nearer_than(*best))) {
        best = &one;
      }
    }
    if (best == nullptr) {
      return std::nullopt;
    }
    return TunedChoice{which,
                       {},
                       (*best_eligible(*best->row))->short_form,
                       static_cast<std::size_t>(best->row - table.problems.data())};
  }

  std::optional<TunedChoice> of_defaults() const {
    const auto of_queries = of_defaults(is_few(wanted));
    return of_queries ? of_queries : of_defaults(!is_few(wanted));
  }

  std::optional<TunedChoice> of_defaults(bool few_queries) const {
    for (int gpu_differs = 0; gpu_differs < 3; ++gpu_differs) {
      for (int differences = 0; differences < 5; ++differences) {
        for (const DefaultConfig& known : table.defaults) {
          const int strange = known.gpu.arch != device.arch   ? 2
                              : known.gpu.name != device.name ? 1
                                                              : 0;
          const int others = int(known.causal != wanted.causal) + int(known.dtype != wanted.dtype) +
                             2 * int(known.d_head != wanted.d_head);
          if (known.few_queries == few_queries && strange == gpu_differs && others == differences &&
              !odd_rule(known.config, wanted, device)) {
            return TunedChoice{ChoiceStep::fallback,
                               {},
                               known.short_form,
                               {},
                               static_cast<std::size_t>(&known - table.defaults.data())};
          }
        }
      }
    }
    return std::nullopt;
  }

  TunedChoice choice() const {
    const std::vector<Candidate> all = candidates();
    for (const ChoiceStep which :
         {ChoiceStep::exact, ChoiceStep::same_bucket, ChoiceStep::neighbour_bucket,
          ChoiceStep::same_arch, ChoiceStep::nearest}) {
      if (const auto found = of_step(which, all)) {
        return *found;
      }
    }
    return of_defaults().value_or(TunedChoice{});
  }
};

TEST(TunedChoice, IsTheReferencesForTenThousandProblems) {
  Random random;
  const TunedTable table = random_table(random);
  std::map<ChoiceStep, int> steps;
  for (int i = 0; i < 10000; ++i) {
    const Problem wanted = random.any_problem();
    const DeviceLimits device = random.any_gpu();
    const TunedChoice choice = choose_tuned(table, wanted, device, odd_rule);
    const TunedChoice expected = Reference{table, wanted, device}.choice();
    ASSERT_EQ(choice.step, expected.step) << describe(wanted) << " on " << device.name;
    ASSERT_EQ(choice.short_form, expected.short_form) << describe(wanted) << " on " << device.name;
    ASSERT_EQ(choice.row, expected.row) << describe(wanted);
    ASSERT_EQ(choice.fallback, expected.fallback) << describe(wanted);
    ++steps[choice.step];
  }
  for (const ChoiceStep step :
       {ChoiceStep::exact, ChoiceStep::same_bucket, ChoiceStep::neighbour_bucket,
        ChoiceStep::same_arch, ChoiceStep::nearest, ChoiceStep::fallback}) {
    EXPECT_GT(steps[step], 50) << choice_step_name(step);
  }
}

TEST(TunedChoice, DoesNotDependOnTheOrderOfTheRows) {
  Random random;
  const TunedTable table = random_table(random);
  TunedTable reversed = table;
  std::ranges::reverse(reversed.problems);
  finish_table(reversed);
  for (int i = 0; i < 500; ++i) {
    const Problem wanted = random.any_problem();
    const DeviceLimits device = random.any_gpu();
    ASSERT_EQ(choose_tuned(table, wanted, device, odd_rule).short_form,
              choose_tuned(reversed, wanted, device, odd_rule).short_form);
  }
}

int length_bucket(std::int64_t seq_len) {
  return buckets_of(coordinates_of(samples::problem(seq_len), 100)).front();
}

TEST(Buckets, OfLengthsAreNearestPowersOfTwo) {
  EXPECT_EQ(length_bucket(4096), 12);
  EXPECT_EQ(length_bucket(2896), 11);
  EXPECT_EQ(length_bucket(2897), 12);
  EXPECT_EQ(length_bucket(5792), 12);
  EXPECT_EQ(length_bucket(5793), 13);
  EXPECT_EQ(length_bucket(1), 0);
}

TEST(Buckets, OfHeadsCountThoseForEachSm) {
  EXPECT_EQ(buckets_of(coordinates_of(samples::problem(512, 16), 128)).at(2), 1);
  EXPECT_EQ(buckets_of(coordinates_of(samples::problem(512, 1), 128)).at(2), -3);
}

TEST(Buckets, AreNeighboursUnlessAnyIsMoreThanOneApart) {
  const Coordinates at_1024 = coordinates_of(samples::problem(1024), 100);
  const auto distance = [&](const Problem& other) {
    const Nearness found = nearness(at_1024, coordinates_of(other, 100), false);
    return found.neighbours ? std::optional(found.distance) : std::nullopt;
  };
  EXPECT_EQ(distance(samples::problem(1024))->octaves, 0.0);
  EXPECT_EQ(distance(samples::problem(1025))->buckets, 0);
  EXPECT_EQ(distance(samples::problem(2048))->buckets, 2) << "queries and keys";
  EXPECT_EQ(distance(samples::problem(2048, 8))->buckets, 3);
  EXPECT_FALSE(distance(samples::problem(4096)));
  Problem grouped = samples::problem(1024);
  grouped.kv_heads = 4;
  EXPECT_FALSE(distance(grouped)) << "groups of 4 are two octaves from heads of their own";
  grouped.kv_heads = 8;
  grouped.lse = true;
  EXPECT_EQ(distance(grouped)->buckets, 2);
}

bool same_kind(const Problem& a, const Problem& b) {
  using fatune_attention::detail::kind_of;
  return kind_of(runtime_problem(a)) == kind_of(runtime_problem(b));
}

TEST(Buckets, AreOfOneKindOnly) {
  const Problem plain = samples::problem(1024);
  EXPECT_TRUE(same_kind(plain, samples::problem(8192, 1)));
  EXPECT_FALSE(same_kind(plain, samples::problem(1024, 16, true)));
  Problem other = plain;
  other.window = 128;
  EXPECT_FALSE(same_kind(plain, other));
  other = plain;
  other.dtype = other.kv_dtype = DType::bf16;
  EXPECT_FALSE(same_kind(plain, other));
  other = plain;
  other.kv_dtype = DType::e4m3;
  EXPECT_FALSE(same_kind(plain, other));
  other = plain;
  other.d_head_v = 128;
  EXPECT_FALSE(same_kind(plain, other));
}

}  // namespace
}  // namespace fatune
