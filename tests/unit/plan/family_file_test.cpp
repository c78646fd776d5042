#include <gmock/gmock.h>

#include "plan/family.hpp"
#include "plan/planner.hpp"
#include "unit/base/temp_folder.hpp"
#include "unit/plan/plan_fixtures.hpp"

namespace fatune {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::ElementsAre;

TEST(Family, FlashHasTheThirteenFieldsInOrder) {
  std::vector<std::string> names;
  for (const Parameter& parameter : fixtures::flash().parameters) {
    names.push_back(parameter.name);
  }
  EXPECT_THAT(names, ElementsAre("dtype", "d_head", "B_r", "B_c", "n_warps", "async_copy",
                                 "eager_load_blocks", "swizzled", "Q_mma_load_K_tiles",
                                 "K_mma_load_K_tiles", "V_mma_load_K_tiles",
                                 "mma_double_buffer_loads", "optimized_softmax"));
}

TEST(Family, SourcesAreNamedAsIncludeFindsThem) {
  const SourceBundle& sources = *fixtures::flash().sources.items.at(0).value;
  EXPECT_EQ(sources.main.name, "flash_sm80/flash_forward.cu");
  EXPECT_THAT(sources.main.text, ::testing::HasSubstr("flash_forward_kernel"));
  std::vector<std::string> names;
  for (const SourceFile& header : sources.headers) {
    names.push_back(header.name);
  }
  EXPECT_THAT(names, Contains("common/attention_args.h"));
  EXPECT_THAT(names, Contains("flash_sm80/config.cuh"));
  EXPECT_THAT(names, ::testing::Not(Contains("flash_sm80/flash_forward.cu")));
}

TEST(Family, AnUnknownNameIsAnsweredWithTheKnown) {
  for (const char* name : {"flash", "", "../configs", "flash_sm80/"}) {
    fixtures::expect_error([&] { (void)load_family(FileTree{}, name); }, ExitCode::usage,
                           {"no kernel family '" + std::string(name) + "'", "flash_sm80"});
  }
}

TEST(Family, FindsParametersByName) {
  EXPECT_EQ(find_parameter(fixtures::flash(), "B_r"), 2U);
  EXPECT_FALSE(find_parameter(fixtures::flash(), "b_r"));
}

TEST(Family, AMissingTranslationUnitIsNamed) {
  const fixtures::TempFolder folder;
  const std::string file = folder.write("family.json", fixtures::toy_json().dump()).string();
  FileTree tree;
  tree.overlay_kernels(folder.path());
  fixtures::expect_error([&] { (void)load_family(tree, "toy_attention"); }, ExitCode::bad_file,
                         {file + ": /source", "no file 'toy_attention.cu'"});
}

TEST(Family, IncludesTheCodeOfOthers) {
  const fixtures::TempFolder folder;
  json family = fixtures::toy_json();
  family["includes"] = {"flash_sm80"};
  const std::string file = folder.write("family.json", family.dump()).string();
  (void)folder.write("toy_attention.cu", "");
  FileTree tree;
  tree.overlay_kernels(folder.path());
  const Family loaded = load_family(tree, "toy_attention");
  std::vector<std::string> names;
  for (const SourceFile& header : loaded.sources.items.at(0).value->headers) {
    names.push_back(header.name);
  }
  EXPECT_THAT(names, ::testing::IsSupersetOf({"common/attention_args.h", "flash_sm80/mask.cuh",
                                              "flash_sm80/flash_forward.cu"}));
  EXPECT_THAT(names, ::testing::Not(Contains("flash_sm80/family.json")));

  family["includes"] = {"flash_sm80", "../configs"};
  (void)folder.write("family.json", family.dump());
  fixtures::expect_error([&] { (void)load_family(tree, "toy_attention"); }, ExitCode::bad_file,
                         {file + ": /includes/1", "no kernel code for a family '../configs'"});
}

TEST(Family, AFamilyMayShowItsIntermediates) {
  const Config config = fixtures::flash_config(
      "(FP16, 128, 64, 32, 4): async+eager+swizzled+load_2_2_2_tiles+opt_softmax");
  const BlockTiles tiles = block_tiles(fixtures::flash(), config).value();
  EXPECT_EQ(tiles.query_rows, 64);
  EXPECT_EQ(tiles.keys_per_step, 32);
  EXPECT_EQ(tiles.order, StepOrder::last_to_first);
  EXPECT_EQ(tiles.reference_slack_log2, 8.0);
  const Family toy = load_family(fixtures::toy_tree(), "toy_attention");
  EXPECT_FALSE(toy.debug);
  EXPECT_FALSE(block_tiles(toy, {"toy_attention", {5, 64, 32, 1}}));
}

json toy_debug(const std::string& rows, const std::string& slack) {
  return {{"define", "TOY_DUMP"},
          {"query_rows", rows},
          {"keys_per_step", "UNROLL"},
          {"step_order", "first_to_last"},
          {"reference_slack_log2", slack}};
}

TEST(Family, TheDumpIsADefineMore) {
  json file = fixtures::toy_json();
  file["debug"] = toy_debug("BLOCK_ROWS", "0");
  const Family family = fixtures::load_changed(file);
  const Config config{"toy_attention", {5, 64, 32, 1}};
  const Problem problem{1, 64, 1, 64, DType::fp16, false};
  const DeviceLimits& limits = fixtures::h200();
  const CompileRequest plain = compile_request({family, config, problem, limits});
  const CompileRequest dump = dump_request({family, config, problem, limits});
  EXPECT_EQ(dump.defines.size(), plain.defines.size() + 1);
  EXPECT_EQ(dump.defines.back(), std::pair(std::string("TOY_DUMP"), std::string("1")));
  EXPECT_EQ(block_tiles(family, config)->query_rows, 32);
  EXPECT_EQ(block_tiles(family, config)->steps_per_part, 0) << "all keys are one part";
  EXPECT_FALSE(debug_lengths(family, config).queries);
  EXPECT_FALSE(debug_lengths(family, config).keys);
}

TEST(Family, ADumpMayHavePartsAndUsualLengths) {
  const Family family = load_family(FileTree(), "flash_decode");
  const Config config = parse_config(family, "(FP16, 128, 8, 80, 2, 1): parts_256");
  EXPECT_EQ(block_tiles(family, config)->steps_per_part, 4);
  EXPECT_EQ(debug_lengths(family, config).queries, 1);
  EXPECT_EQ(debug_lengths(family, config).keys, 2 * 4 * 80 + 101);
}

TEST(Family, ImpossibleTilesOfADumpAreNamed) {
  json file = fixtures::toy_json();
  const Config config{"toy_attention", {5, 64, 32, 1}};
  file["debug"] = toy_debug("BLOCK_ROWS - 32", "0");
  fixtures::expect_error([&] { (void)block_tiles(fixtures::load_changed(file), config); },
                         ExitCode::bad_file, {"/debug/query_rows", "gives 0"});
  file["debug"] = toy_debug("BLOCK_ROWS", "-1");
  fixtures::expect_error([&] { (void)block_tiles(fixtures::load_changed(file), config); },
                         ExitCode::bad_file, {"/debug/reference_slack_log2", "never exceeds"});
  file["debug"] = toy_debug("BLOCK_ROWS", "0");
  file["debug"]["keys"] = "0";
  fixtures::expect_error([&] { (void)debug_lengths(fixtures::load_changed(file), config); },
                         ExitCode::bad_file, {"/debug/keys", "gives 0"});
  file["debug"] = toy_debug("seq_len", "0");
  fixtures::expect_error([&] { (void)fixtures::load_changed(file); }, ExitCode::bad_file,
                         {": /debug/query_rows", "seq_len"});
  file["debug"] = toy_debug("BLOCK_ROWS", "0");
  file["debug"]["define"] = "A B";
  fixtures::expect_error([&] { (void)fixtures::load_changed(file); }, ExitCode::bad_file,
                         {": /debug/define", "not an identifier"});
}

/// One change of a good family file, where the error must point, and what it must say.
struct BadFamily {
  const char* pointer;
  json value;  ///< null: the member is removed
  const char* where;
  std::vector<std::string> parts;
};

std::vector<BadFamily> bad_families() {
  return {
      {"/summary", nullptr, ": /", {"has no member 'summary'", "one line that tells a user"}},
      {"/sumary", "x", ": /", {"unknown member 'sumary'", "summary"}},
      {"/abi", "gemm", ": /abi", {"\"gemm\"", "attention_forward"}},
      {"/min_arch", "volta", ": /min_arch", {"'volta' is not a GPU architecture", "sm_80"}},
      {"/parameters", json::array(), ": /parameters", {"[]", "the parameters of a configuration"}},
      {"/parameters/2/name", "BLOCK ROWS", ": /parameters/2/name", {"not an identifier"}},
      {"/parameters/2/name", "UNROLL", ": /parameters/3/name", {"the name 'UNROLL' is taken"}},
      {"/parameters/2/name", "seq_len", ": /parameters", {"'seq_len' is taken", "rename"}},
      {"/parameters/2/values", nullptr, ": /parameters/2", {"has no member 'values'"}},
      {"/parameters/2/values", json::array({64, 64}), ": /parameters/2/values", {"appears twice"}},
      {"/parameters/2/values", json::array({-1}), ": /parameters/2/values/0", {"-1"}},
      {"/parameters/2/values",
       json::object({{"A", 1}}),
       ": /parameters/2/values",
       {"not an array"}},
      {"/parameters/0/values", json::array({1}), ": /parameters/0/values", {"not an object"}},
      {"/parameters/2/type", "float", ": /parameters/2/type", {"\"float\"", "bool; int"}},
      {"/parameters/2/type", "bool", ": /parameters/2/values", {"a bool takes no list of values"}},
      {"/parameters/1/binds", nullptr, ": /parameters/1", {"d_head must be bound to the problem"}},
      {"/parameters/1/binds", "heads", ": /parameters/1/binds", {"\"heads\"", "d_head"}},
      {"/short_form/tuple/2", "ROWS", ": /short_form/tuple/2", {"no parameter 'ROWS'"}},
      {"/short_form/tuple/2", "d_head", ": /short_form/tuple/2", {"'d_head' already has a place"}},
      {"/short_form/tuple",
       json::array({"dtype", "d_head"}),
       ": /short_form",
       {"'BLOCK_ROWS' has no place"}},
      {"/short_form/flags/0/text",
       "unroll",
       ": /short_form/flags/0",
       {"does not stand for a parameter"}},
      {"/short_form/flags/0/text", "u_{UNROLL", ": /short_form/flags/0/text", {"no '}'"}},
      {"/short_form/flags/0/text", "u+{UNROLL}", ": /short_form/flags/0/text", {"'u+'"}},
      {"/short_form/flags/0/text",
       "u_{UNROLL}0",
       ": /short_form/flags/0/text",
       {"are not separated"}},
      {"/short_form/flags/0/parameter",
       "UNROLL",
       ": /short_form/flags/0/text",
       {"'unroll_{UNROLL}'"}},
      {"/short_form/flags/0",
       {{"text", "u"}, {"parameter", "UNROLL"}},
       ": /short_form/flags/0/parameter",
       {"'UNROLL' is not a bool"}},
      {"/source", "../common/attention_args.h", ": /source", {"cannot be a source's name"}},
      {"/source", "a;touch owned;#.cu", ": /source", {"cannot be a source's name", "letters"}},
      {"/source", "-o.cu", ": /source", {"cannot be a source's name"}},
      {"/source", "/etc/hosts", ": /source", {"cannot be a source's name"}},
      {"/source", "parts/nope.cu", ": /source", {"no file"}},
      {"/entry/kind", "template", ": /entry", {"needs \"kernel_name\""}},
      {"/entry/kind", "cubin", ": /entry/kind", {"\"cubin\""}},
      {"/entry/name", nullptr, ": /entry", {"has no member 'name'"}},
      {"/entry/name", "f(); evil", ": /entry/name", {"not an identifier"}},
      {"/options/0", "-I/etc", ": /options/0", {"'-I/etc' is not among", "--include names"}},
      {"/options/0", "--gpu-architecture=sm_75", ": /options/0", {"fatune itself sets arch"}},
      {"/options/0", "kernel.cu", ": /options/0", {"--allow-option=kernel.cu"}},
      {"/options/0", "--time=/t", ": /options/0", {"may set --std, --use_fast_math, --device-as"}},
      {"/options/0", "--split-compile=0", ": /options/0", {"--split-compile=1..16"}},
      {"/derived/0/value", "batch * head", ": /derived/0/value", {"unknown name 'head'", "heads"}},
      {"/derived/0/value", "total_flop", ": /derived/0/value", {"unknown name 'total_flop'"}},
      {"/derived/0/name", "UNROLL", ": /derived/0/name", {"'UNROLL' is taken"}},
      {"/derived/0/name", "sm_count", ": /derived/0/name", {"'sm_count' is taken"}},
      {"/derived/0/unit", nullptr, ": /derived/0", {"has no member 'unit'"}},
      {"/defines", {{"A B", "1"}}, ": /defines/A B", {"not an identifier"}},
      {"/defines", {{"A", "1 +"}}, ": /defines/A", {"position"}},
      {"/defines", {{"A", 1}}, ": /defines/A", {"is number, not"}},
      {"/defines", {{"A", {{"string", "{nope}"}}}}, ": /defines/A/string", {"'nope'"}},
      {"/source",
       json::array({{{"when", "1 +"}, {"value", "toy_attention.cu"}}}),
       ": /source/0/when",
       {"position"}},
      {"/source", json::array({{{"value", "nope.cu"}}}), ": /source/0/value", {"no file"}},
      {"/entry",
       json::array({{{"value", {{"kind", "template"}}}}}),
       ": /entry/0/value",
       {"needs \"kernel_name\""}},
      {"/options/0", {{"value", "-x"}}, ": /options/0", {"no member 'when'"}},
      {"/options/0", {{"when", "1"}, {"value", "x"}}, ": /options/0/value", {"'x' is not among"}},
      {"/defines", {{"A", {{"string", "1\n#include <x>"}}}}, ": /defines/A/string", {"control"}},
      {"/launch/grid", json::array({"1"}), ": /launch/grid", {"three expressions"}},
      {"/launch/block/1", "", ": /launch/block/1", {"\"\""}},
      {"/launch/dynamic_smem_bytes", nullptr, ": /launch", {"has no member 'dynamic_smem_bytes'"}},
      {"/validity",
       {{{"id", "x"}, {"must_hold", "1"}, {"reason", "{nope}"}}},
       ": /validity/0/reason",
       {"unknown name 'nope'"}},
      {"/meant_for", "seq_len < ROWS", ": /meant_for", {"unknown name 'ROWS'"}},
      {"/meant_for", "sm_count > 1", ": /meant_for", {"sm_count"}},
      {"/usual_d_head_v", "seq_len", ": /usual_d_head_v", {"seq_len"}},
      {"/name", 7, ": /name", {"not a string"}},
  };
}

TEST(Family, EveryMistakeIsAnsweredWithPointerAndRemedy) {
  for (const BadFamily& bad : bad_families()) {
    SCOPED_TRACE(std::string(bad.pointer) + " = " + bad.value.dump());
    json family = fixtures::toy_json();
    const json::json_pointer at(bad.pointer);
    if (bad.value.is_null()) {
      family.at(at.parent_pointer()).erase(at.back());
    } else {
      family[at] = bad.value;
    }
    std::vector<std::string> parts = bad.parts;
    parts.emplace_back("family.json" + std::string(bad.where));
    fixtures::expect_error([&] { (void)fixtures::load_changed(family); }, ExitCode::bad_file,
                           parts);
  }
}

TEST(Family, TwoFlagsWithOneTextAreAmbiguous) {
  json family = fixtures::toy_json();
  for (const char* name : {"FIRST", "SECOND"}) {
    family["parameters"].push_back({{"name", name}, {"type", "bool"}, {"doc", "a switch"}});
    family["short_form"]["flags"].push_back({{"text", "same"}, {"parameter", name}});
  }
  fixtures::expect_error([&] { (void)fixtures::load_changed(family); }, ExitCode::bad_file,
                         {"/short_form/flags/2/text", "another flag has the same text"});
}

TEST(Family, EveryBuiltInFamilyLoads) {
  for (const std::string& name : family_names(FileTree{})) {
    EXPECT_NO_THROW((void)load_family(FileTree{}, name)) << name;
  }
}

}  // namespace
}  // namespace fatune
