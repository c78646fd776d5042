#include "choose.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <tuple>

namespace fatune_attention::detail {
namespace {

/// The place of the packed rows of few queries among Coordinates.
constexpr std::size_t kRows = 0;

double octaves(std::int64_t extent) { return std::log2(static_cast<double>(extent)); }

bool is_this(const TunedGpu& a, const TunedGpu& b) {
  return a.arch == b.arch && a.sm_count == b.sm_count && std::strcmp(a.name, b.name) == 0;
}

/// The parts of a kind that kernels are built for. Masks, which come behind, often are arguments.
constexpr std::size_t kKernelParts = 8;

/// Returns how many of the parts of two kinds behind the first kKernelParts differ; -1: one of
/// those first parts does.
int differing_masks(const Kind& a, const Kind& b) {
  if (!std::equal(a.begin(), a.begin() + kKernelParts, b.begin())) {
    return -1;
  }
  int count = 0;
  for (std::size_t i = kKernelParts; i < a.size(); ++i) {
    count += a[i] != b[i] ? 1 : 0;
  }
  return count;
}

/// The step of a neighbouring row.
Step step_of_neighbour(const Wanted& row, const Wanted& wanted, const NearRow& near) {
  if (near.other_gpu) {
    return Step::same_arch;
  }
  if (same_work(row, wanted)) {
    return Step::exact;
  }
  return near.distance.buckets == 0 ? Step::same_bucket : Step::neighbour_bucket;
}

/// A problem on a GPU, with what it is compared by.
struct Place {
  const Wanted& wanted;
  const TunedGpu& gpu;
  Kind kind = kind_of(wanted.problem);
  bool few_queries = has_few_queries(wanted.problem);
  Coordinates coordinates = coordinates_of(wanted, gpu.sm_count);
};

/// Returns nothing if the row says nothing about the problem.
std::optional<NearRow> near_row(const Table& table, int index, const Place& place) {
  const Row& row = table.rows[index];
  const TunedGpu& row_gpu = table.gpus[row.gpu];
  const int masks =
      row_gpu.arch == place.gpu.arch ? differing_masks(kind_of(row.problem), place.kind) : -1;
  if (masks < 0) {
    return std::nullopt;
  }
  const Wanted tuned{row.problem, row.layout_bhsd};
  const Coordinates coordinates = coordinates_of(tuned, row_gpu.sm_count);
  const Nearness found = nearness(coordinates, place.coordinates, place.few_queries);
  NearRow near{Step::nearest, found.distance, !is_this(row_gpu, place.gpu), index,
               place.few_queries && coordinates[kRows] != place.coordinates[kRows]};
  near.distance.buckets += masks;
  if (masks == 0 && found.neighbours) {
    near.step = step_of_neighbour(tuned, place.wanted, near);
  }
  return near;
}

auto key_of(const DefaultPlace& place) {
  return std::tie(place.other_queries, place.other_gpu, place.differences, place.index);
}

DefaultPlace place_of(const Table& table, int index, const Problem& problem, const TunedGpu& gpu) {
  const Default& known = table.defaults[index];
  const TunedGpu& known_gpu = table.gpus[known.gpu];
  const int other_gpu = is_this(known_gpu, gpu) ? 0 : known_gpu.arch == gpu.arch ? 1 : 2;
  const int differences = int{known.causal != problem.causal} + int{known.dtype != problem.dtype} +
                          int{known.d_head != problem.d_head} +
                          int{known.d_head_v != problem.d_head_v};
  return {known.few_queries != has_few_queries(problem), other_gpu, differences, index};
}

/// The keys that one of few queries sees.
std::int64_t keys_seen(const Problem& problem) {
  const bool is_cut = problem.window > 0 && problem.window < problem.seq_len_kv;
  return is_cut ? std::min(problem.seq_len_kv, problem.window + problem.seq_len - 1)
                : problem.seq_len_kv;
}

constexpr std::int64_t kLeastRows = 8;

Coordinates coordinates_of_few(const Wanted& wanted, int sm_count) {
  const Problem& problem = wanted.problem;
  const std::int64_t rows = problem.seq_len * (problem.heads / problem.kv_heads);
  const double keys = octaves(keys_seen(problem));
  return {std::ceil(octaves(std::max(rows, kLeastRows))),
          keys,
          octaves(problem.batch * problem.kv_heads) + keys - octaves(sm_count),
          0.0,
          0.0,
          problem.lse ? 1.0 : 0.0,
          wanted.layout_bhsd ? 1.0 : 0.0};
}

/// The names of kind_of(), in its order.
constexpr const char* kKinds[] = {"element type", "d_head",  "d_head_v", "softcap",
                                  "sinks",        "queries", "K and V",  "scales of K and V",
                                  "mask",         "window"};

/// A number of a problem on a GPU, of which rows span a range.
struct Number {
  const char* name;
  double (*of)(const Problem& problem, int sm_count);
};

double number(std::int64_t value) { return static_cast<double>(value); }

/// With few queries, a window counts as the number of keys that it leaves.
std::int64_t keys_counted(const Problem& problem) {
  return has_few_queries(problem) ? keys_seen(problem) : problem.seq_len_kv;
}
std::int64_t window_counted(const Problem& problem) {
  return has_few_queries(problem) ? 1 : std::max<std::int64_t>(problem.window, 1);
}

constexpr Number kNumbers[] = {
    {"queries", [](const Problem& p, int) { return number(p.seq_len); }},
    {"keys", [](const Problem& p, int) { return number(keys_counted(p)); }},
    {"keys / queries",
     [](const Problem& p, int) { return number(keys_counted(p)) / number(p.seq_len); }},
    {"batch x heads x queries / SMs",
     [](const Problem& p, int sms) { return number(p.batch * p.heads * p.seq_len) / sms; }},
    {"heads / kv_heads", [](const Problem& p, int) { return number(p.heads / p.kv_heads); }},
    {"window", [](const Problem& p, int) { return number(window_counted(p)); }}};

/// Writes a text into an Untuned, and cuts off what does not fit.
class Writer {
 public:
  explicit Writer(const char* property) {
    made_.property = property;
    add(property);
    add(": ");
  }

