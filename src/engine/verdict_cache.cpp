#include "engine/verdict_cache.hpp"

#include <exception>
#include <string_view>

#include <spdlog/spdlog.h>

#include "model/record_reader.hpp"
#include "model/record_writer.hpp"

namespace fatune {

FATUNE_MEMBERS(EmulatedProblem, problem, only_head)
FATUNE_MEMBERS(CountedSample, work, on, blocks)
FATUNE_MEMBERS(CountedSamples, shorter, longer)
FATUNE_DESCRIBED(EmulationVerdict, (verification), (failure), (not_covered, kElsewhere), (work))

namespace {

constexpr std::string_view kMagic = "fatune verdict 2\n";

std::optional<EmulationVerdict> decode(std::string_view bytes, const std::string& key) {
  const auto payload = checked_payload(kMagic, bytes);
  if (!payload) {
    return std::nullopt;
  }
  try {
    const RecordJson from = parse_record(*payload);
    EmulationVerdict verdict;
    record_reader::read(from, verdict);
    return from.at("key") == key ? std::optional(verdict) : std::nullopt;
  } catch (const std::exception&) {
    return std::nullopt;  // intact, but written with other members
  }
}

}  // namespace

std::optional<EmulationVerdict> VerdictCache::find(const std::string& key) {
  const auto bytes = folder_ == nullptr ? std::nullopt : folder_->read(CacheKind::verdict, key);
  auto verdict = bytes ? decode(*bytes, key) : std::nullopt;
  if (bytes && !verdict) {
    spdlog::debug("the verdict {} in the cache is damaged: emulating again", key);
  }
  return verdict;
}

void VerdictCache::store(const std::string& key, const EmulationVerdict& verdict) {
  if (folder_ != nullptr && verdict.not_covered.empty()) {
    RecordJson json{{"key", key}};
    record_writer::add_members(verdict, json);
    folder_->write(CacheKind::verdict, key, with_checksum(kMagic, record_text(json)));
  }
}

}  // namespace fatune
