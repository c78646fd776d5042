#include "model/problem.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <concepts>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/json_file.hpp"
#include "base/ranges.hpp"
#include "base/text_parts.hpp"
#include "model/kv_lengths.hpp"
#include "model/kv_pages.hpp"

namespace fatune {
namespace {

void check_range(std::int64_t value, std::string_view name, std::int64_t least,
                 std::int64_t greatest) {
  if (value < least || value > greatest) {
    throw Error(ExitCode::usage, fmt::format("{} is {}", name, value), {},
                fmt::format("it must be an integer from {} to {}", least, greatest));
  }
}

std::string range_name(const char* kind, const std::string& family, const Problem& problem) {
  return fmt::format("{}_{}_B{}_H{}_N{}_D{}", kind, family, problem.batch, problem.heads,
                     problem.seq_len, problem.d_head);
}

/// Up to four lengths that differ: `most`, none, a number that fills no tile, and one.
std::vector<std::int64_t> few_lengths(std::int64_t most, std::int64_t sequences) {
  std::vector<std::int64_t> lengths{most, 0, std::min((2 * most / 3) | 1, most), 1};
  lengths.resize(static_cast<std::size_t>(std::min(sequences, std::ssize(lengths))));
  return lengths;
}

/// The problem with batch 1 or, if it has lengths, with up to `batch` sequences, at most four, of
/// other lengths that differ. If both queries and keys have lengths, sequences without keys have a
/// query, and the other way round.
Problem with_batch(Problem problem, std::int64_t batch) {
  if (is_packed(problem)) {
    std::vector<std::int64_t> queries = few_lengths(problem.seq_len, batch);
    if (!problem.seq_lens_kv.empty() && queries.size() > 3) {
      std::swap(queries[1], queries[3]);
    }
    problem = with_query_lengths(std::move(problem), queries);
  }
  if (!problem.seq_lens_kv.empty()) {
    return with_kv_lengths(std::move(problem), few_lengths(problem.seq_len_kv, batch));
  }
  problem.batch = is_packed(problem) ? problem.batch : 1;
  return problem;
}

using Kind = ProblemDetail::Kind;

constexpr std::array<DetailName, 4> kDTypes{
    {{"FP16", 5}, {"BF16", 15}, {"E5M2", 23}, {"E4M3", 24}}};
constexpr std::array<DetailName, 2> kLayouts{{{"bshd", 0}, {"bhsd", 1}}};
constexpr std::array<DetailName, 5> kScales{
    {{"tensor", 0}, {"head", 1}, {"token", 2}, {"page", 3}, {"block", 4}}};

std::string_view name_of(std::span<const DetailName> names, int value) {
  return std::ranges::find(names, value, &DetailName::value)->name;
}

/// The value of that name, in any case; nothing if there is none.
std::optional<int> value_of(std::span<const DetailName> names, std::string_view text) {
  const auto same = [](unsigned char a, unsigned char b) {
    return std::tolower(a) == std::tolower(b);
  };
  const auto found = std::ranges::find_if(
      names, [&](const DetailName& one) { return std::ranges::equal(one.name, text, same); });
  return found == names.end() ? std::nullopt : std::optional(found->value);
}

std::string range_text(const ProblemDetail& detail) {
  if (!detail.names().empty()) {
    return "one of " + joined(detail.names(), ", ", &DetailName::name);
  }
  if (detail.kind == Kind::flag) {
    return "true or false";
  }
  if (detail.kind == Kind::lengths) {
    return "a text";
  }
  return fmt::format("{} from {} to {}", detail.kind == Kind::integer ? "an integer" : "a number",
                     detail.least, detail.greatest);
}

bool is_in_range(const ProblemDetail& detail, double value) {
  return value >= detail.least && value <= detail.greatest &&
         (detail.kind != Kind::integer || value == std::floor(value)) &&
         (detail.names().empty() ||
          is_among(static_cast<int>(value), detail.names(), &DetailName::value));
}

/// The value as the table holds it; nothing if it is of another kind.
std::optional<double> number_of(const ProblemDetail& detail, const DetailValue& value) {
  const Kind kind = detail.kind;
  if (const auto* text = std::get_if<std::string>(&value)) {
    return detail.names().empty() ? std::nullopt
                                  : std::optional(static_cast<double>(detail.parse_name(*text)));
  }
  if (const auto* flag = std::get_if<bool>(&value)) {
    return kind == Kind::flag ? std::optional(*flag ? 1.0 : 0.0) : std::nullopt;
  }
  if (kind == Kind::flag || kind == Kind::lengths || !detail.names().empty()) {
    return std::nullopt;
  }
  const auto* integer = std::get_if<std::int64_t>(&value);
  return integer != nullptr ? static_cast<double>(*integer) : std::get<double>(value);
}

DetailValue detail_in(const nlohmann::json& json) {
  if (json.is_boolean()) {
    return json.get<bool>();
  }
  return json.is_number() ? DetailValue(json.get<double>()) : DetailValue(json.get<std::string>());
}

[[noreturn]] void refuse(const std::string& what, const char* remedy) {
  throw Error(ExitCode::usage, what, {}, remedy);
}

void check_dtype(const Problem& problem) {
  if (!has_eight_bits(problem.dtype)) {
    return;
  }
  if (problem.dtype != DType::e4m3) {
    refuse(fmt::format("Q cannot be {}", dtype_name(problem.dtype)), "use FP16, BF16 or E4M3");
  }
  if (problem.kv_dtype != problem.dtype) {
    refuse(fmt::format("K and V are {} and Q is {}", dtype_name(problem.kv_dtype),
                       dtype_name(problem.dtype)),
           "K and V have the type of a Q of 8 bits: leave kv_dtype out");
  }
  if (problem.kv_scales == KvScales::token || problem.kv_scales == KvScales::page) {
    refuse("scales of keys need Q of 16 bits",
           "choose kv_scales tensor, head or block, or another dtype");
  }
}

void check_kv_dtype(const Problem& problem) {
  if (!has_scales(problem)) {
    if (problem.kv_dtype != problem.dtype) {
      refuse(fmt::format("K and V are {} and Q is {}", dtype_name(problem.kv_dtype),
                         dtype_name(problem.dtype)),
             "kv_dtype must be that of Q, E4M3 or E5M2");
    }
    if (problem.kv_scales != KvScales::tensor) {
      refuse(fmt::format("K and V in {} have no scales", dtype_name(problem.kv_dtype)),
             "only those of kv_dtype E4M3 and E5M2 do");
    }
  } else if (problem.latent) {
    refuse("V within K cannot have 8 bits", "leave kv_dtype out");
  } else if (problem.kv_scales == KvScales::page && !has_pages(problem)) {
    refuse("K and V are not in pages, which could have scales",
           "name a page_size, or choose other kv_scales");
  } else if (problem.kv_scales == KvScales::block && !has_query_scales(problem)) {
    refuse("scales of blocks need Q of 8 bits", "choose other kv_scales, or the dtype E4M3");
  }
}

}  // namespace

double ProblemDetail::get(const Problem& problem) const {
  const auto number = [&]<typename Value>(Value Problem::*const of) {
    if constexpr (std::same_as<Value, std::string>) {
      return (problem.*of).empty() ? 0.0 : 1.0;
    } else {
      return static_cast<double>(problem.*of);
    }
  };
  return std::visit(number, member);
}

std::span<const DetailName> ProblemDetail::names() const {
  switch (kind) {
    case Kind::layout:
      return kLayouts;
    case Kind::kv_dtype:
      return kDTypes;
    case Kind::kv_scales:
      return kScales;
    default:
      return {};
  }
}

int ProblemDetail::parse_name(std::string_view text, const std::string& where) const {
  if (const auto value = value_of(names(), text)) {
    return *value;
  }
  throw Error(ExitCode::usage, fmt::format("unknown {} '{}'", name, text), where,
              "use one of " + joined(names(), ", ", &DetailName::name));
}

std::string_view dtype_name(DType dtype) { return name_of(kDTypes, static_cast<int>(dtype)); }

DType parse_dtype(std::string_view text) {
  const auto value = value_of(kDTypes, text);
  if (!value || static_cast<DType>(*value) == DType::e5m2) {
    throw Error(ExitCode::usage, fmt::format("unknown dtype '{}'", text), {},
                "use fp16, bf16 or e4m3 (any case)");
  }
  return static_cast<DType>(*value);
}

float usual_softmax_scale(std::int64_t d_head) {
  return 1.0F / std::sqrt(static_cast<float>(std::max<std::int64_t>(d_head, 1)));
}

std::int64_t default_batch(std::int64_t seq_len) {
  constexpr std::int64_t kMaxTokens = 65536;
  std::int64_t batch = 16;
  while (batch > 1 && batch * seq_len > kMaxTokens) {
    batch /= 2;
  }
  return batch;
}

std::int64_t rows_per_output_head(const Problem& problem) {
  return is_packed(problem) ? total_queries(problem) : problem.seq_len;
}

std::int64_t group_size(const Problem& problem) { return problem.heads / problem.kv_heads; }

void check_problem(const Problem& problem) {
  constexpr std::int64_t kGridYZ = 65535;  // CUDA's limit for gridDim.y and gridDim.z
  check_range(problem.seq_len, "seq_len", 1, kMostSeqLen);
  check_range(problem.d_head, "d_head", 1, kMostHeadDim);
  check_range(problem.heads, "heads", 1, kGridYZ);
  check_range(problem.batch, "batch", 1, kGridYZ);
  for (const ProblemDetail& detail : kProblemDetails) {
    if (!is_in_range(detail, detail.get(problem))) {
      throw Error(ExitCode::usage, fmt::format("{} is {}", detail.name, detail.get(problem)), {},
                  "it must be " + range_text(detail));
    }
  }
  constexpr float kLeastSoftcap = 1e-3F;  // far less would make the quotient scale / cap infinite
  if (problem.softcap > 0.0F && problem.softcap < kLeastSoftcap) {
    throw Error(ExitCode::usage, fmt::format("softcap is {}", problem.softcap), {},
                fmt::format("it must be 0, or a number from {} to {}", kLeastSoftcap,
                            find_detail("softcap").greatest));
  }
  if (problem.heads % problem.kv_heads != 0) {
    throw Error(ExitCode::usage,
                fmt::format("{} heads of queries cannot share {} heads of keys", problem.heads,
                            problem.kv_heads),
                {}, "kv_heads must divide heads");
  }
  if (problem.latent && problem.d_head_v > problem.d_head) {
    throw Error(
        ExitCode::usage,
        fmt::format("K has {} columns, of which V cannot be {}", problem.d_head, problem.d_head_v),
        {}, "of a latent problem, d_head_v must be at most d_head");
  }
  check_lengths(problem);
  check_pages(problem);
  check_dtype(problem);
  check_kv_dtype(problem);
}

std::string describe(const Problem& problem) {
  std::string text =
      fmt::format("b{} s{} h{} d{} {}{}", problem.batch, problem.seq_len, problem.heads,
                  problem.d_head, dtype_name(problem.dtype), problem.causal ? " causal" : "");
  for (const ProblemDetail& detail : kProblemDetails) {
    if (is_unusual(detail, problem)) {
      const std::string value = detail_text(detail, problem);
      text +=
          fmt::format(" {}{}", detail.label,
                      detail.kind == ProblemDetail::Kind::lengths ? short_lengths(value) : value);
    }
  }
  return text;
}

std::string option_text(const Problem& problem) {
  std::string text = fmt::format("--seq {} --batch {} --heads {} --dhead {} --dtype {}{}",
                                 problem.seq_len, problem.batch, problem.heads, problem.d_head,
                                 dtype_name(problem.dtype), problem.causal ? " --causal" : "");
  for (const ProblemDetail& detail : kProblemDetails) {
    if (is_unusual(detail, problem)) {
      const std::string value = detail_text(detail, problem);
      text += fmt::format(" {}{}{}", detail.option, value.empty() ? "" : " ", value);
    }
  }
  return text;
}

std::string file_name_part(const Problem& problem) {
  std::string name = describe(problem);
  std::ranges::replace(name, ' ', '_');
  return name;
}

std::string bench_range_name(const std::string& family, const Problem& problem) {
  return range_name("bench", family, problem);
}

std::string attention_range_name(const std::string& family, const Problem& problem,
                                 const std::string& config) {
  return fmt::format("{} {}", range_name("attention", family, problem), config);
}

TensorShape tensor_shape(const Problem& problem, TensorRole role) {
  const bool of_keys = role == TensorRole::k || role == TensorRole::v;
  TensorShape shape;
  shape.batch = is_packed(problem) ? 1 : problem.batch;
  shape.rows = is_packed(problem) ? (of_keys ? total_keys(problem) : total_queries(problem))
               : of_keys          ? problem.seq_len_kv
                                  : problem.seq_len;
  if (of_keys && has_pages(problem)) {
    shape.batch = pool_pages(problem);
    shape.rows = problem.page_size;
  }
  shape.heads = of_keys ? problem.kv_heads : problem.heads;
  const auto columns_of = [&](TensorRole of) {
    return of == TensorRole::q || of == TensorRole::k ? problem.d_head : problem.d_head_v;
  };
  shape.columns = columns_of(role);
  const std::int64_t stored = columns_of(stored_in(problem, role));
  shape.batch_stride = shape.rows * shape.heads * stored;
  const bool heads_inside = problem.layout == Layout::bshd;
  shape.row_stride = heads_inside ? shape.heads * stored : stored;
  shape.head_stride = heads_inside ? stored : shape.rows * stored;
  return shape;
}

TensorShape scale_shape(const Problem& problem, TensorRole role) {
  TensorShape of = tensor_shape(problem, role == TensorRole::q ? role : TensorRole::k);
  if (const std::int64_t block = scale_block(problem)) {
    const std::int64_t rows = role == TensorRole::q ? problem.seq_len : problem.seq_len_kv;
    of.batch = problem.batch;
    of.rows = (rows + block - 1) / block;
  }
  // check_problem() leaves a Q of 8 bits none of tokens or pages.
  const bool each_row = problem.kv_scales == KvScales::token || scale_block(problem) > 0;
  const bool each_batch = each_row || problem.kv_scales == KvScales::page;
  TensorShape shape;
  shape.batch = each_batch ? of.batch : 1;
  shape.rows = each_row ? of.rows : 1;
  shape.heads = problem.kv_scales == KvScales::tensor ? 1 : of.heads;
  shape.columns = 1;
  shape.batch_stride = each_batch ? shape.rows * shape.heads : 0;
  shape.row_stride = each_row ? shape.heads : 0;
  shape.head_stride = problem.kv_scales == KvScales::tensor ? 0 : 1;
  return shape;
}

Problem probe_problem(const Problem& problem) { return with_batch(problem, problem.batch); }

std::int64_t short_length(std::int64_t seq_len) {
  if (seq_len <= kShortLength) {
    return seq_len;
  }
  const std::int64_t rest = seq_len % kShortLength;
  return rest < kShortLength / 2 ? kShortLength + rest : rest;
}

Problem small_problem(const Problem& problem) {
  constexpr std::int64_t kSequences = 4;
  Problem small = problem;
  small.seq_len = short_length(problem.seq_len);
  small.seq_len_kv = short_length(problem.seq_len_kv);
  return with_batch(std::move(small), kSequences);
}

std::optional<Problem> narrow_problem(const Problem& problem) {
  constexpr std::int64_t kPart = 3;  // a third of 256 keys is ragged for every tile
  Problem small = small_problem(problem);
  const auto longest = [](const Problem& of) { return std::max(of.seq_len, of.seq_len_kv); };
  if (problem.window >= longest(problem) || problem.window < longest(small)) {
    return std::nullopt;
  }
  small.window = (small.seq_len_kv + kPart - 1) / kPart;
  return small;
}

Problem changed(const Problem& problem, const std::function<void(Problem&)>& change) {
  Problem plain = problem;
  change(plain);
  Problem result = usual_problem(plain);
  for (const ProblemDetail& detail : kProblemDetails) {
    if (is_unusual(detail, problem)) {
      std::visit([&](auto member) { result.*member = problem.*member; }, detail.member);
    }
  }
  return result;
}

DetailValue detail_value(const ProblemDetail& detail, const Problem& problem) {
  const auto value = [&]<typename Value>(Value Problem::*const of) -> DetailValue {
    if constexpr (std::is_enum_v<Value>) {
      return std::string(name_of(detail.names(), static_cast<int>(problem.*of)));
    } else {
      return problem.*of;
    }
  };
  return std::visit(value, detail.member);
}

void set_detail(const ProblemDetail& detail, Problem& problem, const DetailValue& value) {
  if (const auto* text = std::get_if<std::string>(&value); text && detail.kind == Kind::lengths) {
    problem.*std::get<std::string Problem::*>(detail.member) =
        text->empty() ? *text : canonical_lengths(*text);
    return;
  }
  const auto number = number_of(detail, value);
  if (!number || !is_in_range(detail, *number)) {
    throw Error(ExitCode::usage, fmt::format("{} is not {}", detail.name, range_text(detail)));
  }
  const auto set = [&]<typename Value>(Value Problem::*const to) {
    if constexpr (!std::same_as<Value, std::string>) {
      problem.*to = static_cast<Value>(*number);
    }
  };
  std::visit(set, detail.member);
}

DetailValue held_value(const ProblemDetail& detail, const DetailValue& value) {
  Problem holder;
  set_detail(detail, holder, value);
  return detail_value(detail, holder);
}

std::string detail_text(const ProblemDetail& detail, const Problem& problem) {
  const DetailValue value = detail_value(detail, problem);
  if (const auto* text = std::get_if<std::string>(&value)) {
    return *text;
  }
  return detail.kind == Kind::flag     ? ""
         : detail.kind == Kind::number ? fmt::format("{}", static_cast<float>(detail.get(problem)))
                                       : fmt::format("{:.0f}", detail.get(problem));
}

DetailValues read_details(const JsonNode& node) {
  DetailValues details;
  for (const ProblemDetail& detail : kProblemDetails) {
    const auto found = node.find(std::string(detail.name));
    if (found && !found->raw().is_null()) {
      details[&detail] = held_value(detail, detail_in(found->raw()));
    }
  }
  return details;
}

Problem read_problem(const JsonNode& node) {
  Problem problem{node.at("batch").integer(),           node.at("seq_len").integer(),
                  node.at("heads").integer(),           node.at("d_head").integer(),
                  parse_dtype(node.at("dtype").text()), node.at("causal").boolean()};
  for (const auto& [detail, value] : read_details(node)) {
    set_detail(*detail, problem, value);
  }
  return problem;
}

}  // namespace fatune
