#include "engine/verdict_cache.hpp"

#include <string_view>

#include <spdlog/spdlog.h>
#include <nlohmann/json.hpp>

#include "compile/cache_entry.hpp"
#include "core/error.hpp"
#include "record/record_json.hpp"

namespace fatune {
namespace {

using nlohmann::json;

constexpr std::string_view kMagic = "fatune verdict 1\n";

json sample_json(const CountedSample& sample) {
  return {{"work", record_json(sample.work)},
          {"problem", record_json(sample.on.problem)},
          {"only_head", sample.on.only_head ? json(*sample.on.only_head) : json(nullptr)},
          {"blocks", sample.blocks}};
}

CountedSample read_sample(const json& from) {
  CountedSample sample;
  sample.work = read_record<CountedWork>(from.at("work"));
  sample.on.problem = read_record<Problem>(from.at("problem"));
  if (!from.at("only_head").is_null()) {
    sample.on.only_head = from.at("only_head").get<std::int64_t>();
  }
  sample.blocks = from.at("blocks").get<std::int64_t>();
  return sample;
}

json verdict_json(const std::string& key, const EmulationVerdict& verdict) {
  json all{{"key", key}, {"verification", record_json(verdict.verification)}};
  if (verdict.failure) {
    all["failure"] = record_json(*verdict.failure);
  }
  if (verdict.work) {
    all["shorter"] = sample_json(verdict.work->shorter);
    if (verdict.work->longer) {
      all["longer"] = sample_json(*verdict.work->longer);
    }
  }
  return all;
}

EmulationVerdict read_verdict(const json& from) {
  EmulationVerdict verdict{read_record<Verification>(from.at("verification")), std::nullopt, {}};
  if (from.contains("failure")) {
    verdict.failure = read_record<Outcome>(from.at("failure"));
  }
  if (from.contains("shorter")) {
    verdict.work = CountedSamples{read_sample(from.at("shorter")), std::nullopt};
  }
  if (from.contains("longer")) {
    verdict.work.value().longer = read_sample(from.at("longer"));
  }
  return verdict;
}

std::optional<EmulationVerdict> decode(std::string_view bytes, const std::string& key) {
  const auto payload = checked_payload(kMagic, bytes);
  if (!payload) {
    return std::nullopt;
  }
  try {
    const json from = parse_record(*payload);
    return from.at("key") == key ? std::optional(read_verdict(from)) : std::nullopt;
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
    folder_->write(CacheKind::verdict, key,
                   with_checksum(kMagic, record_text(verdict_json(key, verdict))));
  }
}

}  // namespace fatune
