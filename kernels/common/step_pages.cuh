// Which boxes of a pool of pages have the keys of a step.
#ifndef FATUNE_KERNELS_COMMON_STEP_PAGES_CUH
#define FATUNE_KERNELS_COMMON_STEP_PAGES_CUH

// How many keys a copy takes from one page: the greatest power of two that divides a step, or all
// keys of a page. page_size is a power of two.
constexpr int keys_of_box(int page_size, int step_keys) {
  return page_size < (step_keys & -step_keys) ? page_size : step_keys & -step_keys;
}

// The boxes of one step: a lane has those with the numbers lane, lane + 32 and so on of the step.
// If one box has all keys of a step, the first lane has it.
// threads: one warp, in all functions
template <int kPageSize, int kStepKeys>
class StepPages {
 public:
  enum Extent : int {
    kBoxKeys = keys_of_box(kPageSize, kStepKeys),
    kBoxes = kStepKeys / kBoxKeys,
    kOfLane = (kBoxes + 31) / 32,
    kOutside = -1  // no page of the tensor: its box becomes 0
  };

  // Asks for a step's entries of the table. Those behind the sequence's last page are not read.
  // shape: table: the sequence's; keys: of the sequence
  __device__ __forceinline__ void ask(const int* table, int keys, int step) {
    const int first_key = step * kStepKeys;
    row_ = first_key % kPageSize;
#pragma unroll
    for (int i = 0; i < kOfLane; ++i) {
      const int key = first_key + number(i) * kBoxKeys;
      const bool is_read = number(i) < kBoxes && key < keys;
      pages_[i] = is_read ? __ldg(table + key / kPageSize) : kOutside;
    }
  }

  // Calls `copy` with each box of this lane: its number in the step, its first row in a page, and
  // the page.
  template <typename Copy>
  __device__ __forceinline__ void for_each_box(const Copy& copy) const {
#pragma unroll
    for (int i = 0; i < kOfLane; ++i) {
      if (number(i) < kBoxes) {
        copy(number(i), kBoxes == 1 ? row_ : (row_ + number(i) * kBoxKeys) % kPageSize, pages_[i]);
      }
    }
  }

  // The page of a box, in all lanes.
  __device__ __forceinline__ int page_of(int box) const {
    return __shfl_sync(0xffffffffu, pages_[box / 32], box % 32);
  }

 private:
  __device__ __forceinline__ static int number(int i) {
    return static_cast<int>(threadIdx.x) % 32 + 32 * i;
  }

  int pages_[kOfLane];
  int row_;  // of the first box
};

#endif
