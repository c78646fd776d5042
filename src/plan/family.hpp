#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/file_tree.hpp"
#include "base/json_file.hpp"
#include "model/config.hpp"
#include "model/device_limits.hpp"
#include "model/head_problem.hpp"
#include "model/kernel_code.hpp"
#include "model/kv_lengths.hpp"
#include "model/kv_pages.hpp"
#include "plan/expression.hpp"
#include "plan/parameter.hpp"
#include "plan/reason.hpp"
#include "runtime/time_model.hpp"

namespace fatune_attention::detail {
enum class Call : int;  // runtime/launch_builder.hpp
}

namespace fatune {

using LaunchCall = fatune_attention::detail::Call;

// A family's "launch", "arguments", "workspace" and "outputs", with their expressions.

/// The tensors of a problem that arguments may point to; others are buffers of the family.
inline constexpr std::array<std::string_view, 13> kProblemTensors{"q",
                                                                  "k",
                                                                  "v",
                                                                  "o",
                                                                  "lse",
                                                                  kKeyLengthsTensor,
                                                                  kSinksTensor,
                                                                  kPageTableTensor,
                                                                  kQueryStartsTensor,
                                                                  kKeyStartsTensor,
                                                                  kKeyScalesTensor,
                                                                  kValueScalesTensor,
                                                                  kQueryScalesTensor};

/// A scalar type as family.json names it: "int32", "float", ...
struct ScalarType {
  std::string_view name;
  std::int64_t bytes = 0;
  LaunchCall call;
};

/// A call of LaunchBuilder, which describes a launch both here and in exported libraries.
struct LaunchStep {
  LaunchCall call;
  std::vector<Expression> values;
  std::optional<Expression> when;      ///< absent: always
  std::string where;                   ///< file and pointer, for messages
  std::string pointer{};               ///< within the file
  std::string name{};                  ///< of an item: the kernel's
  const ScalarType* scalar = nullptr;  ///< null: no scalar
  std::size_t tensor = 0;              ///< of an address or a map: see ArgumentRules::tensor_name()
};

/// BufferRule::clear for a workspace whose contents do not matter to the kernel.
inline constexpr std::string_view kUnneededClear = "unneeded";

/// An item of "workspace" or "outputs".
struct BufferRule {
  std::string where;
  std::string name;
  Expression bytes;
  Expression initial_word;
  std::string clear = "never";
  std::string output{};  ///< the kind of an output; empty: a workspace
  std::string element_type{};
  std::vector<Expression> shape{};
};

/// The rules for a kernel's arguments.
struct ArgumentRules {
  bool standard = true;  ///< given by the family's "abi": kernels/common/attention_args.h
  std::vector<LaunchStep> steps;
  std::vector<BufferRule> buffers;

  /// The tensors of a problem come first, then the buffers, as in LaunchBuilder's Operand.
  [[nodiscard]] std::string tensor_name(std::size_t tensor) const {
    return tensor < kProblemTensors.size() ? std::string(kProblemTensors.at(tensor))
                                           : buffers.at(tensor - kProblemTensors.size()).name;
  }
};

/// A property of some problems that a kernel has to be told of in its arguments.
struct ToldProperty {
  std::string_view detail;  ///< a name in kProblemDetails, or "dtype"
  std::string_view rule;    ///< the id of the rule of validity
  std::string_view what;
  std::string_view tensor{};  ///< what the arguments point to; empty: they name the detail's symbol
  std::string_view usual{};   ///< the symbol whose value it has in other problems; empty: it is 0
};
inline constexpr ToldProperty kToldKeyLengths{"seq_lens_kv", "lengths-of-keys",
                                              "lengths of keys that differ within a batch",
                                              kKeyLengthsTensor};
inline constexpr ToldProperty kToldPages{"page_size", "pages-of-keys", "K and V in pages",
                                         kPageTableTensor};
inline constexpr ToldProperty kToldPacked{"seq_lens", "packed-batches", "packed batches",
                                          kQueryStartsTensor};
inline constexpr ToldProperty kToldEightBitQueries{kDTypeSymbol, "eight-bit-queries", "Q of 8 bits",
                                                   kQueryScalesTensor};
inline constexpr ToldProperty kToldEightBitKeys{"kv_dtype", "eight-bit-keys", "K and V of 8 bits",
                                                kKeyScalesTensor, kDTypeSymbol};
inline constexpr std::array kToldProperties{
    kToldKeyLengths,
    ToldProperty{"sinks", "sinks-of-heads", "sinks of heads", kSinksTensor},
    ToldProperty{"softcap", "capped-scores", "softcap"},
    kToldPages,
    kToldPacked,
    ToldProperty{"latent", "values-in-keys", "values that are columns of the keys"},
    kToldEightBitQueries,
    kToldEightBitKeys};

/// Whether a kernel has to be told of the property of this problem. Where sequences are packed, the
/// numbers of keys follow from their first rows.
[[nodiscard]] bool has(const Problem& problem, const ToldProperty& property);
/// Whether the kernel is told of the property.
[[nodiscard]] bool takes(const ArgumentRules& rules, const ToldProperty& property);
/// "it takes no sinks of heads: its arguments have no tensor 'sinks'", of a family.
[[nodiscard]] std::string why_not_taken(std::string_view family, const ToldProperty& property);

/// Reads "arguments", "workspace" and "outputs" of family.json. Without "arguments", "abi" says
/// what they are. Throws Error(bad_file) naming the pointer of what is wrong.
[[nodiscard]] ArgumentRules read_argument_rules(const JsonNode& root, const SymbolTable& symbols);

/// Reads "launch": the steps that are no arguments.
[[nodiscard]] std::vector<LaunchStep> read_launch(const JsonNode& node, const SymbolTable& symbols);

/// One element of the short form's list of flags: literal text around parameters. A flag is text
/// alone, and is present if the parameter `flag` is on. A pattern has a value between its texts.
struct ShortFormItem {
  std::optional<std::size_t> flag;  ///< parameter index
  std::vector<std::string> texts;   ///< one more than `values`
  std::vector<std::size_t> values;  ///< parameter indices
};

struct ShortForm {
  std::vector<std::size_t> tuple;  ///< parameter indices
  std::vector<ShortFormItem> items;
};

/// function<config{...}>, the form in which profilers print the kernel.
struct KernelNameForm {
  std::string function;
  std::string config;
};

/// A quantity that follows from parameters, problem and device.
struct Derived {
  std::string name;
  std::string unit;
  std::string doc;
  std::size_t symbol = 0;
  Expression value;
};

struct ValidityRule {
  std::string id;
  Expression must_hold;
  Reason reason;
};

struct Define {
  /// An expression gives an integer. A Reason is text with {name} for values. std::monostate is a
  /// define without a value, which compilers take for 1.
  using Value = std::variant<std::monostate, Expression, Reason>;

