#include "emit/preset_report.hpp"

#include "emit/detail_fields.hpp"

namespace fatune {
namespace {

std::optional<DetailValue> preset_detail(const ProblemPreset& preset, const ProblemDetail& detail) {
  const auto found = preset.details.find(&detail);
  return found == preset.details.end() ? std::nullopt : std::optional(found->second);
}

/// The table has many columns: short headings make room for the notes.
void make_room(Fields<ProblemPreset>& fields) {
  for (Field<ProblemPreset>& field : fields) {
    field.heading = field.name == "kv_heads"   ? "kv"
                    : field.name == "d_head"   ? "d"
                    : field.name == "d_head_v" ? "d_v"
                                               : field.heading;
    field.look.leaves = field.name == "source" ? 1 : field.name == "softmax_scale" ? 2 : 0;
  }
}

Fields<ProblemPreset> make_preset_fields() {
  Fields<ProblemPreset> fields = joined_fields<ProblemPreset>(
      {{{"name", "preset", &ProblemPreset::name},
        {"heads", "heads", &ProblemPreset::heads},
        {"d_head", "d_head", &ProblemPreset::d_head},
        {"dtype", "dtype", [](const ProblemPreset& p) { return dtype_name(p.dtype); }},
        {"causal", "causal", &ProblemPreset::causal}},
       detail_fields<ProblemPreset, preset_detail>(kEverywhere),
       {{"note", "note", Look{.least = 16}, or_none<&ProblemPreset::note>},
        {"source", "source", &ProblemPreset::source}}});
  make_room(fields);
  return fields;
}

}  // namespace

const Fields<ProblemPreset>& preset_fields() {
  static const Fields<ProblemPreset> fields = make_preset_fields();
  return fields;
}

Document presets_document(const std::vector<ProblemPreset>& presets) {
  return rows_document("presets", "presets", preset_fields(), presets);
}

}  // namespace fatune
