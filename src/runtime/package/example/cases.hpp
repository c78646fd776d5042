#pragma once

// Test problems: tuned ones, small ones of every kind, and random ones, for which it is printed
// what is selected, for comparison with another implementation.

#include <algorithm>
#include <cstdio>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "facts.hpp"
#include "kernel_table.hpp"
#include "reference.hpp"

namespace example {

/// How tensors lie in memory. The first two layouts are contiguous.
enum class Layout { bshd, bhsd, padded };

struct Case {
  Problem problem;
  Layout layout = Layout::bshd;
};

/// The strides of one tensor. Padded rows, heads and sequences have a few times 16 bytes between
/// them.
inline Tensor strides_of(const detail::Extents& extents, Layout layout, std::int64_t bytes = 2) {
  if (layout != Layout::padded) {
    return detail::contiguous_tensor(extents, layout == Layout::bhsd);
  }
  const std::int64_t unit = 16 / bytes;
  const std::int64_t head_stride = extents.d + unit;
  const std::int64_t row_stride = extents.heads * head_stride + 2 * unit;
  return {nullptr, extents.rows * row_stride + 3 * unit, head_stride, row_stride};
}

/// The strides of a problem's tensors, without addresses.
inline Tensors strides_of(const Case& one) {
  const auto [q, k, v, o] = detail::extents_of(one.problem);
  const std::int64_t kv_bytes = detail::kv_bytes(one.problem);
  return {strides_of(q, one.layout), strides_of(k, one.layout, kv_bytes),
          strides_of(v, one.layout, kv_bytes), strides_of(o, one.layout), nullptr};
}

/// The number of elements from the first element of a tensor to its last, gaps included.
inline std::size_t elements_of(const detail::ShapedTensor& shaped) {
  const auto& [batch, heads, rows, d] = shaped.extents;
  const Tensor& tensor = *shaped.tensor;
  return static_cast<std::size_t>((batch - 1) * tensor.batch_stride +
                                  (heads - 1) * tensor.head_stride +
                                  (rows - 1) * tensor.row_stride + d);
}

/// " e4m3/head"; empty: K and V have the type of Q.
inline std::string kv_text(const Problem& problem) {
  constexpr const char* kScales[] = {"tensor", "head", "token", "page"};
  return detail::has_scales(problem)
             ? std::string(problem.kv_dtype == KvDType::e4m3 ? " e4m3/" : " e5m2/") +
                   kScales[static_cast<int>(problem.kv_scales)]
             : "";
}

/// "b4 s4096 kv4096 h16/16 d128/128 bf16 causal".
inline std::string text_of(const Case& one) {
  const Problem& p = one.problem;
  const auto number = [](std::int64_t value) { return std::to_string(value); };
  std::string text = "b" + number(p.batch) + " s" + number(p.seq_len) + " kv" +
                     number(p.seq_len_kv) + " h" + number(p.heads) + "/" + number(p.kv_heads) +
                     " d" + number(p.d_head) + "/" + number(p.d_head_v);
  text += p.dtype == DType::bf16 ? " bf16" : " fp16";
  text += kv_text(p);
  text += p.causal ? " causal" : "";
  text += p.window > 0 ? " w" + number(p.window) : "";
  text += p.has_seq_lens_kv ? " lens" : "";
  text += p.is_packed ? " packed" : "";
  text += p.page_size > 0 ? " pages" + number(p.page_size) : "";
  text += p.softcap > 0.0F ? " cap" + number(static_cast<std::int64_t>(p.softcap)) : "";
  text += p.has_sinks ? " sinks" : "";
  text += p.lse ? " lse" : "";
  return text + (one.layout == Layout::bhsd     ? " bhsd"
                 : one.layout == Layout::padded ? " padded"
                                                : "");
}

/// Every `step`-th problem that the library was tuned for.
inline std::vector<Case> tuned_cases(int step) {
  const auto& rows = detail::kTable.rows;
  std::vector<Case> cases;
  for (int i = 0; i < rows.count; i += step) {
    cases.push_back({rows[i].problem, rows[i].layout_bhsd ? Layout::bhsd : Layout::bshd});
  }
  return cases;
}

/// A small problem with the types, head dimensions, softcap and sinks of `like`.
inline Problem plain_problem(const Problem& like) {
  Problem plain = like;
  plain.batch = 2;
  plain.heads = plain.kv_heads = 2;
  plain.seq_len = plain.seq_len_kv = 333;
  plain.causal = false;
  plain.window = 0;
  plain.lse = false;
  return plain;
}

/// Such small problems.
inline std::vector<Case> small_cases(const Problem& like) {
  const Problem plain = plain_problem(like);
  std::vector<Case> cases;
  const auto add = [&](Layout layout, auto change) {
    Problem problem = plain;
    change(problem);
    cases.push_back({problem, layout});
  };
  add(Layout::bshd, [](Problem&) {});
  add(Layout::bhsd, [](Problem&) {});
  add(Layout::padded, [](Problem&) {});
  add(Layout::bshd, [](Problem& p) { p.causal = true; });
  add(Layout::bhsd, [](Problem& p) { p.causal = true; });
  add(Layout::padded, [](Problem& p) { p.causal = true; });
  add(Layout::bshd, [](Problem& p) { p.heads = 6, p.causal = true; });
  add(Layout::bshd, [](Problem& p) { p.seq_len = 77, p.seq_len_kv = 1001; });
  add(Layout::bshd, [](Problem& p) { p.seq_len = 77, p.seq_len_kv = 1001, p.causal = true; });
  add(Layout::bshd, [](Problem& p) { p.seq_len = 300, p.seq_len_kv = 100, p.causal = true; });
  add(Layout::bshd, [](Problem& p) { p.seq_len = 1, p.seq_len_kv = 5000; });
  for (const Layout layout : {Layout::bshd, Layout::bhsd}) {
    add(layout, [](Problem& p) { p.batch = 4, p.seq_len = 1, p.has_seq_lens_kv = true; });
  }
  add(Layout::padded, [](Problem& p) {
    p.batch = 4, p.heads = 8, p.seq_len = 5, p.seq_len_kv = 3000;
    p.causal = p.lse = p.has_seq_lens_kv = true;
  });
  add(Layout::bshd, [](Problem& p) { p.lse = true; });
  add(Layout::bshd, [](Problem& p) { p.seq_len_kv = 200, p.causal = p.lse = true; });
  add(Layout::bshd, [](Problem& p) { p.window = 100; });
  add(Layout::bshd, [](Problem& p) { p.window = 100, p.causal = true; });
  add(Layout::bshd, [](Problem& p) { p.softmax_scale = 0.03F; });
  add(Layout::bshd, [](Problem& p) { p.seq_len = p.seq_len_kv = 1024, p.heads = 8; });
  return cases;
}

/// Makes the numbers of rows and pages those of the problem's sequences.
inline Problem with_totals(Problem p) {
  if (p.page_size > 0) {
    p.seq_len_kv = (p.seq_len_kv + p.page_size - 1) / p.page_size * p.page_size;
    p.pool_pages = p.batch * p.seq_len_kv / p.page_size + 1;
  }
  if (p.is_packed) {
    const Sequences sequences = sequences_of(p);
    p.queries_total = sequences.first_query.back();
    p.keys_total = sequences.first_key.back();
  }
  return p;
}

/// Small problems with packed sequences, and with keys in pages of this size, 0: without pages.
inline std::vector<Case> served_cases(const Problem& like, std::int64_t page_size) {
  Problem plain = plain_problem(like);
  plain.batch = 4;
  plain.heads = 4;
  plain.page_size = page_size;
  std::vector<Case> cases;
  const auto add = [&](auto change) {
    Problem problem = plain;
    change(problem);
    cases.push_back({with_totals(problem), Layout::bshd});
  };
  for (const bool causal : {false, true}) {
    add([&](Problem& p) { p.is_packed = true, p.causal = p.lse = causal; });
    if (page_size > 0) {
      add([&](Problem& p) { p.causal = causal; });
      add([&](Problem& p) {
        p.seq_len = causal ? 3 : 1, p.seq_len_kv = 1000;
        p.causal = p.lse = causal, p.has_seq_lens_kv = true;
      });
    }
  }
  return cases;
}

/// Such problems without pages, and with pages of all sizes. Where keys have scales, pages may have
/// them in their place.
inline std::vector<Case> served_cases(const Problem& like) {
  std::vector<Case> cases = served_cases(like, 0);
  const auto add = [&cases](const Problem& problem, std::int64_t page_size) {
    for (const Case& one : served_cases(problem, page_size)) {
      cases.push_back(one);
    }
  };
  Problem of_pages = like;
  of_pages.kv_scales = KvScales::page;
  for (std::int64_t page_size = 1; page_size <= detail::kMostPageSize; page_size *= 2) {
    add(like, page_size);
    if (like.kv_scales == KvScales::token) {
      add(of_pages, page_size);
    }
  }
  return cases;
}

/// Reduces a case to as little work as possible, and keeps what is special about it.
inline Case tiny(Case one) {
  Problem& p = one.problem;
  p.batch = p.has_seq_lens_kv || p.is_packed ? p.batch : 1;
  p.heads /= p.kv_heads;
  p.kv_heads = 1;
  p.seq_len = std::min<std::int64_t>(p.seq_len, 130);
  p.seq_len_kv = std::min<std::int64_t>(p.seq_len_kv, 200);
  p = with_totals(p);
  return one;
}

/// The cases that `cases_like` makes of a problem of each combination of types, head dimensions,
/// softcap and sinks that the library was tuned for.
template <typename CasesLike>
std::vector<Case> cases_of_kinds(CasesLike cases_like) {
  const auto& rows = detail::kTable.rows;
  std::set<std::tuple<DType, std::int64_t, std::int64_t, float, bool, KvDType, KvScales>> seen;
  std::vector<Case> cases;
  for (int i = 0; i < rows.count; ++i) {
    const Problem& problem = rows[i].problem;
    if (seen.insert({problem.dtype, problem.d_head, problem.d_head_v, problem.softcap,
                     problem.has_sinks, problem.kv_dtype, problem.kv_scales})
            .second) {
      for (const Case& one : cases_like(problem)) {
        cases.push_back(one);
      }
    }
  }
  return cases;
}

inline std::vector<Case> small_cases() {
  return cases_of_kinds([](const Problem& like) { return small_cases(like); });
}
inline std::vector<Case> served_cases() {
  return cases_of_kinds([](const Problem& like) { return served_cases(like); });
}

inline const char* layout_name(Layout layout) { return layout == Layout::bhsd ? "bhsd" : "bshd"; }

/// A problem like a tuned one, one with round numbers, or an arbitrary one.
inline Case random_case(std::uint64_t& seed) {
  const auto& rows = detail::kTable.rows;
  const auto one_of = [&seed](std::initializer_list<std::int64_t> values) {
    const auto last = static_cast<std::int64_t>(values.size()) - 1;
    return values.begin()[random_between(seed, 0, last)];
  };
  const auto length = [&] {
    const std::int64_t power = std::int64_t{1} << random_between(seed, 0, 14);
    return one_of({power, power, random_between(seed, 1, 20'000)});
  };
  Problem p;
  if (rows.count > 0) {
    p = rows[static_cast<int>(random_between(seed, 0, rows.count - 1))].problem;
  }
  if (rows.count == 0 || one_of({0, 0, 1}) == 1) {
    p.dtype = one_of({0, 1}) == 0 ? DType::fp16 : DType::bf16;
    p.d_head = one_of({32, 64, 80, 96, 128, 192, 256});
    p.d_head_v = one_of({p.d_head, p.d_head, 64, 128});
    p.causal = one_of({0, 1}) == 1;
  }
  if (one_of({0, 1, 1}) == 1) {
    p.seq_len = length();
    p.seq_len_kv = one_of({p.seq_len, p.seq_len, length()});
    p.batch = one_of({1, 2, 3, 4, 8, 16, 32});
    p.kv_heads = one_of({1, 2, 4, 8, 16});
    p.heads = p.kv_heads * one_of({1, 1, 1, 2, 3, 4, 8});
    p.window = one_of({0, 0, 0, 0, 128, 1000});
    p.lse = one_of({0, 0, 0, 1}) == 1;
  }
  return {p, one_of({0, 0, 1}) == 1 ? Layout::bhsd : Layout::bshd};
}

/// Prints a line for each selection: the problem, how the choice was made, and what was chosen.
inline void print_selections(int count, std::uint64_t seed, const Device& device) {
  for (int i = 0; i < count; ++i) {
    const Case one = random_case(seed);
    const Problem& p = one.problem;
    const Selection chosen = select(p, strides_of(one), device);
    std::printf(
        "batch=%lld heads=%lld kv_heads=%lld seq_len=%lld seq_len_kv=%lld d_head=%lld "
        "d_head_v=%lld dtype=%s%s causal=%d window=%lld lse=%d layout=%s row=%d kernel=%d "
        "step=%s config=%s\n",
        static_cast<long long>(p.batch), static_cast<long long>(p.heads),
        static_cast<long long>(p.kv_heads), static_cast<long long>(p.seq_len),
        static_cast<long long>(p.seq_len_kv), static_cast<long long>(p.d_head),
        static_cast<long long>(p.d_head_v), p.dtype == DType::bf16 ? "bf16" : "fp16",
        kv_text(p).c_str(), int{p.causal}, static_cast<long long>(p.window), int{p.lse},
        layout_name(one.layout), chosen.row, chosen.kernel, step_name(chosen.step), chosen.config);
  }
}

}  // namespace example
