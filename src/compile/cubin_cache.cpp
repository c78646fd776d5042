#include "compile/cubin_cache.hpp"

#include <spdlog/spdlog.h>

#include <utility>

#include "compile/cache_folder.hpp"

namespace fatune {

CubinCache::CubinCache(CacheSettings settings) : folder_(std::move(settings)) {}

std::optional<Artifact> CubinCache::find(const std::string& key, bool need_ptx) {
  std::optional<Artifact> artifact;
  if (const auto bytes = folder_.read(CacheKind::artifact, key)) {
    artifact = decode_entry(*bytes, key);
    if (!artifact) {
      ++damaged_;
      spdlog::debug("cache entry {} is damaged: compiling again", key);
    }
  }
  if (!artifact || (need_ptx && artifact->ptx.empty())) {
    ++misses_;
    return std::nullopt;
  }
  ++hits_;
  return artifact;
}

void CubinCache::store(const Artifact& artifact) {
  stored_ += folder_.write(CacheKind::artifact, artifact.key, encode_entry(artifact)) ? 1 : 0;
}

std::string CubinCache::try_store(const Artifact& artifact) {
  return folder_.try_write(CacheKind::artifact, artifact.key, encode_entry(artifact));
}

CacheStats CubinCache::stats() const {
  return {hits_, misses_, damaged_, stored_, folder_.evicted()};
}

}  // namespace fatune
