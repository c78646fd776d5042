#include "unit/choose/sample_library.hpp"

#include <fmt/format.h>

#include <array>
#include <map>

#include "base/file_tree.hpp"
#include "choose/library.hpp"
#include "choose/time_fit.hpp"
#include "choose/tuned_table.hpp"
#include "gpu/compiler.hpp"
#include "model/device_limits.hpp"
#include "model/kv_lengths.hpp"
#include "model/kv_pages.hpp"
#include "model/problem.hpp"
#include "plan/config_text.hpp"
#include "plan/planner.hpp"

namespace fatune::samples {
namespace {

constexpr std::size_t kConfigsOfFamily = 6;
const LibraryFeatures kFeatures{.packed = true, .page_sizes = {16, 64}};

FileTree tree() {
  FileTree files;
  files.overlay_kernels(FATUNE_SOURCE_DIR "/tests/families/toy_attention");
  files.overlay_kernels(FATUNE_SOURCE_DIR "/tests/families/tma_toy");
  return files;
}

/// Some configurations, spread over the whole of the family's default space.
std::vector<Config> some_configs(const Family& family) {
  std::vector<Config> kept =
      make_plan(family, load_space(tree(), family, family.default_space)).kept;
  // Libraries take V as a tensor of its own.
  std::erase_if(kept, [&](const Config& config) { return usual_latent(family, config); });
  std::vector<Config> some;
  const std::size_t step = kept.size() / kConfigsOfFamily + 1;
  for (std::size_t i = 0; i < kept.size(); i += step) {
    some.push_back(kept[i]);
  }
  return some;
}

/// A problem that fits the configuration's bound values.
Problem problem_of(const Family& family, const Config& config, std::int64_t seq_len) {
  Problem problem{2, seq_len, 8, 64, DType::fp16, false};
  for (std::size_t i = 0; i < family.parameters.size(); ++i) {
    if (family.parameters[i].binds == ProblemProperty::dtype) {
      problem.dtype = static_cast<DType>(config.values[i]);
    } else if (family.parameters[i].binds == ProblemProperty::d_head) {
      problem.d_head = config.values[i];
      problem.d_head_v = usual_d_head_v(family, config).value_or(problem.d_head);
    }
  }
  return usual_problem(problem);
}

TunedProblem row_of(const Family& family, const Config& config, const Problem& problem) {
  return {model_of(h200()), problem, {{config, short_form(family, config), 10.0, 0.0, 1, "gpu"}}};
}

Problem with_kv(Problem problem, DType kv_dtype, KvScales kv_scales) {
  problem.kv_dtype = kv_dtype;
  problem.kv_scales = kv_scales;
  return problem;
}

/// Adds rows of the problem with K and V of 8 bits, as far as the family takes it.
void add_eight_bit_rows(const Family& family, const Config& config, const Problem& problem,
                        TunedTable& table) {
  for (const Problem& eight : {with_kv(problem, DType::e4m3, KvScales::head),
                               with_kv(problem, DType::e5m2, KvScales::token)}) {
    if (!check_valid(family, config, &eight)) {
      table.problems.push_back(row_of(family, config, eight));
    }
  }
}

Artifact fake_artifact(const CompileRequest& request) {
  Artifact artifact;
  artifact.lowered_name = "kernel \"" + request.entry_point + '"';
  const std::string key = artifact_key(request);
  artifact.cubin.assign(key.begin(), key.end());
  return artifact;
}

}  // namespace

FamilySet library_families() {
  std::vector<Family> families;
  for (const char* name : {"flash_sm80", "flash_sm90", "flash_decode", "flash_decode_sm80",
                           "toy_attention", "tma_toy"}) {
    families.push_back(load_family(tree(), name));
  }
  return FamilySet(std::move(families));
}

DeviceLimits h200() {
  DeviceLimits limits = load_device_limits(FileTree(), Arch{90, 'a'});
  limits.name = "NVIDIA H200";
  return limits;
}

TunedTable library_table(const FamilySet& families) {
  TunedTable table;
  table.origins.push_back({"samples", {}, {}, {}, {}});
  table.gpus.emplace(model_of(h200()), h200());
  std::int64_t seq_len = 512;
  for (const Family& family : families.all()) {
    for (const Config& config : some_configs(family)) {
      const Problem problem = problem_of(family, config, seq_len);
      add_eight_bit_rows(family, config, problem, table);
      table.problems.push_back(row_of(family, config, problem));
      if (family.estimate.model) {
        table.problems.push_back(table.problems.back());
        table.problems.back().problem.causal = true;
      }
      seq_len += 512;  // different lengths: each row is kept
    }
  }
  add_model_times(table, families);
  finish_table(table);
  return table;
}

Library library_of(const FamilySet& families, const TunedTable& table) {
  Library library{families, table, {}, {}};
  const RuntimeTable runtime_table(table);
  std::map<std::string, std::size_t> codes;
  const std::vector<const Config*>& configs = runtime_table.configs();
  const auto cases = kernel_cases(table, families, configs, kFeatures);
  for (std::size_t i = 0; i < configs.size(); ++i) {
    LibraryConfig& made = library.configs.emplace_back(LibraryConfig{*configs[i], {}});
    for (const auto& [key, one] : cases[i]) {
      const CompileRequest request =
          compile_request({families.of(*configs[i]), *configs[i], one.problem, *one.device});
      const auto [known, is_new] = codes.try_emplace(artifact_key(request), library.codes.size());
      if (is_new) {
        library.codes.push_back({std::make_shared<const Artifact>(fake_artifact(request)),
                                 known->first, one.device->arch});
      }
      made.kernels.push_back({key, known->second});
    }
  }
  return library;
}

Problem any_problem(std::mt19937& engine) {
  const auto below = [&](std::int64_t end) {
    return std::uniform_int_distribution<std::int64_t>(0, end - 1)(engine);
  };
  constexpr std::array<std::int64_t, 12> kLengths{1,    17,   64,   128,  500,  512,
                                                  1000, 1024, 2048, 2560, 4160, 16384};
  Problem problem{1 + below(20),  kLengths.at(static_cast<std::size_t>(below(12))), 8 << below(2),
                  64 << below(3), below(2) == 0 ? DType::fp16 : DType::bf16,        below(2) == 0};
  problem.seq_len_kv =
      below(3) == 0 ? kLengths.at(static_cast<std::size_t>(below(12))) : problem.seq_len;
  problem.kv_heads = problem.heads >> below(3);
  problem.window = below(6) == 0 ? 1 + below(300) : 0;
  problem.lse = below(3) == 0;
  if (below(4) == 0) {
    problem = with_unknown_kv_lengths(problem);
  }
  // Strides of tensors with one row are the same in both layouts.
  problem.layout = below(4) == 0 && problem.seq_len > 1 ? Layout::bhsd : Layout::bshd;
  const std::int64_t form = below(7);
  if (form == 0 || form == 1) {
    problem.page_size = kFeatures.page_sizes.at(static_cast<std::size_t>(below(2)));
    problem.seq_len_kv = pages_of_sequence(problem) * problem.page_size;
    problem = problem.seq_lens_kv.empty() ? problem : with_unknown_kv_lengths(problem);
  }
  if (below(4) == 0) {
    const std::int64_t scales = below(has_pages(problem) ? 4 : 3);
    problem =
        with_kv(problem, below(2) == 0 ? DType::e4m3 : DType::e5m2, static_cast<KvScales>(scales));
  }
  if (form == 1 || form == 2) {
    problem.layout = Layout::bshd;
    problem.seq_lens = canonical_lengths(fmt::format("uniform:1-{}", problem.seq_len));
    problem.seq_lens_kv = canonical_lengths(fmt::format("uniform:1-{}", problem.seq_len_kv));
  }
  return problem;
}

}  // namespace fatune::samples
