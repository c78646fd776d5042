#include <array>
#include <utility>

#include <fmt/format.h>

#include "emit/sass_map_report.hpp"
#include "sass/listing_text.hpp"

namespace fatune {
namespace {

std::string main_loop_classes(const MapLineRow& row) {
  std::array<std::int64_t, kOpcodeClasses> counts{};
  for (std::size_t i = 0; i < counts.size(); ++i) {
    counts[i] = row.count.classes[i].main_loop;
  }
  return classes_text(counts);
}

template <std::size_t kClass>
Field<MapLineRow> class_field() {
  const OpcodeClassText& text = opcode_classes()[kClass];
  return {text.name,    text.name,
          text.doc,     0,
          kForPrograms, [](const MapLineRow& r) {
            return r.count.classes[kClass].main_loop; }};
}

template <std::size_t... kClasses>
void add_class_fields(std::vector<Field<MapLineRow>>& fields,
                      std::index_sequence<kClasses...> /*all*/) {
  (fields.push_back(class_field<kClasses>()), ...);
}

std::vector<Field<MapLineRow>> line_fields() {
  using R = MapLineRow;
  std::vector<Field<R>> fields{
      {"file", "file", "of the source, as #include names it", 0, kEverywhere,
       [](const R& r) { return r.count.at.file; }, ColumnFit{.once = true}},
      {"line", "line", "of the file, from 1", 0, kEverywhere,
       [](const R& r) { return r.count.at.line; }},
      {"main_loop", "loop", "instructions of the main loop that were written in this line", 0,
       kEverywhere, [](const R& r) { return r.count.own.main_loop; }},
      {"main_loop_with_inlined", "loop+",
       "the same, with those of functions that were inlined in this line", 0, kEverywhere,
       [](const R& r) { return r.count.with_inlined.main_loop; }},
      {"conditional", "cond", "of main_loop, where an iteration may not come by", 0, kEverywhere,
       [](const R& r) { return r.count.own.conditional; }, ColumnFit{.leaves = 1}},
      {"total", "total", "instructions of the function that were written in this line", 0,
       kEverywhere, [](const R& r) { return r.count.own.total; }, ColumnFit{.leaves = 2}},
      {"total_with_inlined", "total+",
       "the same, with those of functions that were inlined in this line", 0, kEverywhere,
       [](const R& r) { return r.count.with_inlined.total; }, ColumnFit{.leaves = 3}},
      {"classes", "classes in the loop", "main_loop by class, as text", 0, kEverywhere,
       [](const R& r) { return text_or_none(main_loop_classes(r)); }, kWraps},
      {"text", "source", "the line itself; null: the file is not at hand", 0, kEverywhere,
       [](const R& r) { return text_or_none(r.text); }, kWraps},
  };
  add_class_fields(fields, std::make_index_sequence<kOpcodeClasses>());
  return fields;
}

}  // namespace

const std::vector<Field<MapLineRow>>& map_line_fields() {
  static const std::vector<Field<MapLineRow>> fields = line_fields();
  return fields;
}

const std::vector<Field<MapPtxRow>>& map_ptx_fields() {
  using R = MapPtxRow;
  static const std::vector<Field<R>> fields{
      {"line", "line", "of the PTX, from 1", 0, kEverywhere, member<&R::line>},
      {"depth", "steps", "how many steps away it feeds the line asked for; 0: it belongs to it", 0,
       kEverywhere, [](const R& r) { return r.depth; }},
      {"text", "PTX", "the instruction", 0, kEverywhere, member<&R::text>, kWraps},
      {"source", "source", "where it was written, then where that was inlined at", 0, kEverywhere,
       [](const R& r) { return text_or_none(chain_text(r.source)); }, kWraps},
  };
  return fields;
}

const std::vector<Field<MapSassRow>>& map_sass_fields() {
  using R = MapSassRow;
  static const std::vector<Field<R>> fields{
      {"address", "address", "in bytes from the beginning of the section, hexadecimal", 0,
       kEverywhere, [](const R& r) { return fmt::format("{:#06x}", r.address); }},
      {"text", "SASS", "the instruction", 0, kEverywhere, member<&R::text>, kWraps},
      {"class", "class", "what it keeps busy", 0, kEverywhere,
       [](const R& r) { return std::string(class_name(r.which)); }, ColumnFit{.leaves = 2}},
      {"main_loop", "main loop", "loop or conditional; null: it is not in the main loop", 0,
       kEverywhere, [](const R& r) { return text_or_none(std::string(place_name(r.place))); }},
      {"ptx_line", "PTX line", "of the PTX instruction that it was made from; null: not known", 0,
       kEverywhere,
       [](const R& r) { return r.ptx_line == 0 ? std::nullopt : std::optional(r.ptx_line); },
       ColumnFit{.leaves = 1}},
      {"source", "source", "where it was written, then where that was inlined at", 0, kEverywhere,
       [](const R& r) { return text_or_none(chain_text(r.source)); }, kWraps},
  };
  return fields;
}

}  // namespace fatune
