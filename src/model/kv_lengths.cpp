#include "model/kv_lengths.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "base/ranges.hpp"
#include "base/sha256.hpp"
#include "base/text_parts.hpp"

namespace fatune {
namespace {

constexpr std::string_view kUniform = "uniform";
constexpr std::string_view kZipf = "zipf";
constexpr std::uint64_t kMostExponent = 16;

/// The generator of a "uniform:" or "zipf:".
struct Distribution {
  std::string_view name;
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  std::uint64_t exponent = 1;  ///< of zipf
  std::uint64_t seed = 0;
};

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
  constexpr std::size_t kMostShown = 60;
  throw Error(ExitCode::usage,
              fmt::format("'{}{}' is no list or distribution of lengths: {}",
                          text.substr(0, kMostShown), text.size() > kMostShown ? "..." : "", why),
              {},
              "write a list such as 4096,17,0, uniform:LOW-HIGH[:SEED] or "
              "zipf:LOW-HIGH[:EXPONENT[:SEED]]");
}

std::uint64_t read_number(std::string_view whole, std::string_view text, std::uint64_t most) {
  const auto value = whole_number<std::uint64_t>(trim(text));
  if (!value || *value > most) {
    refuse(whole, fmt::format("'{}' is not an integer from 0 to {}", text, most));
  }
  return *value;
}

bool is_distribution(std::string_view text) { return text.find(':') != std::string_view::npos; }

Distribution read_distribution(std::string_view text) {
  const std::vector<std::string_view> parts = split_at(text, ':');
  Distribution made{.name = trim(parts[0])};
  const bool is_zipf = made.name == kZipf;
  if (!is_zipf && made.name != kUniform) {
    refuse(text, fmt::format("there is no '{}'", made.name));
  }
  if (parts.size() > (is_zipf ? 4U : 3U)) {
    refuse(text, "it has too many parts");
  }
  std::string_view high = parts[1];
  made.low = read_number(text, take_until(high, '-'), kMostSeqLen);
  made.high = read_number(text, high, kMostSeqLen);
  if (made.low > made.high) {
    refuse(text, fmt::format("{} is greater than {}", made.low, made.high));
  }
  if (is_zipf && parts.size() > 2) {
    made.exponent = read_number(text, parts[2], kMostExponent);
  }
  if (const std::size_t seed = is_zipf ? 3 : 2; parts.size() > seed) {
    made.seed = read_number(text, parts[seed], UINT64_MAX);
  }
  return made;
}

std::vector<std::int64_t> read_list(std::string_view text) {
  return mapped(split_at(text, ','), [&](std::string_view part) {
    return static_cast<std::int64_t>(read_number(text, part, kMostSeqLen));
  });
}

/// The output number `index` of the generator splitmix64 (Steele, Lea and Flood, 2014).
std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t bits = seed + (index + 1) * 0x9e3779b97f4a7c15U;
  bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111ebU;
  return bits ^ (bits >> 31U);
}

std::int64_t uniform_length(const Distribution& of, std::uint64_t sequence) {
  const std::uint64_t count = of.high - of.low + 1;
  return static_cast<std::int64_t>(of.low +
                                   ((random_bits(of.seed, sequence) >> 32U) * count >> 32U));
}

std::int64_t zipf_length(const Distribution& of, std::uint64_t rank) {
  std::uint64_t length = of.high;
  for (std::uint64_t i = 0; i < of.exponent; ++i) {
    length /= rank;  // rounding down again and again equals rounding down once
  }
  return static_cast<std::int64_t>(std::max(of.low, length));
}

std::vector<std::int64_t> drawn(const Distribution& of, std::int64_t batch) {
  std::vector<std::uint64_t> sequences(static_cast<std::size_t>(batch));
  std::iota(sequences.begin(), sequences.end(), std::uint64_t{0});
  std::vector<std::int64_t> lengths(sequences.size());
  if (of.name == kUniform) {
    std::ranges::transform(sequences, lengths.begin(),
                           [&](std::uint64_t sequence) { return uniform_length(of, sequence); });
    return lengths;
  }
  std::ranges::sort(sequences, {}, [&](std::uint64_t sequence) {
    return std::pair(random_bits(of.seed, sequence), sequence);
  });
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    lengths[sequences[i]] = zipf_length(of, i + 1);
  }
  return lengths;
}

