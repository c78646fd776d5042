#include "gpu/cubin_cache.hpp"

#include <gtest/gtest.h>

#include "base/sha256.hpp"

namespace fatune {
namespace {

Artifact sample() {
  Artifact artifact;
  artifact.key = std::string(64, 'a');
  artifact.lowered_name = "_Z1kv";
  artifact.cubin = {'\177', 'E', 'L', 'F', '\0', '\n', '\xff'};
  artifact.ptx = ".version 9.0\n";
  artifact.facts = {168, 1, 2, 3, 4, 5, 6};
  artifact.log = "a \"quoted\" line\nand \t another";
  artifact.toolchain = "NVRTC 13.0";
  artifact.compile_ms = 123.5;
  return artifact;
}

TEST(CacheEntry, RoundTrips) {
  const Artifact before = sample();
  const auto after = decode_entry(encode_entry(before), before.key);
  ASSERT_TRUE(after);
  EXPECT_TRUE(after->from_cache);
  EXPECT_EQ(after->key, before.key);
  EXPECT_EQ(after->lowered_name, before.lowered_name);
  EXPECT_EQ(after->cubin, before.cubin);
  EXPECT_EQ(after->ptx, before.ptx);
  EXPECT_EQ(after->log, before.log);
  EXPECT_EQ(after->toolchain, before.toolchain);
  EXPECT_EQ(after->compile_ms, before.compile_ms);
  EXPECT_EQ(after->facts.registers_per_thread, 168);
  EXPECT_EQ(after->facts.spill_store_bytes, 1);
  EXPECT_EQ(after->facts.spill_load_bytes, 2);
  EXPECT_EQ(after->facts.local_bytes, 3);
  EXPECT_EQ(after->facts.static_smem_bytes, 4);
  EXPECT_EQ(after->facts.constant_bytes, 5);
  EXPECT_EQ(after->facts.code_bytes, 6);
}

TEST(CacheEntry, IsRefusedWhenAnyByteChanged) {
  const std::string whole = encode_entry(sample());
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    EXPECT_FALSE(decode_entry(damaged, sample().key)) << at;
  }
}

TEST(CacheEntry, IsRefusedAtAnyOtherLength) {
  const std::string whole = encode_entry(sample());
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(decode_entry(whole.substr(0, length), sample().key)) << length;
  }
  EXPECT_FALSE(decode_entry(whole + "x", sample().key));
}

TEST(CacheEntry, IsRefusedUnderAnotherKey) {
  EXPECT_FALSE(decode_entry(encode_entry(sample()), std::string(64, 'b')));
}

std::string with_valid_checksum(const std::string& payload) {
  return "fatune artifact 1\n" + sha256_hex(payload) + "\n" + payload;
}

TEST(CacheEntry, IsRefusedWhenItMeansOtherFields) {
  for (const char* payload : {"", "\n", "no newline", "{}\n", "[1]\n", "{\"key\":3}\n", "{{{\n"}) {
    EXPECT_FALSE(decode_entry(with_valid_checksum(payload), sample().key)) << payload;
  }
}

TEST(CacheEntry, KeepsALogThatIsNotUtf8Readable) {
  Artifact artifact = sample();
  artifact.log = "caf\xe9";
  const auto after = decode_entry(encode_entry(artifact), artifact.key);
  ASSERT_TRUE(after);
  EXPECT_EQ(after->log.substr(0, 3), "caf");
}

}  // namespace
}  // namespace fatune
