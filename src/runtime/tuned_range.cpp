#include "tuned_range.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace fatune_attention::detail {
namespace {

/// The names of kind_of(), in its order.
constexpr const char* kKinds[] = {"element type", "d_head", "d_head_v", "mask", "window"};

/// A number of a problem on a GPU, of which rows span a range.
struct Number {
  const char* name;
  double (*of)(const Problem& problem, int sm_count);
};

double number(std::int64_t value) { return static_cast<double>(value); }

constexpr Number kNumbers[] = {
    {"queries", [](const Problem& p, int) { return number(p.seq_len); }},
    {"keys", [](const Problem& p, int) { return number(p.seq_len_kv); }},
    {"keys / queries",
     [](const Problem& p, int) { return number(p.seq_len_kv) / number(p.seq_len); }},
    {"batch x heads x queries / SMs",
     [](const Problem& p, int sms) { return number(p.batch * p.heads * p.seq_len) / sms; }},
    {"heads / kv_heads", [](const Problem& p, int) { return number(p.heads / p.kv_heads); }},
    {"window", [](const Problem& p, int) { return number(std::max<std::int64_t>(p.window, 1)); }}};

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

void add_kind(Writer& writer, std::size_t part, std::int64_t value) {
  switch (part) {
    case 0:
      writer.add(value == static_cast<int>(DType::fp16) ? "FP16" : "BF16");
      break;
    case 3:
      writer.add(value != 0 ? "causal" : "full");
      break;
    case 4:
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

/// For a problem within the range that has only a default.
Untuned untuned_together(bool has_near_row) {
  Writer writer("all numbers together");
  return writer
      .add(has_near_row ? "no configuration of a tuned problem near it is eligible"
                        : "each is in the tuned range, but no tuned problem is near in all")
      .made();
}

}  // namespace

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
  return step == Step::fallback
             ? untuned_together(next_near_row(table, wanted, gpu, nullptr).has_value())
             : Untuned{};
}

}  // namespace fatune_attention::detail
