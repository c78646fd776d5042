#include "compile/cache_entry.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/sha256.hpp"

namespace fatune {

// nlohmann/json finds these functions by argument-dependent lookup.
template <typename Struct>
concept Stored = std::same_as<Struct, AssemblerNote> || std::same_as<Struct, ResourceFacts>;

template <Stored Struct>
void to_json(nlohmann::json& json, const Struct& value) {
  visit_members(value, [&](const MemberInfo& info, const auto& member) {
    json[std::string(info.name)] = member;
  });
}

template <Stored Struct>
void from_json(const nlohmann::json& json, Struct& value) {
  visit_members(value, [&](const MemberInfo& info, auto& member) {
    json.at(std::string(info.name)).get_to(member);
  });
}

namespace {

constexpr std::string_view kMagic = "fatune artifact 1\n";

/// Takes `count` bytes off the front; returns nothing if there are fewer.
std::optional<std::string_view> take(std::string_view& bytes, std::size_t count) {
  if (bytes.size() < count) {
    return std::nullopt;
  }
  const std::string_view taken = bytes.substr(0, count);
  bytes.remove_prefix(count);
  return taken;
}

nlohmann::json to_json(const Artifact& artifact) {
  return {{"key", artifact.key},
          {"lowered_name", artifact.lowered_name},
          {"facts", artifact.facts},
          {"log", artifact.log},
          {"toolchain", artifact.toolchain},
          {"compile_ms", artifact.compile_ms},
          {"cubin_bytes", artifact.cubin.size()},
          {"ptx_bytes", artifact.ptx.size()}};
}

/// Throws nlohmann::json::exception when a field is missing or of another type.
Artifact from_json(const nlohmann::json& json) {
  Artifact artifact;
  json.at("key").get_to(artifact.key);
  json.at("lowered_name").get_to(artifact.lowered_name);
  json.at("facts").get_to(artifact.facts);
  json.at("log").get_to(artifact.log);
  json.at("toolchain").get_to(artifact.toolchain);
  json.at("compile_ms").get_to(artifact.compile_ms);
  artifact.from_cache = true;
  return artifact;
}

std::optional<Artifact> decode_payload(std::string_view payload, const std::string& key) {
  const auto line = take(payload, payload.find('\n'));
  if (!line) {
    return std::nullopt;
  }
  payload.remove_prefix(1);
  const auto json = nlohmann::json::parse(*line);
  Artifact artifact = from_json(json);
  const auto cubin = take(payload, json.at("cubin_bytes").get<std::size_t>());
  const auto ptx = take(payload, json.at("ptx_bytes").get<std::size_t>());
  if (!cubin || !ptx || !payload.empty() || artifact.key != key) {
    return std::nullopt;
  }
  artifact.cubin.assign(cubin->begin(), cubin->end());
  artifact.ptx = *ptx;
  return artifact;
}

}  // namespace

std::string with_checksum(std::string_view magic, std::string_view payload) {
  return fmt::format("{}{}\n{}", magic, sha256_hex(payload), payload);
}

std::optional<std::string_view> checked_payload(std::string_view magic, std::string_view bytes) {
  constexpr std::size_t kDigits = 64;
  if (!bytes.starts_with(magic)) {
    return std::nullopt;
  }
  bytes.remove_prefix(magic.size());
  const auto digits = take(bytes, kDigits);
  const auto newline = take(bytes, 1);
  if (!digits || newline != "\n" || sha256_hex(bytes) != *digits) {
    return std::nullopt;
  }
  return bytes;
}

std::string encode_entry(const Artifact& artifact) {
  // A source path in the log may be in any encoding, but JSON is UTF-8.
  std::string payload =
      to_json(artifact).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  payload.append(artifact.cubin.data(), artifact.cubin.size());
  payload += artifact.ptx;
  return with_checksum(kMagic, payload);
}

std::optional<Artifact> decode_entry(std::string_view bytes, const std::string& key) {
  const auto payload = checked_payload(kMagic, bytes);
  if (!payload) {
    return std::nullopt;
  }
  try {
    return decode_payload(*payload, key);
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;  // intact, but written with other fields
  }
}

}  // namespace fatune