/// The lengths that the text gives the sequences of the batch; without a text, all are `otherwise`.
std::vector<std::int64_t> lengths_of(const Problem& problem, const std::string& text,
                                     std::int64_t otherwise) {
  constexpr std::int64_t kMostSequences = 65535;  // check_problem() allows no more
  const std::int64_t batch = std::clamp<std::int64_t>(problem.batch, 0, kMostSequences);
  if (text.empty()) {
    return std::vector<std::int64_t>(static_cast<std::size_t>(batch), otherwise);
  }
  return is_distribution(text) ? drawn(read_distribution(text), batch) : read_list(text);
}

std::int64_t total_of(const std::vector<std::int64_t>& lengths) {
  return std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
}

/// Throws Error(usage) if the text lists lengths of more or fewer sequences than the batch has.
void check_listed(const Problem& problem, const std::string& text, std::string_view what,
                  std::string_view name) {
  const std::int64_t listed =
      text.empty() ? problem.batch : listed_sequences(text).value_or(problem.batch);
  if (listed != problem.batch) {
    throw Error(
        ExitCode::usage,
        fmt::format("there are {} lengths of {} for a batch of {}", listed, what, problem.batch),
        {}, fmt::format("{} lists one for each sequence", name));
  }
}

void check_total(std::int64_t total, std::string_view what) {
  if (total < 1 || total > kMostSeqLen) {
    throw Error(ExitCode::usage,
                fmt::format("the sequences of a packed batch have {} {} together", total, what), {},
                fmt::format("together they must have 1 to {}", kMostSeqLen));
  }
}

/// The text of lengths that all are the same.
std::string equal_lengths(std::int64_t length) {
  return canonical_lengths(fmt::format("{0}:{1}-{1}", kUniform, length));
}

/// The part of check_lengths() that concerns packed problems.
void check_packed(const Problem& problem) {
  if (!is_packed(problem)) {
    return;
  }
  if (problem.layout != Layout::bshd) {
    throw Error(ExitCode::usage, "a packed batch has no layout bhsd", {},
                "sequences are packed along the rows: use bshd");
  }
  if (const std::int64_t greatest = greatest_length(problem.seq_lens);
      std::max<std::int64_t>(greatest, 1) != problem.seq_len) {
    throw Error(
        ExitCode::usage,
        fmt::format("seq_lens allows {} queries, but seq_len is {}", greatest, problem.seq_len), {},
        "seq_len must be the greatest length, which is its default");
  }
  if (problem.seq_lens_kv.empty() && problem.seq_len_kv != problem.seq_len) {
    throw Error(ExitCode::usage,
                fmt::format("seq_len_kv is {}, but the sequences have as many keys as queries, up "
                            "to {}",
                            problem.seq_len_kv, problem.seq_len),
                {},
                "say with seq_lens_kv how many keys each sequence has, or leave seq_len_kv out");
  }
  check_total(total_queries(problem), "queries");
  check_total(total_keys(problem), "keys");
}

}  // namespace

std::string canonical_lengths(std::string_view text) {
  if (!is_distribution(text)) {
    return fmt::format("{}", fmt::join(read_list(text), ","));
  }
  const Distribution of = read_distribution(text);
  const std::string exponent = of.name == kZipf ? fmt::format(":{}", of.exponent) : "";
  return fmt::format("{}:{}-{}{}:{}", of.name, of.low, of.high, exponent, of.seed);
}

std::optional<std::int64_t> listed_sequences(std::string_view text) {
  return is_distribution(text) ? std::nullopt
                               : std::optional<std::int64_t>(std::ranges::count(text, ',') + 1);
}

std::int64_t greatest_length(std::string_view text) {
  return is_distribution(text) ? static_cast<std::int64_t>(read_distribution(text).high)
                               : std::ranges::max(read_list(text));
}