  std::string name;
  Choice<Value> value;  ///< none holds: it is not defined
};

/// How a kernel shows its intermediates. The expressions need only parameters.
struct DebugRule {
  std::string define;  ///< makes the kernel take an AttentionForwardDumpArgs
  Expression query_rows;
  Expression keys_per_step;
  StepOrder order = StepOrder::first_to_last;
  Expression reference_slack_log2;
  std::optional<Expression> steps_per_part;  ///< absent: all keys are one part
  std::optional<Expression> queries;         ///< of the usual problem; absent: some blocks
  std::optional<Expression> keys;            ///< of every usual problem; absent: as many as queries
};

/// One item of a family's "shared_tensors": the members of model/shared_tensor.hpp as expressions.
struct SharedTensorRule {
  std::string where;  ///< file and pointer, for messages
  std::string name;
  Expression offset_bytes;
  Expression stages;
  Expression stage_bytes;  ///< 0: stages lie one after another
  Expression rows;
  Expression columns;
  Expression element_bytes;
  Expression panel_columns;  ///< 0: one panel
  Expression row_bytes;      ///< 0: no padding
  Expression swizzle_bytes;
  Expression swizzle_rows;  ///< 0: 128 / swizzle_bytes
};

using fatune_attention::detail::TileOrder;
using fatune_attention::detail::TileSchedule;
using fatune_attention::detail::TimeModel;

/// How tiles of queries are distributed over SMs: TileSchedule as expressions.
struct TileScheduleRule {
  Choice<TileOrder> order;
  Expression sms;
  Expression heads;
  Expression section_heads;
  Expression rows;
  Expression steps;        ///< the steps of a tile; names the symbol below
  std::size_t row_symbol;  ///< "row": the place of a tile among those of its head, from 0
};

/// The time of a launch in clocks of the SM that finishes last, fitted to measured times.
struct TimeModelRule {
  std::vector<Derived> quantities;  ///< derived quantities that the expressions below may name
  Expression launch_clocks;
  Expression tile_clocks;  ///< clocks of a tile without its steps
  Expression step_clocks;
  std::optional<Expression> memory_clocks;  ///< absent: memory never decides
  /// Places of parameters, all effects of which the model has: configurations that differ in
  /// nothing else have one correction by measured times.
  std::vector<std::size_t> not_fitted;
  TileScheduleRule schedule;
};

/// How well the order of a family's estimates agreed with measured times (docs/estimate.md).
struct EstimateCheck {
  std::string on;  ///< "an NVIDIA H200"
  Arch arch;
  int problems = 0;
  double least_rank_correlation = 0.0;
  double greatest_rank_correlation = 0.0;
  /// How far the configuration with the lowest estimate was behind the fastest; absent: not known.
  std::optional<double> most_behind_percent;
  bool held_out = false;           ///< whether each problem was left out of the calibration
  std::int64_t least_queries = 1;  ///< the smallest seq_len of the problems
};

struct EstimateRule {
  std::optional<TimeModelRule> model;    ///< absent: estimated from counts or quantities
  std::optional<EstimateCheck> checked;  ///< absent: never compared with measured times
};

struct EntryPoint {
  bool is_template = false;  ///< function<config{values}>, else an extern "C" name
  std::string name;          ///< the name of an extern "C" function
  /// The prefix of defines <prefix><NAME>, one for every parameter. Absent: there are no such
  /// defines.
  std::optional<std::string> parameter_defines;
};

/// A kernel family: everything fatune knows about a kernel, read from kernels/<name>/family.json.
/// The symbols are, in order: parameters, problem, device, derived (each may use those before it).
struct Family {
  std::string name;
  std::string file;          ///< its family.json in messages: on disk, or built in
  std::string definition{};  ///< SHA-256 of that file's JSON, in hexadecimal digits
  std::string summary;
  /// Distinguishes it from the same family with other sources that is raced against it. Empty for
  /// the family that is tuned.
  std::string version{};
  Arch min_arch;
  /// Whether a sweep over all families tries it on a problem: is_meant_for(). Absent: on any.
  std::optional<Expression> meant_for;
  /// The d_head_v of problems that are made for a configuration: usual_d_head_v(). Absent: d_head.
  std::optional<Expression> usual_d_head_v;
  /// Whether these problems are latent: usual_latent(). Absent: no.
  std::optional<Expression> usual_latent;
  std::string default_space;
  std::vector<Parameter> parameters;
  ShortForm short_form;
  std::optional<KernelNameForm> kernel_name;
  Choice<EntryPoint> entry;
  std::vector<Choice<std::string>> options;  ///< none holds: it is left out
  Choice<std::shared_ptr<const SourceBundle>> sources;
  SymbolTable symbols;
  std::vector<Derived> derived;
  std::vector<Define> defines;
  std::vector<LaunchStep> launch;  ///< without the arguments
  ArgumentRules arguments;
  std::optional<DebugRule> debug;  ///< absent: the kernel shows only its output
  std::vector<SharedTensorRule> shared_tensors;
  std::vector<ValidityRule> validity;
  EstimateRule estimate;
};

/// What the user says about families, and their files cannot.
struct FamilyOptions {
  IncludePaths include_paths{};
  std::vector<std::string> compiler_options{};  ///< allowed besides the plain ones
};

/// Reads kernels/<name>/family.json and the sources it names. Sources are named as #include finds
/// them: relative to kernels/ ("common/attention_args.h", "flash_sm80/mask.cuh"). Every header of
/// the family's own folder and of kernels/common is available. Throws Error(usage) for an unknown
/// name, listing the known ones, and Error(bad_file) for an invalid file.
[[nodiscard]] Family load_family(const FileTree& tree, std::string_view name,
                                 const FamilyOptions& user = {});

/// Names of the families in the tree, sorted.
[[nodiscard]] std::vector<std::string> family_names(const FileTree& tree);

/// The names of the kernel functions that its configurations may have, without template arguments.
[[nodiscard]] std::vector<std::string> function_names(const Family& family);

/// "dtype, d_head, ...", for messages.
[[nodiscard]] inline std::string parameter_names(const Family& family) {
  return joined(family.parameters, ", ", &Parameter::name);
}

/// The index of the family's parameter with that name; nothing if there is none.
[[nodiscard]] std::optional<std::size_t> find_parameter(const Family& family,
                                                        std::string_view name);

/// The separator in a text that names several families, or several of their spaces.
inline constexpr char kJoin = '+';

/// Families whose configurations are tried together, in a fixed order; at least one.
class FamilySet {
 public:
  /// Precondition: at least one family; all names differ.
  explicit FamilySet(std::vector<Family> families) : families_(std::move(families)) {}

