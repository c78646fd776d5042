#include "engine/verdict_cache.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "unit/gpu/requests.hpp"

namespace fatune {
namespace {

const std::string kKey(64, '1');
const std::string kOther(64, '2');

CountedSample sample(double flop) {
  CountedWork work;
  work.tensor_flop = flop;
  work.global_sectors = 7.0;
  return {work, {{1, 256, 4, 64, DType::fp16, true}, 3}, 4};
}

EmulationVerdict right() {
  ErrorStats stats;
  stats.input = "normal";
  stats.limit = 0.25;
  return {{"emulated on b1", 3, {stats}}, std::nullopt, {}, CountedSamples{sample(1), sample(2)}};
}

class VerdictCacheTest : public testing::Test {
 protected:
  [[nodiscard]] VerdictCache cache() { return VerdictCache(&folder_); }
  [[nodiscard]] std::filesystem::path file(const std::string& key) const {
    return path_.path() / (key + ".verdict");
  }
  [[nodiscard]] std::string text(const std::string& key) const {
    std::ostringstream text;
    text << std::ifstream(file(key)).rdbuf();
    return text.str();
  }
  void write(const std::string& key, const std::string& text) const {
    std::ofstream(file(key), std::ios::trunc) << text;
  }

 private:
  TemporaryFolder path_;
  CacheFolder folder_{{path_.path()}};
};

TEST_F(VerdictCacheTest, KeepsVerdictsWithTheirCounts) {
  EXPECT_FALSE(cache().find(kKey));
  cache().store(kKey, right());
  const auto found = cache().find(kKey);
  ASSERT_TRUE(found && found->work && found->work->longer);
  EXPECT_EQ(found->verification.method, "emulated on b1");
  EXPECT_EQ(found->verification.seed, 3U);
  ASSERT_EQ(found->verification.inputs.size(), 1U);
  EXPECT_EQ(found->verification.inputs[0].limit, 0.25);
  EXPECT_FALSE(found->failure);
  EXPECT_EQ(found->work->shorter.work.tensor_flop, 1.0);
  EXPECT_EQ(found->work->longer->work.tensor_flop, 2.0);
  EXPECT_EQ(found->work->longer->work.global_sectors, 7.0);
  EXPECT_EQ(found->work->longer->blocks, 4);
  EXPECT_EQ(found->work->longer->on, sample(2).on);
}

TEST_F(VerdictCacheTest, KeepsFailures) {
  EmulationVerdict wrong = right();
  wrong.work.reset();
  wrong.failure = Flagged{wrong.verification, "race: reads sK"};
  cache().store(kKey, wrong);
  const auto found = cache().find(kKey);
  ASSERT_TRUE(found && found->failure);
  EXPECT_EQ(std::get<Flagged>(*found->failure).finding, "race: reads sK");
  EXPECT_FALSE(found->work);
}

TEST_F(VerdictCacheTest, KeepsNothingAboutWhatCouldNotBeEmulated) {
  cache().store(kKey, {{}, std::nullopt, "interrupted"});
  EXPECT_FALSE(cache().find(kKey));
}

TEST_F(VerdictCacheTest, TrustsNoDamagedForeignOrRenamedEntry) {
  cache().store(kKey, right());
  const std::string whole = text(kKey);
  write(kOther, whole);
  EXPECT_FALSE(cache().find(kOther)) << "it is of another key";
  std::string damaged = whole;
  damaged[damaged.find("\"blocks\":4") + 9] = '5';
  for (const std::string& bad : {damaged, whole.substr(0, whole.size() - 1), std::string(),
                                 std::string("fatune artifact 1\n"), std::string(900, '\0')}) {
    write(kKey, bad);
    EXPECT_FALSE(cache().find(kKey)) << bad;
  }
  cache().store(kKey, right());
  EXPECT_TRUE(cache().find(kKey)) << "a damaged entry is replaced";
}

TEST_F(VerdictCacheTest, WithoutAFolderKeepsNothing) {
  VerdictCache none(nullptr);
  none.store(kKey, right());
  EXPECT_FALSE(none.find(kKey));
}

}  // namespace
}  // namespace fatune