  Writer& add(const char* text) {
    const std::size_t length = std::min(std::strlen(text), sizeof made_.text - 1 - length_);
    std::memcpy(made_.text + length_, text, length);
    length_ += length;
    return *this;
  }
  Writer& add(double value) {
    char digits[32];
    const int decimals = value == std::floor(value) || value >= 100.0 ? 0 : 2;
    std::snprintf(digits, sizeof digits, "%.*f", decimals, value);
    return add(digits);
  }
  const Untuned& made() const { return made_; }

 private:
  Untuned made_;  ///< its text is zeros at first
  std::size_t length_ = 0;
};

const char* kv_name(std::int64_t dtype) {
  return dtype == static_cast<int>(KvDType::e4m3)   ? "E4M3"
         : dtype == static_cast<int>(KvDType::e5m2) ? "E5M2"
                                                    : "as Q";
}

void add_kind(Writer& writer, std::size_t part, std::int64_t value) {
  switch (part) {
    case 0:
      writer.add(value == static_cast<int>(DType::fp16) ? "FP16" : "BF16");
      break;
    case 5:
      writer.add(value != 0 ? "few for their keys" : "many for their keys");
      break;
    case 6:
      writer.add(kv_name(value));
      break;
    case 7:
      writer.add(value != 0 ? "of each key" : "of heads or all");
      break;
    case 8:
      writer.add(value != 0 ? "causal" : "full");
      break;
    case 3:
    case 4:
    case 9:
      writer.add(value != 0 ? "some" : "none");
      break;
    default:
      writer.add(number(value));
  }
}

/// The rows of an architecture whose kind has the same first `parts` parts.
struct Candidates {
  const Table& table;
  int arch;
  Kind kind;
  std::size_t parts = 0;

