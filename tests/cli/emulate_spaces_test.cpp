// Runs the configurations of the built-in spaces on the CPU with all checks. This is what verifies
// them on a machine without a GPU. Each test takes a different part of them (exhaustive.hpp).
#include <algorithm>
#include <map>
#include <numeric>

#include "cli/program.hpp"
#include "exhaustive.hpp"

namespace fatune::testing_cli {
namespace {

using nlohmann::json;

// Tiles have 32, 64 or 128 rows: all of these divide the first length, and none the second.
constexpr std::int64_t kAligned = 256;
constexpr std::int64_t kRagged = 200;
constexpr std::int64_t kElementBytes = 2;

/// The wavefronts of one kind of access, in a whole grid.
struct Wavefronts {
  std::int64_t ideal = 0;
  std::int64_t all = 0;

  bool operator==(const Wavefronts&) const = default;
};

void PrintTo(const Wavefronts& of, std::ostream* out) {
  *out << of.all << " wavefronts, ideally " << of.ideal;
}

/// Predicts the counts of flash_sm80 by arithmetic, for one head of kAligned positions.
class Prediction {
 public:
  explicit Prediction(const json& parameters) : parameters_(parameters) {}

  /// The wavefronts by kind of access. Without swizzling, all rows of one access begin in the same
  /// bank: the 8 rows of an 8 x 8 matrix, or the 8 rows of which a warp stores 16 bytes each.
  [[nodiscard]] std::map<std::string, Wavefronts> of_all_kinds() const {
    const std::int64_t warps_tiles = value("n_warps") * steps() * matrices(value("B_c"));
    const std::int64_t q =
        matrices(value("B_r")) * (value("Q_mma_load_K_tiles") == 0 ? 1 : steps());
    const std::int64_t chunks = chunks_of(value("B_r") + 2 * steps() * value("B_c"));
    return {{"ldmatrix", by_rows(q + warps_tiles)},
            {"ldmatrix.trans", by_rows(warps_tiles)},
            {"cp.async", side_by_side(chunks / kWavefrontChunks)},
            {"st.shared", by_rows(chunks_of(value("B_r")) * kChunkBytes / kWavefrontBytes)},
            {"ld.shared", side_by_side(chunks_of(value("B_r")) / kWavefrontChunks)}};
  }

 private:
  static constexpr std::int64_t kWavefrontBytes = 128;  // 32 banks of 4 bytes
  static constexpr std::int64_t kChunkBytes = 16;
  static constexpr std::int64_t kWavefrontChunks = kWavefrontBytes / kChunkBytes;
  static constexpr std::int64_t kMatrixRows = 8;

  [[nodiscard]] std::int64_t value(const char* name) const { return parameters_[name]; }
  [[nodiscard]] std::int64_t row_bytes() const { return value("d_head") * kElementBytes; }
  [[nodiscard]] std::int64_t blocks() const { return kAligned / value("B_r"); }
  [[nodiscard]] std::int64_t steps() const { return kAligned / value("B_c"); }
  /// The number of 8 x 8 matrices in `rows` rows.
  [[nodiscard]] std::int64_t matrices(std::int64_t rows) const {
    return rows / kMatrixRows * row_bytes() / kChunkBytes;
  }
  [[nodiscard]] std::int64_t chunks_of(std::int64_t rows) const {
    return rows * row_bytes() / kChunkBytes;
  }

  /// How many of 8 rows begin in the same bank.
  [[nodiscard]] std::int64_t ways() const {
    const std::int64_t places = kWavefrontBytes / std::gcd(row_bytes(), kWavefrontBytes);
    return parameters_["swizzled"].get<bool>() ? 1 : kMatrixRows / std::min(kMatrixRows, places);
  }
  [[nodiscard]] Wavefronts by_rows(std::int64_t of_a_block) const {
    return {blocks() * of_a_block, blocks() * of_a_block * ways()};
  }
  [[nodiscard]] Wavefronts side_by_side(std::int64_t of_a_block) const {
    return {blocks() * of_a_block, blocks() * of_a_block};
  }

