// Which unit of query rows of a packed batch belongs to which sequence, found on the device.
#ifndef FATUNE_KERNELS_COMMON_PACKED_UNITS_CUH
#define FATUNE_KERNELS_COMMON_PACKED_UNITS_CUH

// How many rows a sequence has, and the first of them in the tensors.
struct PackedSequence {
  int number;
  int first_query;
  int first_key;
  int seq_len;
  int seq_len_kv;
};

// A cursor over the units of kRows rows of all sequences. Of 32 neighbouring sequences those with
// the most keys come first, so that no long one begins last; short ones have no order of their own,
// which would cost them more than it gains. More than kMostKeys keys, which no row sees all of,
// count as so many. Each lane knows one of the 32 sequences.
// threads: one warp, converged, in every function
template <int kRows, int kMostKeys, typename Args>
class PackedUnits {
 public:
  // args: cu_seqlens_q, cu_seqlens_kv, batch
  __device__ __forceinline__ explicit PackedUnits(const Args& args) : args_(args) {
    load_sequences();
  }

  // Finds a unit, whose number must be no less than the one before. Returns whether there is such a
  // unit. after: how many of the sequence's units follow it
  __device__ __forceinline__ bool find(int unit, PackedSequence& sequence, int& after) {
#pragma unroll 1
    while (unit >= before_ + all_) {
      before_ += all_;
      first_ += 32;
      if (first_ >= args_.batch) {
        return false;
      }
      load_sequences();
    }
    const int within = unit - before_;
    const int end = begin_ + units_of(own_.seq_len);
    const bool is_own = within >= begin_ && within < end;
    const int owner = __ffs(static_cast<int>(__ballot_sync(0xffffffffu, is_own))) - 1;
    after = __shfl_sync(0xffffffffu, end, owner) - 1 - within;
    sequence = {first_ + owner, __shfl_sync(0xffffffffu, own_.first_query, owner),
                __shfl_sync(0xffffffffu, own_.first_key, owner),
                __shfl_sync(0xffffffffu, own_.seq_len, owner),
                __shfl_sync(0xffffffffu, own_.seq_len_kv, owner)};
    return true;
  }

  // Returns how many units there are, after find() has returned false.
  __device__ __forceinline__ int count() const { return before_; }

  static __device__ __forceinline__ int units_of(int queries) {
    return (queries + kRows - 1) / kRows;
  }

 private:
  static __device__ __forceinline__ int lane() { return static_cast<int>(threadIdx.x % 32); }

  __device__ __forceinline__ void load_sequences() {
    const int number = first_ + lane();
    own_ = {number, 0, 0, 0, 0};
    if (number < args_.batch) {
      own_.first_query = __ldg(args_.cu_seqlens_q + number);
      own_.first_key = __ldg(args_.cu_seqlens_kv + number);
      own_.seq_len = __ldg(args_.cu_seqlens_q + number + 1) - own_.first_query;
      own_.seq_len_kv = __ldg(args_.cu_seqlens_kv + number + 1) - own_.first_key;
    }
    const int units = units_of(own_.seq_len);
    all_ = static_cast<int>(__reduce_add_sync(0xffffffffu, static_cast<unsigned>(units)));
    begin_ = units_before(units, max(min(own_.seq_len_kv, kMostKeys), kFewKeys) / kAlike);
  }

  // Returns the units of those of the 32 sequences that come before the lane's.
  // shape: units: of the lane's sequence; length: by which they are ordered
  __device__ __forceinline__ int units_before(int units, int length) const {
    const int there = min(args_.batch - first_, 32);
    int before = 0;
    if (__all_sync(0xffffffffu, length == __shfl_sync(0xffffffffu, length, 0) || lane() >= there)) {
      before = units;
#pragma unroll
      for (int distance = 1; distance < 32; distance *= 2) {
        const int earlier = __shfl_up_sync(0xffffffffu, before, distance);
        before += lane() >= distance ? earlier : 0;
      }
      return before - units;
    }
#pragma unroll 4
    for (int other = 0; other < there; ++other) {
      const int its_length = __shfl_sync(0xffffffffu, length, other);
      const int its_units = __shfl_sync(0xffffffffu, units, other);
      const bool is_before = its_length > length || (its_length == length && other < lane());
      before += is_before ? its_units : 0;
    }
    return before;
  }

  enum Extent : int {
    kAlike = 128,   // numbers of keys that differ by less need no order
    kFewKeys = 512  // nor do those of short sequences
  };

  const Args& args_;
  int first_ = 0;       // sequence of lane 0
  int before_ = 0;      // units of the sequences before
  int all_;             // units of the 32 sequences
  int begin_;           // units of those of them that come before the lane's
  PackedSequence own_;  // the lane's
};

#endif
