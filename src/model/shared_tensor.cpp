#include "model/shared_tensor.hpp"

#include <fmt/format.h>

namespace fatune {
namespace {

constexpr std::int64_t kChunkBytes = 16;

/// Returns the swizzled place of a byte of a row from its place without swizzle. The function is
/// its own inverse.
std::int64_t swizzled(const SharedTensor& tensor, std::int64_t row, std::int64_t byte) {
  if (tensor.swizzle_bytes == 0) {
    return byte;
  }
  const std::int64_t chunks = tensor.swizzle_bytes / kChunkBytes;
  const std::int64_t turn = row / tensor.swizzle_rows % chunks;
  return byte ^ (turn * kChunkBytes);
}

std::int64_t panel_bytes(const SharedTensor& tensor) { return tensor.rows * tensor.row_bytes; }

std::string coordinates(const SharedTensor& tensor, const TensorPlace& place) {
  const std::string stage = tensor.stages > 1 ? fmt::format(" stage {}", place.stage) : "";
  return fmt::format("{} [row {}, col {}]", stage, place.row, place.column);
}

}  // namespace

std::int64_t offset_of(const SharedTensor& tensor, const TensorPlace& place) {
  const std::int64_t panel = place.column / tensor.panel_columns;
  const std::int64_t byte = place.column % tensor.panel_columns * tensor.element_bytes;
  return tensor.offset_bytes + place.stage * tensor.stage_bytes + panel * panel_bytes(tensor) +
         place.row * tensor.row_bytes + swizzled(tensor, place.row, byte);
}

std::optional<TensorPlace> place_at(const SharedTensor& tensor, std::int64_t offset) {
  const std::int64_t from_start = offset - tensor.offset_bytes;
  if (from_start < 0 || tensor.rows == 0 || tensor.stages == 0) {
    return std::nullopt;
  }
  TensorPlace place;
  place.stage = from_start / tensor.stage_bytes;
  const std::int64_t in_stage = from_start % tensor.stage_bytes;
  const std::int64_t panel = in_stage / panel_bytes(tensor);
  const std::int64_t in_panel = in_stage % panel_bytes(tensor);
  place.row = in_panel / tensor.row_bytes;
  const std::int64_t byte = swizzled(tensor, place.row, in_panel % tensor.row_bytes);
  const std::int64_t in_row = byte / tensor.element_bytes;
  if (place.stage >= tensor.stages || panel >= tensor.columns / tensor.panel_columns ||
      in_row >= tensor.panel_columns) {
    return std::nullopt;
  }
  place.column = panel * tensor.panel_columns + in_row;
  return place;
}

std::string name_byte(std::span<const SharedTensor> tensors, std::int64_t offset) {
  std::string names;
  std::string at;
  for (const SharedTensor& tensor : tensors) {
    const auto place = place_at(tensor, offset);
    if (!place) {
      continue;
    }
    const std::string here = coordinates(tensor, *place);
    // Coordinates are written once, after all the names that have them.
    names += names.empty() ? tensor.name : (at == here ? "" : at) + " or " + tensor.name;
    at = here;
  }
  return names + at;
}

}  // namespace fatune