std::string short_lengths(const std::string& text) {
  constexpr std::size_t kMostCharacters = 40;
  constexpr std::size_t kHashDigits = 8;
  return text.size() <= kMostCharacters
             ? text
             : fmt::format("{} listed {}", listed_sequences(text).value_or(0),
                           sha256_hex(text).substr(0, kHashDigits));
}

std::vector<std::int64_t> query_lengths(const Problem& problem) {
  return lengths_of(problem, problem.seq_lens, problem.seq_len);
}

std::vector<std::int64_t> kv_lengths(const Problem& problem) {
  return is_packed(problem) && problem.seq_lens_kv.empty()
             ? query_lengths(problem)
             : lengths_of(problem, problem.seq_lens_kv, problem.seq_len_kv);
}

std::int64_t total_queries(const Problem& problem) {
  return is_packed(problem) ? total_of(query_lengths(problem)) : problem.batch * problem.seq_len;
}

std::int64_t total_keys(const Problem& problem) {
  return is_packed(problem) || !problem.seq_lens_kv.empty() ? total_of(kv_lengths(problem))
                                                            : problem.batch * problem.seq_len_kv;
}

std::vector<Sequence> sequences_of(const Problem& problem) {
  const std::vector<std::int64_t> queries = query_lengths(problem);
  const std::vector<std::int64_t> keys = kv_lengths(problem);
  std::vector<Sequence> sequences;
  Sequence next;
  for (std::size_t i = 0; i < std::min(queries.size(), keys.size()); ++i) {
    next.queries = queries[i];
    next.keys = keys[i];
    sequences.push_back(next);
    if (is_packed(problem)) {
      next.first_query += next.queries;
      next.first_key += next.keys;
    } else {
      ++next.batch;
    }
  }
  return sequences;
}

const Sequence& sequence_at(const std::vector<Sequence>& sequences, std::int64_t batch,
                            std::int64_t row) {
  const auto after = std::ranges::upper_bound(
      sequences, std::pair(batch, row), {},
      [](const Sequence& of) { return std::pair(of.batch, of.first_query); });
  return *std::prev(after);
}

std::vector<std::int32_t> starts_of(const std::vector<std::int64_t>& lengths) {
  std::vector<std::int32_t> starts{0};
  for (const std::int64_t length : lengths) {
    starts.push_back(starts.back() + static_cast<std::int32_t>(length));
  }
  return starts;
}

SequenceRow row_in_sequence(const std::vector<std::int32_t>& starts, std::int64_t row) {
  const std::int64_t sequence =
      std::distance(starts.begin(), std::ranges::upper_bound(starts, row)) - 1;
  return {sequence, row - starts[static_cast<std::size_t>(sequence)]};
}

void check_lengths(const Problem& problem) {
  check_listed(problem, problem.seq_lens, "queries", "seq_lens");
  check_listed(problem, problem.seq_lens_kv, "keys", "seq_lens_kv");
  if (problem.seq_lens_kv.empty()) {
    check_packed(problem);
    return;
  }
  if (const std::int64_t greatest = greatest_length(problem.seq_lens_kv);
      greatest > problem.seq_len_kv) {
    throw Error(ExitCode::usage,
                fmt::format("seq_lens_kv allows {} keys, but K and V have room for {}", greatest,
                            problem.seq_len_kv),
                {}, "seq_len_kv must be at least the greatest length");
  }
  check_packed(problem);
}

Problem with_unknown_kv_lengths(Problem problem) {
  problem.seq_lens_kv = equal_lengths(problem.seq_len_kv);
  return problem;
}

Problem with_unknown_lengths(Problem problem) {
  problem.layout = Layout::bshd;
  problem.seq_lens = equal_lengths(problem.seq_len);
  return with_unknown_kv_lengths(std::move(problem));
}

Problem with_query_lengths(Problem problem, const std::vector<std::int64_t>& lengths) {
  problem.batch = std::ssize(lengths);
  problem.seq_lens = fmt::format("{}", fmt::join(lengths, ","));
  return problem;
}

Problem with_kv_lengths(Problem problem, const std::vector<std::int64_t>& lengths) {
  problem.batch = std::ssize(lengths);
  problem.seq_lens_kv = fmt::format("{}", fmt::join(lengths, ","));
  return problem;
}

}  // namespace fatune