  template <typename Use>
  void for_each(Use use) const {
    for (int i = 0; i < table.rows.count; ++i) {
      const Row& row = table.rows[i];
      const Kind of_row = kind_of(row.problem);
      if (table.gpus[row.gpu].arch == arch &&
          std::equal(kind.begin(), kind.begin() + parts, of_row.begin())) {
        use(row);
      }
    }
  }
  bool any() const {
    bool found = false;
    for_each([&](const Row&) { found = true; });
    return found;
  }
};

/// Adds the values that the next part of the candidates' kinds has, in ascending order.
void add_tuned_kinds(Writer& writer, const Candidates& rows) {
  const char* before = "; tuned: ";
  bool is_first = true;
  std::int64_t last = 0;
  while (true) {
    bool found = false;
    std::int64_t next = 0;
    rows.for_each([&](const Row& row) {
      const std::int64_t value = kind_of(row.problem)[rows.parts];
      if ((is_first || value > last) && (!found || value < next)) {
        found = true;
        next = value;
      }
    });
    if (!found) {
      return;
    }
    writer.add(before);
    add_kind(writer, rows.parts, next);
    before = ", ";
    is_first = false;
    last = next;
  }
}

Untuned untuned_arch(int arch) {
  Writer writer("GPU architecture");
  writer.add("compute capability ").add(number(arch / 10)).add(".").add(number(arch % 10));
  return writer.add("; nothing was tuned on it").made();
}

Untuned untuned_kind(const Candidates& rows) {
  Writer writer(kKinds[rows.parts]);
  add_kind(writer, rows.parts, rows.kind[rows.parts]);
  add_tuned_kinds(writer, rows);
  return writer.made();
}

long bucket_of(double value) { return std::lround(std::log2(value)); }

Untuned untuned_number(const Number& number, const Candidates& rows, const Problem& problem,
                       int sm_count) {
  double least = 0.0;
  double most = 0.0;
  rows.for_each([&](const Row& row) {
    const double tuned = number.of(row.problem, rows.table.gpus[row.gpu].sm_count);
    least = least == 0.0 ? tuned : std::min(least, tuned);
    most = std::max(most, tuned);
  });
  const double value = number.of(problem, sm_count);
  if (bucket_of(value) >= bucket_of(least) && bucket_of(value) <= bucket_of(most)) {
    return {};
  }
  Writer writer(number.name);
  writer.add(value).add("; tuned: ").add(least);
  return least == most ? writer.made() : writer.add(" to ").add(most).made();
}

/// For a problem within the range for which no row near it made the choice.
Untuned untuned_together(bool has_near_row) {
  Writer writer("all numbers together");
  return writer
      .add(has_near_row ? "no configuration of a tuned problem near it is eligible"
                        : "each is in the tuned range, but no tuned problem is near in all")
      .made();
}

bool has_fits(const Table& table, const Kind& kind, int gpu) {
  for (int i = 0; i < table.fits.count; ++i) {
    if (table.fits[i].gpu == gpu && table.fits[i].kind == kind) {
      return true;
    }
  }
  return false;
}

}  // namespace

Problem problem_of_rows(const Problem& problem) {
  Problem like = problem;
  if (problem.is_packed) {
    const auto mean = [&](std::int64_t total) {
      return std::max<std::int64_t>(1, (total + problem.batch / 2) / problem.batch);
    };
    like.seq_len = mean(problem.queries_total);
    like.seq_len_kv = mean(problem.keys_total);
  }
  like.has_seq_lens_kv = problem.has_seq_lens_kv || problem.is_packed || problem.page_size > 0;
  like.is_packed = false;
  like.queries_total = like.keys_total = 0;
  like.page_size = like.pool_pages = 0;
  like.kv_scales = problem.kv_scales == KvScales::page ? KvScales::token : problem.kv_scales;
  return like;
}

bool has_few_queries(const Problem& problem) {
  constexpr std::int64_t kMostQueries = 128;
  constexpr std::int64_t kLeastKeysOfEach = 8;
  return problem.seq_len <= kMostQueries &&
         problem.seq_len * kLeastKeysOfEach <= keys_seen(problem);
}

Coordinates coordinates_of(const Wanted& wanted, int sm_count) {
  const Problem& problem = wanted.problem;
  if (has_few_queries(problem)) {
    return coordinates_of_few(wanted, sm_count);
  }
  return {octaves(problem.seq_len),
          octaves(problem.seq_len_kv),
          octaves(problem.batch * problem.heads) - octaves(sm_count),
          octaves(problem.heads / problem.kv_heads),
          problem.window > 0 ? octaves(problem.window) : 0.0,
          problem.lse ? 1.0 : 0.0,
          wanted.layout_bhsd ? 1.0 : 0.0};
}

Buckets buckets_of(const Coordinates& coordinates) {
  Buckets buckets{};
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    buckets[i] = static_cast<int>(std::lround(coordinates[i]));
  }
  return buckets;
}

