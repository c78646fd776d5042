// Tests the sources of machine code: files that embed it, the cubin cache and stored runs. Also
// tests how one flag changes machine code.
#include <filesystem>

#include "cli/sass_program.hpp"

namespace fatune::testing_cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class SassSource : public SassTest {};

TEST_F(SassSource, WhatIsNoKeyIsRefused) {
  const auto artifact = [&](const std::string& key) { return fatune({"sass", "--artifact", key}); };
  expect_error(artifact("abc"), ExitCode::usage, {"--artifact", "artifact_key"});
  expect_error(artifact("../../x"), ExitCode::usage, {"hexadecimal"});
  expect_error(artifact(std::string(64, '0')), ExitCode::usage, {"has no artifact"});
  expect_error(fatune({"sass", "--artifact", "0123", "--no-cache"}), ExitCode::usage,
               {"--no-cache"});
  expect_error(fatune({"sass", "--artifact", "0123", "--config", kConfig}), ExitCode::usage, {});
}

TEST_F(SassSource, APrefixThatSeveralHaveIsRefusedWithTheirKeys) {
  for (const char* end : {"a", "b"}) {
    write("cache/" + std::string(63, '0') + end + ".artifact", "damaged");
  }
  const auto artifact = [&](const std::string& key) {
    return fatune({"sass", "--artifact", key, "--cache-dir", path("cache")});
  };
  expect_error(artifact("0000"), ExitCode::usage, {"2 artifacts", std::string(63, '0') + "b"});
  expect_error(artifact(std::string(63, '0') + "b"), ExitCode::bad_file, {"damaged"});
}

TEST_F(SassSource, PtxAloneIsNoMachineCode) {
  expect_ok(fatune({"emulate", "--kernel-dir", kToyFolder, "--seq", "16", "--cache-dir",
                    path("cache"), "--config", "(FP16, 128, 64): unroll_2"}));
  const auto entry = std::filesystem::directory_iterator(path("cache"))->path();
  expect_error(fatune({"sass", "--artifact", entry.stem().string(), "--cache-dir", path("cache")}),
               ExitCode::usage, {"PTX", "fatune compile"});
}

TEST_F(SassSource, RunsAndRanksThatAreNotThere) {
  use_gpu_that_never_runs_kernels();
  expect_error(fatune({"sass", "--run", "7"}), ExitCode::usage, {"no run"});
  expect_error(fatune({"sass", "--rank", "1"}), ExitCode::usage, {"--rank"});
  expect_ok(fatune({"run", "--config", kConfig, "--seq", "128,256", "--batch", "1", "--heads", "1",
                    "--repeats", "3"}));
  expect_error(fatune({"sass", "--run", "last"}), ExitCode::usage, {"several", "--seq"});
  expect_error(fatune({"sass", "--run", "last", "--seq", "512"}), ExitCode::usage,
               {"s128", "s256"});
  expect_error(fatune({"sass", "--run", "last", "--seq", "128", "--rank", "2"}), ExitCode::usage,
               {"rank 2", "1 ranked"});
}

class SassContainer : public SassTest {
 protected:
  SassContainer() {
    write("a.out", elf_file(kHostMachine));
    write("fatbin", "\x50\xed\x55\xba and more");
    use_disassembler("cat '" + listing("wgmma.sm_90a.txt") + "'\n");
  }
  void extracts(const std::string& files) {
    use_tool("FATUNE_CUOBJDUMP",
             "[ \"$1 $2\" = '-xelf all' ] || exit 3\n[ -f \"$3\" ] || exit 4\n"
             "touch rest.ptx; for f in " +
                 files + "; do echo x >$f; done\n");
  }
  ProcessResult code(const char* file, const std::vector<std::string>& more = {}) {
    std::vector<std::string> all{"sass", "--cubin", path(file)};
    all.insert(all.end(), more.begin(), more.end());
    return fatune(all);
  }
};

TEST_F(SassContainer, TheOnlyCubinIsTaken) {
  extracts("a.1.sm_90a.cubin");
  for (const char* file : {"a.out", "fatbin"}) {
    const ProcessResult result = code(file);
    expect_ok(result);
    EXPECT_THAT(result.out, HasSubstr("sm_90a"));
  }
}

