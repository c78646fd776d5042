#pragma once

namespace fatune {

/// How much longer than its share of the work a kernel may take on a part of a problem, relative to
/// its time, because the last wave of its blocks is less full there than on the whole problem. 0.01
/// is 1 %; below 0: that wave is fuller on the part.
struct PartTail {
  double least = 0.0;
  double most = 0.0;
};

}  // namespace fatune