KvKind kv_kind_of(const Problem& problem) {
  return {problem.kv_dtype,
          problem.kv_scales == KvScales::token || problem.kv_scales == KvScales::page};
}

Kind kind_of(const Problem& problem) {
  const bool few = has_few_queries(problem);
  const KvKind kv = kv_kind_of(problem);
  return {static_cast<int>(problem.dtype),
          problem.d_head,
          problem.d_head_v,
          problem.softcap > 0.0F ? 1 : 0,
          problem.has_sinks ? 1 : 0,
          few ? 1 : 0,
          static_cast<int>(kv.dtype),
          kv.key_scales ? 1 : 0,
          problem.causal && !few ? 1 : 0,
          problem.window > 0 && !few ? 1 : 0};
}

Kind without_masks(Kind kind) {
  std::fill(kind.begin() + kKernelParts, kind.end(), 0);
  return kind;
}

bool same_work(const Wanted& a, const Wanted& b) {
  const auto key = [](const Wanted& of) {
    const Problem& p = of.problem;
    return std::make_tuple(p.dtype, p.batch, p.heads, p.kv_heads, p.seq_len, p.seq_len_kv, p.d_head,
                           p.d_head_v, p.causal, p.window, p.lse, of.layout_bhsd, p.has_seq_lens_kv,
                           p.softcap > 0.0F, p.has_sinks, p.kv_dtype, p.kv_scales);
  };
  return key(a) == key(b);
}

bool operator<(const Distance& a, const Distance& b) {
  return std::tie(a.buckets, a.octaves) < std::tie(b.buckets, b.octaves);
}

bool operator<(const NearRow& a, const NearRow& b) {
  return std::tie(a.step, a.distance, a.other_gpu, a.row) <
         std::tie(b.step, b.distance, b.other_gpu, b.row);
}

/// Octaves are multiples of its reciprocal, so that equal distances do not differ by rounding.
constexpr double kPrecision = 1 << 20;

Nearness nearness(const Coordinates& row, const Coordinates& wanted, bool few_queries) {
  const Buckets of_row = buckets_of(row);
  const Buckets of_wanted = buckets_of(wanted);
  Nearness found;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const int more = of_row[i] - of_wanted[i];
    const int apart = few_queries && i == kRows && more < 0 ? -2 * more : std::abs(more);
    found.neighbours = found.neighbours && apart <= 1;
    found.distance.buckets += apart;
    found.distance.octaves += std::abs(row[i] - wanted[i]);
  }
  found.distance.octaves = std::round(found.distance.octaves * kPrecision) / kPrecision;
  return found;
}

std::optional<NearRow> next_near_row(const Table& table, const Wanted& wanted, const TunedGpu& gpu,
                                     const NearRow* last) {
  const Place place{wanted, gpu};
  std::optional<NearRow> next;
  for (int index = 0; index < table.rows.count; ++index) {
    const auto near = near_row(table, index, place);
    if (near && (last == nullptr || *last < *near) && (!next || *near < *next)) {
      next = near;
    }
  }
  return next;
}

NearestRows::NearestRows(const Table& table, const Wanted& wanted, int gpu)
    : table_(&table), gpu_(gpu) {
  const Place place{wanted, table.gpus[gpu]};
  const auto before = [](const NearRow& a, const NearRow& b) {
    return std::tie(a.other_packed_rows, a) < std::tie(b.other_packed_rows, b);
  };
  for (int index = 0; index < table.rows.count; ++index) {
    if (table.rows[index].gpu != gpu || kind_of(table.rows[index].problem) != place.kind) {
      continue;
    }
    const NearRow near = *near_row(table, index, place);
    nearest_ = nearest_.row < 0 ? near : std::min(nearest_, near);
    const auto end = rows_.begin() + count_;
    const auto behind = std::upper_bound(rows_.begin(), end, near, before);
    if (behind == rows_.end()) {
      continue;
    }
    count_ = std::min(count_ + 1, kMost);
    std::move_backward(behind, rows_.begin() + count_ - 1, rows_.begin() + count_);
    *behind = near;
  }
  for (int i = 0; i < count_; ++i) {
    add_keys(rows_[static_cast<std::size_t>(i)], i < kOfFamilies);
  }
}

