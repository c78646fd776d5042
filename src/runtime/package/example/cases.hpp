// Test problems: tuned ones, and small ones of every kind.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "kernel_table.hpp"
#include "tensor_strides.hpp"

namespace example {

/// How tensors lie in memory. The first two layouts are contiguous.
enum class Layout { bshd, bhsd, padded };

struct Case {
  fatune_attention::Problem problem;
  Layout layout = Layout::bshd;
};

/// The strides of one tensor. Padded rows, heads and sequences have a few elements between them.
inline fatune_attention::Tensor strides_of(const fatune_attention::detail::Extents& extents,
                                           Layout layout) {
  if (layout != Layout::padded) {
    return fatune_attention::detail::contiguous_tensor(extents, layout == Layout::bhsd);
  }
  const std::int64_t head_stride = extents.d + 8;
  const std::int64_t row_stride = extents.heads * head_stride + 16;
  return {nullptr, extents.rows * row_stride + 24, head_stride, row_stride};
}

/// The strides of a problem's tensors, without addresses.
inline fatune_attention::Tensors strides_of(const Case& one) {
  const auto [q, k, v, o] = fatune_attention::detail::extents_of(one.problem);
  return {strides_of(q, one.layout), strides_of(k, one.layout), strides_of(v, one.layout),
          strides_of(o, one.layout), nullptr};
}

/// The number of elements from the first element of a tensor to its last, gaps included.
inline std::size_t elements_of(const fatune_attention::detail::ShapedTensor& shaped) {
  const auto& [batch, heads, rows, d] = shaped.extents;
  const fatune_attention::Tensor& tensor = *shaped.tensor;
  return static_cast<std::size_t>((batch - 1) * tensor.batch_stride +
                                  (heads - 1) * tensor.head_stride +
                                  (rows - 1) * tensor.row_stride + d);
}

/// "b4 s4096 kv4096 h16/16 d128/128 bf16 causal".
inline std::string text_of(const Case& one) {
  const fatune_attention::Problem& p = one.problem;
  const auto number = [](std::int64_t value) { return std::to_string(value); };
  std::string text = "b" + number(p.batch) + " s" + number(p.seq_len) + " kv" +
                     number(p.seq_len_kv) + " h" + number(p.heads) + "/" + number(p.kv_heads) +
                     " d" + number(p.d_head) + "/" + number(p.d_head_v);
  text += p.dtype == fatune_attention::DType::bf16 ? " bf16" : " fp16";
  text += p.causal ? " causal" : "";
  text += p.window > 0 ? " w" + number(p.window) : "";
  text += p.lse ? " lse" : "";
  return text + (one.layout == Layout::bhsd     ? " bhsd"
                 : one.layout == Layout::padded ? " padded"
                                                : "");
}

/// Every `step`-th problem that the library was tuned for.
inline std::vector<Case> tuned_cases(int step) {
  const auto& rows = fatune_attention::detail::kTable.rows;
  std::vector<Case> cases;
  for (int i = 0; i < rows.count; i += step) {
    cases.push_back({rows[i].problem, rows[i].layout_bhsd ? Layout::bhsd : Layout::bshd});
  }
  return cases;
}

/// Small problems with the type and head dimensions of `like`.
inline std::vector<Case> small_cases(const fatune_attention::Problem& like) {
  fatune_attention::Problem plain = like;
  plain.batch = 2;
  plain.heads = plain.kv_heads = 2;
  plain.seq_len = plain.seq_len_kv = 333;
  plain.causal = false;
  plain.window = 0;
  plain.lse = false;
  std::vector<Case> cases;
  const auto add = [&](Layout layout, auto change) {
    fatune_attention::Problem problem = plain;
    change(problem);
    cases.push_back({problem, layout});
  };
  using Problem = fatune_attention::Problem;
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
  add(Layout::bshd, [](Problem& p) { p.lse = true; });
  add(Layout::bshd, [](Problem& p) { p.seq_len_kv = 200, p.causal = p.lse = true; });
  add(Layout::bshd, [](Problem& p) { p.window = 100; });
  add(Layout::bshd, [](Problem& p) { p.window = 100, p.causal = true; });
  add(Layout::bshd, [](Problem& p) { p.softmax_scale = 0.03F; });
  add(Layout::bshd, [](Problem& p) { p.seq_len = p.seq_len_kv = 1024, p.heads = 8; });
  return cases;
}

/// Reduces a case to as little work as possible, and keeps what is special about it.
inline Case tiny(Case one) {
  fatune_attention::Problem& p = one.problem;
  p.batch = 1;
  p.heads /= p.kv_heads;
  p.kv_heads = 1;
  p.seq_len = std::min<std::int64_t>(p.seq_len, 130);
  p.seq_len_kv = std::min<std::int64_t>(p.seq_len_kv, 200);
  return one;
}

/// Small problems for each combination of type and head dimensions that the library was tuned for.
inline std::vector<Case> small_cases() {
  const auto& rows = fatune_attention::detail::kTable.rows;
  std::set<std::tuple<fatune_attention::DType, std::int64_t, std::int64_t>> seen;
  std::vector<Case> cases;
  for (int i = 0; i < rows.count; ++i) {
    const fatune_attention::Problem& problem = rows[i].problem;
    if (seen.insert({problem.dtype, problem.d_head, problem.d_head_v}).second) {
      for (const Case& one : small_cases(problem)) {
        cases.push_back(one);
      }
    }
  }
  return cases;
}

}  // namespace example
