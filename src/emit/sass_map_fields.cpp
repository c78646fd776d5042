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

/// A field for each instruction class.
template <std::size_t... kClasses>
Fields<MapLineRow> class_fields(std::index_sequence<kClasses...> /*all*/) {
  return {{opcode_classes()[kClasses].name, opcode_classes()[kClasses].name, kProgramsOnly,
           [](const MapLineRow& r) { return r.count.classes[kClasses].main_loop; }}...};
}

Fields<MapLineRow> line_fields() {
  using R = MapLineRow;
  return {
      {"file", "file", Look{.once = true}, [](const R& r) { return r.count.at.file; }},
      {"line", "line", [](const R& r) { return r.count.at.line; }},
      {"main_loop", "loop", [](const R& r) { return r.count.own.main_loop; }},
      {"main_loop_with_inlined", "loop+",
       [](const R& r) { return r.count.with_inlined.main_loop; }},
      {"conditional", "cond", Look{.leaves = 1},
       [](const R& r) { return r.count.own.conditional; }},
      {"total", "total", Look{.leaves = 2}, [](const R& r) { return r.count.own.total; }},
      {"total_with_inlined", "total+", Look{.leaves = 3},
       [](const R& r) { return r.count.with_inlined.total; }},
      {"classes", "classes in the loop", kWraps,
       [](const R& r) { return text_or_none(main_loop_classes(r)); }},
      {"text", "source", kWraps, or_none<&R::text>},
  };
}

}  // namespace

const Fields<MapLineRow>& map_line_fields() {
  static const Fields<MapLineRow> fields = joined_fields<MapLineRow>(
      {line_fields(), class_fields(std::make_index_sequence<kOpcodeClasses>())});
  return fields;
}

const Fields<MapPtxRow>& map_ptx_fields() {
  using R = MapPtxRow;
  static const Fields<R> fields{
      {"line", "line", &R::line},
      {"depth", "steps", &R::depth},
      {"text", "PTX", kWraps, &R::text},
      {"source", "source", kWraps, [](const R& r) { return text_or_none(chain_text(r.source)); }},
  };
  return fields;
}

const Fields<MapSassRow>& map_sass_fields() {
  using R = MapSassRow;
  static const Fields<R> fields{
      {"address", "address", [](const R& r) { return fmt::format("{:#06x}", r.address); }},
      {"text", "SASS", kWraps, &R::text},
      {"class", "class", Look{.leaves = 2}, [](const R& r) { return class_name(r.which); }},
      {"main_loop", "main loop",
       [](const R& r) { return text_or_none(std::string(place_name(r.place))); }},
      {"ptx_line", "PTX line", Look{.leaves = 1}, or_none<&R::ptx_line>},
      {"source", "source", kWraps, [](const R& r) { return text_or_none(chain_text(r.source)); }},
  };
  return fields;
}

}  // namespace fatune