void NearestRows::add_keys(const NearRow& near, bool of_families) {
  /// A configuration that is further behind the winner of a row is not among the fastest there.
  constexpr double kMostBehindPercent = 10.0;
  const auto add = [](Keys& keys, int key) {
    if (key >= 0 && static_cast<std::size_t>(key) < kMostKeys) {
      keys.set(static_cast<std::size_t>(key));
    }
  };
  const Row& row = table_->rows[near.row];
  for (int i = 0; i < row.config_count; ++i) {
    if (row.configs[i].regret_percent <= kMostBehindPercent) {
      const FitKey& key = table_->fit_keys[row.configs[i].configuration];
      add(likes_, key.like);
      add(rests_, key.rest);
      if (of_families) {
        add(families_, key.family);
      }
    }
  }
}

const FitKey& NearestRows::key_of_nearest_winner() const {
  static constexpr FitKey kNone{-1, -1, -1};
  const Row& row = table_->rows[nearest_.row];
  return row.config_count > 0 ? table_->fit_keys[row.configs[0].configuration] : kNone;
}

bool NearestRows::nearest_winner_has_fit() const { return key_of_nearest_winner().like >= 0; }

bool NearestRows::have_winner_like(int configuration) const {
  return key_of_nearest_winner().family == table_->fit_keys[configuration].family;
}

bool NearestRows::have(int configuration) const {
  const auto has = [](const Keys& keys, int key) {
    return key >= 0 && static_cast<std::size_t>(key) < kMostKeys &&
           keys[static_cast<std::size_t>(key)];
  };
  const FitKey& key = table_->fit_keys[configuration];
  return has(likes_, key.like) && has(rests_, key.rest) && has(families_, key.family);
}

int FastestPredicted::place_of_slowest_alike(const Item& item) const {
  int alike = 0;
  int slowest = -1;
  for (int i = 0; i < count_; ++i) {
    if ((*this)[i].like == item.like) {
      ++alike;
      slowest = i;
    }
  }
  return alike == kMostAlike ? slowest : -1;
}

bool FastestPredicted::has_place_for(const Item& item) const {
  const bool has_same = std::any_of(items_.begin(), items_.begin() + count_, [&](const Item& one) {
    return one.like == item.like && one.us == item.us;
  });
  const int alike = place_of_slowest_alike(item);
  const int last = alike >= 0 ? alike : kMost - 1;  // the one that it takes the place of, if any
  return !has_same && (last >= count_ || item.us < (*this)[last].us);
}

void FastestPredicted::keep_near() {
  const double most_us = (1.0 + kFarBehind) * items_[0].us;
  count_ =
      static_cast<int>(std::count_if(items_.begin(), items_.begin() + count_,
                                     [most_us](const Item& one) { return one.us <= most_us; }));
}

bool FastestPredicted::has(int configuration, int count) const {
  return std::any_of(items_.begin(), items_.begin() + count, [configuration](const Item& one) {
    return one.configuration == configuration;
  });
}

void FastestPredicted::append(const FastestPredicted& others) {
  const int own = place_of_others();
  int added = 0;
  for (int i = 0; i < others.count() && added < kOfAnotherGpu; ++i) {
    if (!has(others[i].configuration, own)) {
      items_[static_cast<std::size_t>(own + added++)] = others[i];
    }
  }
  count_ = added > 0 ? own + added : count_;
}

void FastestPredicted::add(const Item& item) {
  if (!has_place_for(item)) {
    return;
  }
  const int alike = place_of_slowest_alike(item);
  const int last = alike >= 0 ? alike : std::min(count_, kMost - 1);
  count_ = std::max(count_, last + 1);
  const auto behind = std::upper_bound(items_.begin(), items_.begin() + last, item,
                                       [](const Item& a, const Item& b) { return a.us < b.us; });
  std::move_backward(behind, items_.begin() + last, items_.begin() + last + 1);
  *behind = item;
}

