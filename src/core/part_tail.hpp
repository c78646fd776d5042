#pragma once

namespace fatune {

/// By how much longer than its share of the work, over its time, a kernel may take on the part of a
/// problem, because the last wave of its blocks is less full there than on the whole problem. 0.01
/// is 1 %; below 0: that wave is fuller there.
struct PartTail {
  double least = 0.0;
  double most = 0.0;
};

}  // namespace fatune