TEST_F(SassContainer, SeveralArchitecturesNeedAChoice) {
  extracts("a.1.sm_90a.cubin a.2.sm_80.cubin");
  expect_error(code("a.out"), ExitCode::usage, {"2 architectures", "sm_80, sm_90a"});
  expect_ok(code("a.out", {"--arch", "sm_90a"}));
  expect_error(code("a.out", {"--arch", "sm_86"}), ExitCode::usage, {"no machine code for sm_86"});
}

TEST_F(SassContainer, SeveralFilesOfOneArchitectureNeedAFunction) {
  extracts("a.1.sm_90a.cubin a.2.sm_90a.cubin");
  expect_error(code("a.out"), ExitCode::usage, {"2 cubins", "--function"});
  expect_error(code("a.out", {"--function", "none"}), ExitCode::usage, {"0 cubins"});
}

TEST_F(SassContainer, WithoutCubinsOrWithoutTheToolItSaysSo) {
  extracts("");
  expect_error(code("a.out"), ExitCode::bad_file, {"no cubin in this file"});
  use_tool("FATUNE_CUOBJDUMP", "echo 'no device code' >&2; exit 255\n");
  expect_error(code("fatbin"), ExitCode::bad_file, {"no device code"});
  process_.environment["FATUNE_CUOBJDUMP"] = path("nowhere");
  expect_error(code("fatbin"), ExitCode::bad_file, {"nowhere", "cuobjdump"});
}

template <typename... Number>
std::string little_endian(Number... numbers) {
  std::string bytes;
  (bytes.append(reinterpret_cast<const char*>(&numbers), sizeof numbers), ...);
  return bytes;
}

/// A fatbinary of one cubin: a header of 16 bytes, and one of 64 bytes for the cubin.
std::string fatbinary_of(std::string cubin, std::uint32_t sm) {
  cubin.resize((cubin.size() + 7) / 8 * 8);
  const std::string entry =
      little_endian(std::uint16_t{2}, std::uint16_t{0x101}, std::uint32_t{64},
                    std::uint64_t{cubin.size()}, std::uint32_t{0}, std::uint32_t{0},
                    std::uint16_t{7}, std::uint16_t{1}, sm, std::uint32_t{0}, std::uint32_t{0},
                    std::uint64_t{0x11}, std::uint64_t{0}, std::uint64_t{0}) +
      cubin;
  return little_endian(std::uint32_t{0xBA55ED50}, std::uint16_t{1}, std::uint16_t{16},
                       std::uint64_t{entry.size()}) +
         entry;
}

class LiveCuobjdump : public LiveSassTest {};

TEST_F(LiveCuobjdump, AFatbinaryHasTheCodeOfItsCubin) {
  expect_ok(fatune({"compile", "--config", kConfig, "--arch", "sm_80", "--out", path("out")}));
  std::string cubin;
  for (const auto& entry : std::filesystem::directory_iterator(path("out"))) {
    cubin = entry.path().extension() == ".cubin" ? entry.path().filename().string() : cubin;
  }
  write("k.fatbin", fatbinary_of(read("out/" + cubin), 80));
  const std::vector<std::string> command{"sass", "--cubin", path("k.fatbin"), "--format", "json"};
  const ProcessResult result = fatune(command);
  if (result.err.find("is not installed") != std::string::npos) {
    GTEST_SKIP() << "no cuobjdump";
  }
  expect_ok(result);
  const json whole = fatune_json({"sass", "--cubin", path("out/" + cubin), "--format", "json"});
  EXPECT_EQ(json::parse(result.out)["opcodes"], whole["opcodes"]);
}

class LiveSassSource : public LiveSassTest {
 protected:
  json code(const std::vector<std::string>& source) {
    std::vector<std::string> all{"sass"};
    all.insert(all.end(), source.begin(), source.end());
    all.insert(all.end(), {"--format", "json"});
    return fatune_json(all);
  }
};