  const json& parameters_;
};

/// Shortens an opcode: "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16" is "ldmatrix.trans".
std::string kind_of(const std::string& opcode) {
  for (const char* kind : {"cp.async", "st.shared", "ld.shared"}) {
    if (opcode.starts_with(kind)) {
      return kind;
    }
  }
  return opcode.find(".trans") == std::string::npos ? "ldmatrix" : "ldmatrix.trans";
}

std::map<std::string, Wavefronts> counted(const json& row) {
  std::map<std::string, Wavefronts> kinds;
  for (const json& opcode : row["opcodes"]) {
    if (opcode["shared_wavefronts"] > 0) {
      Wavefronts& of = kinds[kind_of(opcode["what"])];
      of.ideal += opcode["ideal_wavefronts"].get<std::int64_t>();
      of.all += opcode["shared_wavefronts"].get<std::int64_t>();
    }
  }
  return kinds;
}

using Configs = std::map<std::string, json>;  ///< parameters by configuration

constexpr std::size_t kParts = 20;

Configs unswizzled(Configs configs) {
  std::erase_if(configs,
                [](const auto& config) { return config.second["swizzled"].template get<bool>(); });
  return configs;
}

class EmulateSpaces : public ProgramTest {
 protected:
  Configs kept(const std::string& space, const std::string& dtype) {
    const json list = fatune_json({"list", "--space", space, "--dtype", dtype, "--format", "json"});
    Configs configs;
    for (const json& row : list["kept"]) {
      configs[row["config"]] = row["parameters"];
    }
    return configs;
  }

  /// The configurations of `tune` and `progall`, which overlap.
  Configs both_spaces() {
    Configs configs = kept("tune", "fp16");
    EXPECT_EQ(configs.size(), 40U);
    Configs others = kept("progall", "fp16");
    EXPECT_EQ(others.size(), 56U);
    configs.merge(others);
    return configs;
  }

  /// Checks that all of these are right, under random schedules and on all inputs. Returns their
  /// rows.
  json all_right(const Configs& configs, std::int64_t seq_len,
                 const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"emulate", "--format", "json", "--timing",
                                       "random",  "--heads",  "1",    "--seq"};
    arguments.push_back(std::to_string(seq_len));
    for (const auto& [config, parameters] : configs) {
      arguments.insert(arguments.end(), {"--config", config});
    }
    arguments.insert(arguments.end(), more.begin(), more.end());
    const json report = fatune_json(arguments);
    EXPECT_EQ(report["checks"].size(), 8U) << report["checks"];
    EXPECT_EQ(report["configs"].size(), configs.size());
    for (const json& row : report["configs"]) {
      EXPECT_EQ(row["outcome"], "right") << row["config"] << ": " << row["detail"];
      EXPECT_EQ(row["runs"], 10) << "five inputs, two schedules: " << row["config"];
    }
    return report["configs"];
  }
};

TEST_F(EmulateSpaces, AreRightAndHaveTheBankConflictsThatArithmeticPredicts) {
  Configs configs = part_of(both_spaces(), 0, kParts);
  configs.merge(unswizzled(both_spaces()));
  std::size_t with_conflicts = 0;
  for (const json& row : all_right(configs, kAligned, {"--profile"})) {
    const json& parameters = configs.at(row["config"]);
    const bool swizzled = parameters["swizzled"].get<bool>();
    EXPECT_EQ(counted(row), Prediction(parameters).of_all_kinds()) << row["config"];
    EXPECT_EQ(row["conflict_percent"] == 0.0, swizzled) << row["config"];
    with_conflicts += swizzled ? 0 : 1;
  }
  EXPECT_EQ(with_conflicts, 8U);
}

TEST_F(EmulateSpaces, AreRightAtALengthThatNoTileDivides) {
  all_right(part_of(both_spaces(), 1, kParts), kRagged);
}

TEST_F(EmulateSpaces, AreRightWithACausalMask) {
  all_right(part_of(kept("tune", "fp16"), 2, kParts), kAligned, {"--causal"});
  all_right(part_of(kept("progall", "fp16"), 2, kParts), kRagged, {"--causal"});
}

/// The same configurations with half the head dimension.
Configs narrow(const Configs& sample) {
  Configs narrow;
  for (auto [config, parameters] : sample) {
    parameters["d_head"] = 64;
    std::string name = config;
    narrow[name.replace(name.find("128"), 3, "64")] = parameters;
  }
  return narrow;
}

TEST_F(EmulateSpaces, AreRightInTheOtherTypeAndWidthToo) {
  Configs sample;
  for (const auto& [config, parameters] : kept("tune", "bf16")) {
    if (parameters["optimized_softmax"].get<bool>() &&
        parameters["mma_double_buffer_loads"].get<bool>()) {
      sample[config] = parameters;
    }
  }
  EXPECT_EQ(sample.size(), 10U);
  all_right(part_of(sample, 0, 3), kAligned);
  all_right(part_of(sample, 1, 3), kRagged, {"--causal"});
  all_right(narrow(part_of(sample, 2, 3)), kRagged);
}

}  // namespace
}  // namespace fatune::testing_cli
