#include "ptx_mutator.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace fatune::fuzz {
namespace {

/// Statements to insert: forms of every group of instructions, with the registers that the seeds
/// declare.
constexpr std::array kInserted{
    "mbarrier.init.shared.b64 [%r2], 1",
    "mbarrier.inval.shared.b64 [%r2]",
    "mbarrier.arrive.shared.b64 %w7, [%r2]",
    "mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 1024",
    "mbarrier.arrive_drop.shared.b64 %w7, [%r2], 2",
    "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r6]",
    "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r2], 64",
    "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r2], 64",
    "mbarrier.test_wait.shared.b64 %p2, [%r2], %w7",
    "mbarrier.try_wait.parity.shared.b64 %p2, [%r2], %r5",
    "mbarrier.pending_count.b64 %r5, %w7",
    "cp.async.mbarrier.arrive.noinc.shared.b64 [%r2]",
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%w0], 256, [%r2]",
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r1], "
    "[%w0], 256, [%r2], %h1",
    "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r6], [%r1], 64, "
    "[%r2]",
    "cp.async.bulk.global.shared::cta.bulk_group [%w1], [%r1], 128",
    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], "
    "[%w0, {%r0, %r3}], [%r2]",
    "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%w0, {%r0, %r3}], [%r1]",
    "cp.async.bulk.commit_group",
    "cp.async.bulk.wait_group.read 0",
    "fence.proxy.async.shared::cta",
    "wgmma.fence.sync.aligned",
    "wgmma.commit_group.sync.aligned",
    "wgmma.wait_group.sync.aligned 1",
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r3, %r4, %r5, %r6}, %w3, %w4, %p1, 1, 1, "
    "0, 0",
    "barrier.cluster.arrive.release",
    "barrier.cluster.wait.acquire",
    "mapa.shared::cluster.u32 %r6, %r1, %r0",
    "mapa.u64 %w3, %w2, 1",
    "getctarank.shared::cluster.u32 %r5, %r6",
    "elect.sync %r5|%p1, -1",
    "setmaxnreg.inc.sync.aligned.u32 96",
    "atom.shared.add.u32 %r5, [%r1], 1",
    "atom.global.cas.b32 %r5, [%w0], 0, 1",
    "red.async.relaxed.cluster.global.add.u32 [%w0], 1",
    "bar.sync 1, 64",
    "bar.arrive 1, 64",
    "bar.warp.sync -1",
    "cp.async.cg.shared.global [%r1], [%w0], 16",
    "cp.async.commit_group",
    "cp.async.wait_group 0",
    "ld.shared::cluster.u32 %r5, [%r6]",
    "st.shared.v4.u32 [%r1], {%r0, %r1, %r2, %r3}",
    "st.global.u32 [%w1], %r5",
    "mov.u32 %r5, %clusterid.x",
    "cvta.shared.u64 %w2, %w3",
    "exit",
};

constexpr std::array kTokens{
    "0",
    "1",
    "-1",
    "16",
    "128",
    "1024",
    "4294967295",
    "0x80000000",
    "65535",
    "2147483647",
    "shared::cta",
    "shared",
    "global",
    "shared::cluster",
    "parity",
    "relaxed",
    "release",
    "acquire",
    "expect_tx",
    "1d",
    "2d",
    "3d",
    "4d",
    "5d",
    "f16",
    "bf16",
    "f32",
    "u32",
    "b64",
    "s64",
    "u8",
    "v2",
    "v4",
    "read",
    "multicast::cluster",
    "arrive",
    "wait",
    "_",
    "%tid.x",
    "%cluster_ctarank",
    "%laneid",
    "init",
    "inval",
    "m64n8k16",
    "m64n256k16",
    "wide",
    "lo",
    "x4",
    "trans",
    "sat",
};

bool is_token_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '%' || c == ':';
}

struct Token {
  std::size_t at = 0;
  std::size_t length = 0;
};

std::vector<Token> tokens_of(std::string_view text) {
  std::vector<Token> tokens;
  for (std::size_t i = 0; i < text.size();) {
    const auto* const from = text.begin() + static_cast<std::ptrdiff_t>(i);
    const auto length =
        static_cast<std::size_t>(std::find_if_not(from, text.end(), is_token_character) - from);
    if (length > 0) {
      tokens.push_back({i, length});
    }
    i += length + 1;
  }
  return tokens;
}

/// Splits the text after each semicolon. The last part is the rest.
std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> statements;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(';', at), text.size());
    statements.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return statements;
}

std::string joined(const std::vector<std::string>& statements) {
  std::string text;
  for (std::size_t i = 0; i < statements.size(); ++i) {
    text += (i == 0 ? "" : ";") + statements[i];
  }
  return text;
}

auto place(std::vector<std::string>& statements, std::size_t index) {
  return statements.begin() + static_cast<std::ptrdiff_t>(index);
}

}  // namespace

void PtxMutator::change_token(std::string& statement) {
  const std::vector<Token> tokens = tokens_of(statement);
  if (tokens.empty()) {
    return;
  }
  const Token chosen = tokens[below(tokens.size())];
  const Token other = tokens[below(tokens.size())];
  const std::string text = statement.substr(chosen.at, chosen.length);
  if (text.size() > 2 && text[0] == '%' && below(2) == 0) {
    statement.replace(chosen.at, chosen.length, text.substr(0, 2) + std::to_string(below(12)));
  } else if (below(3) == 0) {
    statement.replace(chosen.at, chosen.length, statement.substr(other.at, other.length));
  } else {
    statement.replace(chosen.at, chosen.length, kTokens[below(kTokens.size())]);
  }
}

void PtxMutator::change(Statements& statements) {
  const std::size_t index = below(statements.size());
  switch (below(6)) {
    case 0:
      statements.insert(place(statements, index),
                        std::string("\n") + kInserted[below(kInserted.size())]);
      break;
    case 1:
      if (statements.size() > 1) {
        statements.erase(place(statements, index));
      }
      break;
    case 2: {
      std::string copy = statements[index];
      statements.insert(place(statements, below(statements.size())), std::move(copy));
      break;
    }
    case 3:
      std::swap(statements[index], statements[below(statements.size())]);
      break;
    default:
      change_token(statements[index]);
  }
}

std::string PtxMutator::mutate(std::string_view text) {
  Statements statements = split(text);
  for (std::size_t i = 0, count = 1 + below(4); i < count; ++i) {
    change(statements);
  }
  return joined(statements);
}

std::string PtxMutator::cross(std::string_view into, std::string_view from) {
  Statements statements = split(into);
  const Statements given = split(from);
  const std::size_t first = below(given.size());
  const std::size_t count = 1 + below(std::min<std::size_t>(given.size() - first, 8));
  statements.insert(place(statements, below(statements.size())),
                    given.begin() + static_cast<std::ptrdiff_t>(first),
                    given.begin() + static_cast<std::ptrdiff_t>(first + count));
  return joined(statements);
}

}  // namespace fatune::fuzz