TEST_F(LiveSassSource, AnArtifactIsTheCodeOfItsConfiguration) {
  const json compiled = fatune_json(
      {"compile", "--config", kConfig, "--arch", "sm_80", "--seq", "4096", "--format", "json"});
  const std::string key = compiled["configs"][0]["artifact_key"];
  json cached = code({"--artifact", key.substr(0, 20)});
  EXPECT_EQ(cached["source"], "artifact:" + key);
  json config = code({"--config", kConfig, "--arch", "sm_80"});
  EXPECT_EQ(cached["opcodes"], config["opcodes"]);
  EXPECT_EQ(cached["registers_per_thread"], config["registers_per_thread"]);
  const ProcessResult same =
      fatune({"sass", "diff", "artifact:" + key, kConfig, "--arch", "sm_80", "--format", "csv"});
  expect_ok(same);
  EXPECT_THAT(same.out, HasSubstr("tensor,64,64,0,"));
}

TEST_F(LiveSassSource, ARankOfARunIsItsConfigurationForItsDevice) {
  use_gpu_that_never_runs_kernels();
  expect_ok(fatune({"run", "--config", kConfig, "--seq", "128", "--batch", "1", "--heads", "1",
                    "--repeats", "3"}));
  const json stored = code({"--run", "last", "--rank", "1"});
  EXPECT_EQ(stored["source"], kConfig);
  EXPECT_EQ(stored["opcodes"], code({"--config", kConfig, "--arch", "sm_90a", "--seq", "128",
                                     "--heads", "1"})["opcodes"]);
  const ProcessResult mapped = fatune({"sass", "map", "--run", "last", "--top", "1"});
  expect_ok(mapped);
  EXPECT_THAT(mapped.out, HasSubstr("common/ptx_mma.cuh"));
}

/// Compares the main loops of two configurations that have the same tiles and differ in one flag.
class LiveSassFlags : public LiveSassTest {
 protected:
  json diff(const std::string& before, const std::string& after) {
    const std::string tiles = "(FP16, 128, 64, 64, 4): ";
    return fatune_json(
        {"sass", "diff", tiles + before, tiles + after, "--arch", "sm_80", "--format", "json"});
  }
};

TEST_F(LiveSassFlags, AsyncCopiesPastTheRegisters) {
  const json opcodes = diff("load_0_0_0_tiles", "async+load_0_0_0_tiles")["opcodes"];
  EXPECT_EQ(row_of(opcodes, "LDGSTS.E.BYPASS.LTC128B.128")["main_loop_delta"], 16);
  EXPECT_EQ(row_of(opcodes, "LDG.E.LTC128B.128.CONSTANT")["main_loop_delta"], -16);
  EXPECT_EQ(row_of(opcodes, "STS.128")["main_loop_delta"], -16);
  EXPECT_GT(row_of(opcodes, "LDGDEPBAR")["main_loop_delta"], 0);
}

TEST_F(LiveSassFlags, EagerLoadsTheFirstBlockBeforeTheLoop) {
  const json classes = diff("async+load_0_0_0_tiles", "async+eager+load_0_0_0_tiles")["classes"];
  EXPECT_EQ(row_of(classes, "global")["main_loop_delta"], 0);
  EXPECT_GT(row_of(classes, "global")["total_delta"], 0);
  EXPECT_LT(row_of(classes, "barrier")["main_loop_delta"], 0);
}

TEST_F(LiveSassFlags, SwizzledComputesAddressesByXor) {
  const json result = diff("async+eager+load_0_0_0_tiles", "async+eager+swizzled+load_0_0_0_tiles");
  EXPECT_GT(row_of(result["opcodes"], "LOP3.LUT")["main_loop_delta"], 0);
  EXPECT_EQ(row_of(result["classes"], "shared")["total_delta"], 0);
}

TEST_F(LiveSassFlags, OptSoftmaxMultipliesLess) {
  const json result = diff("async+eager+swizzled+load_0_2_2_tiles",
                           "async+eager+swizzled+load_0_2_2_tiles+opt_softmax");
  EXPECT_LT(row_of(result["opcodes"], "FMUL.FTZ")["main_loop_delta"], 0);
  EXPECT_LT(row_of(result["classes"], "fp32")["main_loop_delta"], 0);
  EXPECT_EQ(row_of(result["classes"], "tensor")["main_loop_delta"], 0);
}

}  // namespace
}  // namespace fatune::testing_cli
