// Generates the types in the output schemas from the lists of members and fields, and whether a
// value may be null; for structs also the descriptions and which properties there are. Other
// descriptions, limits, enumerations and the items of lists are written by hand in one file. Their
// copies in other files are generated too.
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "commands/check/check_report.hpp"
#include "commands/compile/compile.hpp"
#include "commands/debug/debug_report.hpp"
#include "commands/emulate/emulate_report.hpp"
#include "commands/list/list.hpp"
#include "commands/profile/profile.hpp"
#include "commands/row_reports.hpp"
#include "commands/sass/sass_reports.hpp"
#include "golden_file.hpp"
#include "model/problem.hpp"
#include "model/record_json.hpp"
#include "print/comparisons.hpp"
#include "print/export_report.hpp"
#include "print/run_report.hpp"
#include "print/workload_report.hpp"
#include "unit/commands/schema_text.hpp"

namespace fatune {
namespace {

using Schema = nlohmann::ordered_json;

std::string path_of(const std::string& name) {
  return FATUNE_SOURCE_DIR "/configs/schema/" + name + ".schema.json";
}

std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.is_open()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

Schema type_text(FieldType type) {
  constexpr std::array<const char*, 5> kNames{"", "boolean", "integer", "number", "string"};
  const char* name = kNames.at(static_cast<std::size_t>(type.kind));
  return type.may_be_none ? Schema{name, "null"} : Schema(name);
}

/// Every property must have a description.
template <typename Row>
void describe(Schema& properties, const Fields<Row>& fields) {
  for (const auto& field : fields) {
    Schema& property = properties[std::string(field.name)];
    const FieldType type = field.get.type();
    const bool is_said_elsewhere = property.contains("$ref") || property.contains("oneOf");
    if (type.kind != FieldType::Kind::any && !is_said_elsewhere) {
      property["type"] = type_text(type);
    }
    EXPECT_TRUE(property.contains("$ref") || property.contains("description")) << field.name;
  }
}

/// Like describe(), but there may be no other properties.
template <typename Row>
void describe_all(Schema& properties, const Fields<Row>& fields) {
  describe(properties, fields);
  EXPECT_EQ(properties.size(), fields.size());
}

/// Describes the properties of that name by the texts of a table.
template <typename Items>
void describe_by(const Items& items, Schema& properties) {
  for (const auto& item : items) {
    properties[std::string(item.name)]["description"] = item.doc;
  }
}

/// The type of a member in JSON. Numbers that are not finite are text.
Schema type_text(const RecordMember& member, bool may_be_infinite) {
  constexpr std::array<const char*, 6> kNames{"boolean", "integer", "number",
                                              "string",  "array",   "object"};
  std::vector<std::string> types{kNames.at(static_cast<std::size_t>(member.type))};
  if (may_be_infinite && member.type == RecordMember::Type::number) {
    types.emplace_back("string");
  }
  if (member.info.or_null) {
    types.emplace_back("null");
  }
  return types.size() == 1 ? Schema(types.front()) : Schema(types);
}

class SchemaFiles : public testing::Test {
 protected:
  Schema& schema(const std::string& name) {
    const auto [found, is_new] = files_.try_emplace(name);
    if (is_new) {
      found->second = Schema::parse(file_text(path_of(name)));
    }
    return found->second;
  }
  Schema& at(const std::string& name, const std::string& pointer) {
    return schema(name).at(Schema::json_pointer(pointer));
  }
  Schema& row_of(const std::string& name, const std::string& list) {
    return at(name, list + "/items/properties");
  }

  /// Writes the properties of an object that follow from the members of a struct, after those in
  /// `first` and before `derived`; removes all others. What the file says besides stays.
  template <typename Struct>
  Schema& describe_struct(Schema& object, const std::vector<std::string>& first,
                          const std::vector<std::string>& derived);
  template <typename Struct>
  Schema& describe_struct(const std::string& definition,
                          const std::vector<std::string>& derived = {}) {
    return describe_struct<Struct>(at("results", "/definitions/" + definition), {}, derived);
  }

  void describe_results();
  void describe_emulations();
  void describe_machine_code();
  void describe_choices();
  void describe_others();
  void copy_definitions();

