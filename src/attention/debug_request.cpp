#include "attention/debug_request.hpp"

namespace fatune {

AttentionDump dump_layout(float* start, const DumpExtents& extents) {
  float* const p = start + extents.rows * extents.keys;
  float* const m = p + extents.rows * extents.keys;
  float* const l = m + extents.kv_tiles * extents.rows;
  float* const o = l + extents.kv_tiles * extents.rows;
  return {start, p, m, l, o, static_cast<int>(extents.rows), static_cast<int>(extents.keys)};
}

}  // namespace fatune