std::optional<NearRow> own_row(const Table& table, const Wanted& wanted, const TunedGpu& gpu) {
  if (wanted.has_lengths && has_few_queries(wanted.problem)) {
    return std::nullopt;
  }
  Problem full = wanted.problem;
  full.has_seq_lens_kv = false;
  const Wanted of_row{full, wanted.layout_bhsd};
  for (int index = 0; index < table.rows.count; ++index) {
    const Row& row = table.rows[index];
    if (is_this(table.gpus[row.gpu], gpu) && same_work({row.problem, row.layout_bhsd}, of_row)) {
      const Step step = wanted.problem.has_seq_lens_kv ? Step::same_bucket : Step::exact;
      return NearRow{step, {}, false, index};
    }
  }
  return std::nullopt;
}

std::optional<DefaultPlace> next_default(const Table& table, const Problem& problem,
                                         const TunedGpu& gpu, const DefaultPlace* last) {
  std::optional<DefaultPlace> next;
  for (int index = 0; index < table.defaults.count; ++index) {
    const DefaultPlace place = place_of(table, index, problem, gpu);
    const bool is_one = table.defaults[index].kv == kv_kind_of(problem) &&
                        (last == nullptr || key_of(*last) < key_of(place));
    if (is_one && (!next || key_of(place) < key_of(*next))) {
      next = place;
    }
  }
  return next;
}

namespace {

/// Replaces the rows by those of a GPU that `counts(index)` and has times of the problem's kind, if
/// its nearest one is nearer.
template <typename Counts>
void take_nearer(const Table& table, const Wanted& wanted, Counts counts,
                 std::optional<NearestRows>& nearest) {
  for (int index = 0; index < table.gpus.count; ++index) {
    if (!counts(index) || !has_fits(table, kind_of(wanted.problem), index)) {
      continue;
    }
    const NearestRows rows(table, wanted, index);
    if (!nearest || rows.nearest().distance < nearest->nearest().distance) {
      nearest = rows;
    }
  }
}

std::optional<NearestRows> if_they_predict(const std::optional<NearestRows>& nearest) {
  return nearest && nearest->nearest_winner_has_fit() ? nearest : std::nullopt;
}

}  // namespace

std::optional<NearestRows> predicting_rows(const Table& table, const Wanted& wanted,
                                           const TunedGpu& gpu) {
  std::optional<NearestRows> nearest;
  const auto consider = [&](bool is_this_gpu) {
    const auto counts = [&](int index) {
      const TunedGpu& known = table.gpus[index];
      return known.arch == gpu.arch && is_this(known, gpu) == is_this_gpu;
    };
    take_nearer(table, wanted, counts, nearest);
  };
  consider(true);
  if (!nearest || nearest->nearest().step == Step::nearest) {
    consider(false);
  }
  return if_they_predict(nearest);
}

std::optional<NearestRows> other_predicting_rows(const Table& table, const Wanted& wanted,
                                                 int gpu) {
  std::optional<NearestRows> nearest;
  const auto counts = [&](int index) {
    return index != gpu && table.gpus[index].arch == table.gpus[gpu].arch;
  };
  take_nearer(table, wanted, counts, nearest);
  return if_they_predict(nearest);
}

Untuned untuned(const Table& table, const Wanted& wanted, const TunedGpu& gpu, Step step) {
  if (step == Step::exact || step == Step::refused) {
    return {};
  }
  Candidates rows{table, gpu.arch, kind_of(wanted.problem)};
  if (!rows.any()) {
    return untuned_arch(gpu.arch);
  }
  for (; rows.parts < rows.kind.size(); ++rows.parts) {
    Candidates narrower = rows;
    ++narrower.parts;
    if (!narrower.any()) {
      return untuned_kind(rows);
    }
  }
  for (const Number& number : kNumbers) {
    if (const Untuned found = untuned_number(number, rows, wanted.problem, gpu.sm_count)) {
      return found;
    }
  }
  if (step < Step::nearest) {
    return {};
  }
  const auto near = next_near_row(table, wanted, gpu, nullptr);
  return untuned_together(near && near->step < Step::nearest);
}

}  // namespace fatune_attention::detail

namespace fatune_attention {

const char* step_name(Step step) {
  constexpr const char* kNames[] = {
      "exact",   "predicted", "same bucket", "neighbouring bucket", "same architecture",
      "nearest", "default",   "refused"};
  return kNames[static_cast<int>(step)];
}

}  // namespace fatune_attention