  std::map<std::string, Schema> files_;
};

template <typename Struct>
Schema& SchemaFiles::describe_struct(Schema& object, const std::vector<std::string>& first,
                                     const std::vector<std::string>& derived) {
  const bool may_be_infinite = std::is_same_v<Struct, ErrorStats> ||
                               std::is_same_v<Struct, EstimateTerm> ||
                               std::is_same_v<Struct, Result>;
  Schema old = object["properties"];
  Schema properties = Schema::object();
  object["required"] = first;
  for (const std::string& name : first) {
    properties[name] = old[name];
  }
  for (const RecordMember& member : record_members<Struct>()) {
    const std::string name(member.info.name);
    Schema property = properties.contains(name) ? properties[name] : old[name];
    const bool is_said_elsewhere = property.contains("$ref") || property.contains("oneOf");
    if (!is_said_elsewhere) {
      property["type"] = type_text(member, may_be_infinite);
    }
    if (!property.contains("$ref")) {
      EXPECT_FALSE(member.info.doc.empty()) << name;
      property["description"] = member.info.doc;
    }
    properties[name] = property;
    if (!member.of_alternative && !member.info.if_any) {
      object["required"].push_back(name);
    }
  }
  for (const std::string& name : derived) {
    properties[name] = properties.contains(name) ? properties[name] : old[name];
    object["required"].push_back(name);
  }
  object["properties"] = properties;
  return object;
}

void SchemaFiles::describe_results() {
  Schema& run = schema("results");
  describe_struct<RunReport>(run, {"format", "format_version"}, {"gpu_busy_percent", "summary"});
  describe_struct<ProblemReport>("problem_report");
  describe_struct<MeasurePolicy>("policy");
  describe_struct<MeasuringSummary>("measuring");
  describe_struct<GpuConditions>("conditions");
  describe_struct<GpuReading>("gpu_reading");
  describe_struct<MatmulRate>("matmul");
  describe_struct<MemoryRate>("memory");
  describe_struct<RuleAudit>("rule_audit");
  describe_struct<Verification>("verification");
  describe_struct<ErrorStats>("error_stats");
  describe_struct<RowMismatches>("row_mismatches");
  describe_struct<EstimateTerm>("estimate_term");
  describe_struct<AssemblerNote>("assembler_note");
  describe_struct<MedianInterval>("median_interval");
  describe_struct<Shard>("shard");
  describe_struct<PlacedProblem>("placed_problem");
  describe_struct<Problem>("problem");
  describe_struct<DeviceLimits>("device");
  describe_struct<Toolchain>("toolchain");
  std::vector<std::string> derived;
  for (const Field<ResultRow>& field : derived_result_fields()) {
    derived.emplace_back(field.name);
  }
  describe(describe_struct<Result>("result", derived)["properties"], derived_result_fields());
  describe_struct<RivalCheck>("rival_check");
  describe_struct<GateReport>(at("results", "/properties/gate"), {}, {"worse", "counts"});
  describe(at("results", "/definitions/problem_winner/properties"), winner_fields());
  describe(at("results", "/definitions/common_choice/properties"), common_choice_fields());
  describe_all(at("results", "/definitions/swept_workload/properties/calls/items/properties"),
               swept_call_fields());
}

void SchemaFiles::describe_emulations() {
  Schema& config = row_of("emulate", "/properties/configs");
  describe(config, emulated_config_fields());
  Schema& finding = config["findings"]["items"]["properties"];
  describe(finding, emulated_finding_fields());
  describe(finding["other"]["properties"], emulated_access_fields());
  describe(config["groups"]["items"]["properties"], finding_group_fields());
  describe(at("emulate", "/definitions/part/properties"), emulated_part_fields());
  describe(at("emulate", "/definitions/line/properties"), emulated_line_fields());
}

void SchemaFiles::describe_machine_code() {
  for (const char* list : {"/properties/classes", "/properties/opcodes"}) {
    describe_all(row_of("sass", list), sass_fields());
    describe_all(row_of("sass_diff", list), sass_diff_fields());
  }
  describe_all(row_of("sass_why", "/properties/effects"), effect_fields());
  describe_all(row_of("sass_why", "/properties/problems/items/properties/correlations"),
               correlation_fields());
  for (const char* list : {"/properties/lines", "/properties/selection/properties/source"}) {
    describe_all(row_of("sass_map", list), map_line_fields());
    describe_by(opcode_classes(), row_of("sass_map", list));
  }
  describe_all(row_of("sass_map", "/properties/selection/properties/ptx"), map_ptx_fields());
  describe_all(row_of("sass_map", "/properties/selection/properties/sass"), map_sass_fields());
}

void SchemaFiles::describe_choices() {
  describe(row_of("export", "/properties/origins"), tuned_origin_fields());
  Schema& row = row_of("export", "/properties/rows");
  describe(row, export_row_fields());
  describe(row["alternatives"]["items"]["properties"], tuned_time_fields());
  describe(row_of("export", "/properties/defaults"), export_default_fields());
  describe(row_of("export", "/properties/skipped"), skipped_result_fields());
  describe(row_of("export", "/properties/left_out"), step_regret_fields());
  Schema& cover = at("export", "/properties/cover/anyOf/0/properties");
  describe(cover["configs"]["items"]["properties"], covering_config_fields());
  Schema& prediction = row_of("predict", "/properties/predictions");
  describe(prediction, prediction_fields());
  describe(prediction["neighbours"]["items"]["properties"], neighbour_fields());
}

void SchemaFiles::describe_others() {
  describe(row_of("cache", "/properties/bundles"), bundle_fields());
  describe(row_of("cluster_missing", "/properties/missing"), missing_shard_fields());
  describe(row_of("cases", "/properties/results"), case_fields());
  describe(row_of("check", "/properties/checks"), checked_input_fields());
  describe(row_of("compare", "/properties/problems"), compared_problem_fields());
  describe(at("compare", "/definitions/run/properties"), compared_run_fields());
  describe(row_of("compile", "/properties/configs"), compile_fields());
  describe(row_of("debug", "/properties/checks"), step_check_fields());
  describe(row_of("export_files", "/properties/files"), exported_file_fields());
  describe(row_of("history", "/properties/runs"), history_fields());
  describe(row_of("import", "/properties/runs"), imported_run_fields());
  describe(row_of("merge", "/properties/stores"), merged_store_fields());
  describe_all(row_of("presets", "/properties/presets"), preset_fields());
  describe_by(kProblemDetails, row_of("presets", "/properties/presets"));
  describe(row_of("profile", "/properties/configs"), profiled_config_fields());
  describe_by(kProblemDetails, row_of("profile", "/properties/configs"));
  describe(row_of("search", "/properties/trials"), search_fields());
  describe(row_of("timeline", "/properties/rows"), timeline_fields());
  describe_all(row_of("workload", "/properties/calls"), workload_fields());
  describe_by(kProblemDetails, row_of("workload", "/properties/calls"));
}

void SchemaFiles::copy_definitions() {
  const Schema& results = at("results", "/definitions");
  for (const char* name : {"cases", "export", "predict"}) {
    for (auto& [key, definition] : at(name, "/definitions").items()) {
      definition = results.at(key);
    }
  }
  for (const char* name : {"rival_check", "verdict_counts", "problem"}) {
    at("compare", "/definitions")[name] = results.at(name);
  }
  at("compile", "/properties/device/properties") = results["device"]["properties"];
  at("debug", "/properties/problem/properties") = results["problem"]["properties"];
  for (auto& [key, property] : at("compile", "/properties/problem/properties").items()) {
    property = results["problem"]["properties"].at(key);
  }
}

TEST_F(SchemaFiles, SayWhatTheFieldsSay) {
  describe_results();
  describe_emulations();
  describe_machine_code();
  describe_choices();
  describe_others();
  copy_definitions();
  for (const auto& [name, schema] : files_) {
    const std::string text = schema_text(schema);
    if (testing_golden::updates_golden()) {
      std::ofstream(path_of(name), std::ios::binary) << text;
    } else {
      EXPECT_TRUE(text == file_text(path_of(name)))
          << name << ": if this is meant, run again with UPDATE_GOLDEN=1, and build";
    }
  }
}

}  // namespace
}  // namespace fatune