  /// The configuration's family. Throws Error(internal) if it is none of these.
  [[nodiscard]] const Family& of(const Config& config) const;
  /// The family with that name; null if there is none.
  [[nodiscard]] const Family* find(std::string_view name) const;
  [[nodiscard]] const std::vector<Family>& all() const { return families_; }
  [[nodiscard]] bool several() const { return families_.size() > 1; }
  [[nodiscard]] std::string names() const;  ///< "flash_sm80", "flash_sm80+flash_sm90"
  /// Drops the families for which `keeps` is false. Precondition: at least one is kept.
  void keep_if(const std::function<bool(const Family&)>& keeps);

 private:
  std::vector<Family> families_;
};

/// A configuration of a family, on a problem and a device. Holds references to its parts.
struct ConfigCase {
  const Family& family;
  const Config& config;
  const Problem& problem;
  const DeviceLimits& limits;  ///< limits.arch is what is compiled for
};

/// Reads a configuration of any of the families, as parse_config(family, text) does. Throws
/// Error(usage) if several can read it. If none can, throws the error of the family that reads
/// furthest.
[[nodiscard]] Config parse_config(const FamilySet& families, std::string_view text);

// The parts of family.json that say what a configuration is and how it is written. Each throws
// Error(bad_file) naming the JSON pointer of what is wrong.

/// Reads "/parameters".
[[nodiscard]] std::vector<Parameter> read_parameters(const JsonNode& list);
/// Reads "/short_form". Every parameter must be in exactly one place, and the form unambiguous.
[[nodiscard]] ShortForm read_short_form(const JsonNode& form,
                                        const std::vector<Parameter>& parameters);

/// Returns the SHA-256 of each family's sources and headers, with their names.
[[nodiscard]] SourceHashes source_hashes(const FamilySet& families);

}  // namespace fatune
