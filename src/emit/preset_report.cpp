#include "emit/preset_report.hpp"

#include "emit/detail_fields.hpp"

namespace fatune {
namespace {

std::optional<DetailValue> preset_detail(const ProblemPreset& preset, const ProblemDetail& detail) {
  const auto found = preset.details.find(&detail);
  return found == preset.details.end() ? std::nullopt : std::optional(found->second);
}

/// The table has many columns: short headings make room for the notes.
void make_room(std::vector<Field<ProblemPreset>>& fields) {
  for (Field<ProblemPreset>& field : fields) {
    field.heading = field.name == "kv_heads"   ? "kv"
                    : field.name == "d_head"   ? "d"
                    : field.name == "d_head_v" ? "d_v"
                                               : field.heading;
    field.fit.leaves = field.name == "source" ? 1 : field.name == "softmax_scale" ? 2 : 0;
  }
}

std::vector<Field<ProblemPreset>> make_preset_fields() {
  std::vector<Field<ProblemPreset>> fields{
      {"name", "preset", "name of the preset, as --preset takes it", 0, kEverywhere,
       member<&ProblemPreset::name>},
      {"heads", "heads", "number of attention heads of queries", 0, kEverywhere,
       member<&ProblemPreset::heads>},
      {"d_head", "d_head", "head dimension: elements of a row of Q and K", 0, kEverywhere,
       member<&ProblemPreset::d_head>},
      {"dtype", "dtype", "element type: FP16 or BF16", 0, kEverywhere,
       [](const ProblemPreset& p) { return std::string(dtype_name(p.dtype)); }},
      {"causal", "causal", "whether a query sees no keys after its own position", 0, kEverywhere,
       member<&ProblemPreset::causal>}};
  add_detail_fields<ProblemPreset, preset_detail>(fields, kEverywhere);
  fields.push_back({"note", "note", "what a problem cannot say about the model; null: nothing", 0,
                    kEverywhere, [](const ProblemPreset& p) { return text_or_none(p.note); },
                    ColumnFit{.least = 16}});
  fields.push_back({"source", "source", "where the model's publisher states these values", 0,
                    kEverywhere, member<&ProblemPreset::source>});
  make_room(fields);
  return fields;
}

}  // namespace

const std::vector<Field<ProblemPreset>>& preset_fields() {
  static const std::vector<Field<ProblemPreset>> fields = make_preset_fields();
  return fields;
}

Document presets_document(const std::vector<ProblemPreset>& presets) {
  return rows_document("presets", "presets", preset_fields(), presets);
}

}  // namespace fatune
