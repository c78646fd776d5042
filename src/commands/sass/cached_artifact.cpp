#include "commands/sass/cached_artifact.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "core/error.hpp"

namespace fatune {
namespace {

constexpr std::size_t kShortestPrefix = 4;
constexpr std::size_t kMostNamed = 8;
constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr const char* kWhere = "--artifact";

void check_prefix(const std::string& prefix) {
  if (prefix.size() < kShortestPrefix ||
      prefix.find_first_not_of(kHexDigits) != std::string::npos) {
    throw Error(
        ExitCode::usage, fmt::format("'{}' is not the beginning of a key", prefix), kWhere,
        fmt::format("give {} or more of the hexadecimal digits of artifact_key in JSON and CSV",
                    kShortestPrefix));
  }
}

}  // namespace

Artifact cached_artifact(CubinCache* cache, const std::string& prefix) {
  check_prefix(prefix);
  if (cache == nullptr) {
    throw Error(ExitCode::usage, "artifacts are in the cubin cache, which is off", kWhere,
                "leave --no-cache out");
  }
  std::vector<std::string> keys = cache->keys(prefix);
  if (keys.empty()) {
    throw Error(ExitCode::usage, fmt::format("the cache has no artifact '{}'", prefix), kWhere,
                "the cache removes what was used longest ago; --config or --run compiles it again");
  }
  if (keys.size() > 1) {
    const std::size_t count = keys.size();
    keys.resize(std::min(count, kMostNamed));
    throw Error(ExitCode::usage, fmt::format("{} artifacts begin with '{}'", count, prefix), kWhere,
                fmt::format("give more digits: {}", fmt::join(keys, ", ")));
  }
  auto artifact = cache->find(keys.front());
  if (!artifact) {
    throw Error(ExitCode::bad_file, "the artifact is damaged", keys.front(),
                "compile its configuration again, which replaces it");
  }
  if (artifact->cubin.empty()) {
    throw Error(ExitCode::usage, "the artifact is PTX, which was not compiled further",
                keys.front(), "`fatune compile` compiles its configuration to machine code");
  }
  return std::move(*artifact);
}

}  // namespace fatune
