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
      {"file", "file", "source file, as #include names it", 0, kEverywhere,
       [](const R& r) { return r.count.at.file; }, ColumnFit{.once = true}},
      {"line", "line", "number of the source line, from 1", 0, kEverywhere,
       [](const R& r) { return r.count.at.line; }},
      {"main_loop", "loop",
       "number of instructions of the main loop that were written in this line", 0, kEverywhere,
       [](const R& r) { return r.count.own.main_loop; }},
      {"main_loop_with_inlined", "loop+",
       "number of instructions of the main loop that were written in this line or are of functions "
       "inlined in it",
       0, kEverywhere, [](const R& r) { return r.count.with_inlined.main_loop; }},
      {"conditional", "cond", "number of the instructions in main_loop that an iteration may skip",
       0, kEverywhere, [](const R& r) { return r.count.own.conditional; }, ColumnFit{.leaves = 1}},
      {"total", "total", "number of instructions of the function that were written in this line", 0,
       kEverywhere, [](const R& r) { return r.count.own.total; }, ColumnFit{.leaves = 2}},
      {"total_with_inlined", "total+",
       "number of instructions of the function that were written in this line or are of functions "
       "inlined in it",
       0, kEverywhere, [](const R& r) { return r.count.with_inlined.total; },
       ColumnFit{.leaves = 3}},
      {"classes", "classes in the loop",
       "main_loop by instruction class, as text; null: main_loop is 0", 0, kEverywhere,
       [](const R& r) { return text_or_none(main_loop_classes(r)); }, kWraps},
      {"text", "source", "text of the source line; null: the file is not at hand", 0, kEverywhere,
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
      {"line", "line", "number of the PTX line, from 1", 0, kEverywhere, member<&R::line>},
      {"depth", "steps",
       "number of steps after which the instruction feeds the line asked for; 0: it belongs to "
       "that line",
       0, kEverywhere, [](const R& r) { return r.depth; }},
      {"text", "PTX", "PTX instruction", 0, kEverywhere, member<&R::text>, kWraps},
      {"source", "source",
       "source line where the instruction was written, then the lines where that was inlined; "
       "null: not known",
       0, kEverywhere, [](const R& r) { return text_or_none(chain_text(r.source)); }, kWraps},
  };
  return fields;
}

const std::vector<Field<MapSassRow>>& map_sass_fields() {
  using R = MapSassRow;
  static const std::vector<Field<R>> fields{
      {"address", "address",
       "address of the instruction in bytes from the beginning of the section, hexadecimal", 0,
       kEverywhere, [](const R& r) { return fmt::format("{:#06x}", r.address); }},
      {"text", "SASS", "machine instruction", 0, kEverywhere, member<&R::text>, kWraps},
      {"class", "class", "instruction class: the unit that the instruction keeps busy", 0,
       kEverywhere, [](const R& r) { return std::string(class_name(r.which)); },
       ColumnFit{.leaves = 2}},
      {"main_loop", "main loop",
       "loop: in every iteration of the main loop; conditional: an iteration may skip the "
       "instruction; null: not in the main loop",
       0, kEverywhere, [](const R& r) { return text_or_none(std::string(place_name(r.place))); }},
      {"ptx_line", "PTX line",
       "PTX line of the instruction that this one was made from; null: not known", 0, kEverywhere,
       [](const R& r) { return r.ptx_line == 0 ? std::nullopt : std::optional(r.ptx_line); },
       ColumnFit{.leaves = 1}},
      {"source", "source",
       "source line where the instruction was written, then the lines where that was inlined; "
       "null: not known",
       0, kEverywhere, [](const R& r) { return text_or_none(chain_text(r.source)); }, kWraps},
  };
  return fields;
}

}  // namespace fatune
