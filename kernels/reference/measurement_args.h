// Arguments and results of the measurement kernels. Included by the host too; plain C++ types only,
// no includes. Tensors are contiguous (batch, seq_len, heads, d_head), 16-bit, 16-byte aligned.
#ifndef FATUNE_KERNELS_REFERENCE_MEASUREMENT_ARGS_H
#define FATUNE_KERNELS_REFERENCE_MEASUREMENT_ARGS_H

struct FillInputsArgs {
  void* q;
  void* k;
  void* v;
  unsigned long long elements;  // of each tensor
  unsigned long long seed;
  int seq_len;
  int heads;
  int kind;  // src/attention/input_kind.hpp
};

// The rows to be compared: for each (batch, head) the same number of positions, ascending.
struct RowSelection {
  const int* rows;  // [batch * heads, rows_per_head]
  int rows_per_head;
};

// Reference outputs are [batch * heads, rows_per_head, d_head].
struct ReferenceArgs {
  const void* q;
  const void* k;
  const void* v;
  RowSelection selection;
  float* exact;   // fp32 throughout
  void* rounded;  // rounded to the element type where a 16-bit framework rounds
  int seq_len;
  int heads;
  float softmax_scale;
  int causal;
};

// Checksum of Q, K and V: sums, modulo 2^32, of their 32-bit words, each times an odd number that
// follows from its position, in two ways. A change of one word changes both.
struct InputSum {
  unsigned plain;
  unsigned mixed;
};

struct InputSumArgs {
  const void* q;
  const void* k;
  const void* v;
  unsigned long long elements;  // of each tensor
  InputSum* sum;                // is added to
};

// What comparing finds; all fields start at 0. Maxima are fp32 numbers >= 0 as bit patterns, whose
// order as integers is that of the numbers.
struct CheckCounts {
  unsigned max_abs_error_bits;            // |output - exact|, over finite outputs
  unsigned max_abs_difference_bits;       // |output - rounded|, over finite outputs
  unsigned max_abs_reference_error_bits;  // |rounded - exact|
  unsigned max_abs_reference_bits;        // |exact|
  unsigned bad_reference;                 // reference elements that are not finite
  unsigned long long mismatched;          // output elements beyond the tolerances, or not finite
  unsigned long long not_finite;          // in the whole output
  unsigned long long guard_bytes_changed;
  unsigned long long compared;  // output elements that were compared ...
  unsigned long long scanned;   // ... and looked at for NaN and infinity: proof that it was done
  InputSum inputs;
};

// An output element mismatches when |output - rounded| > atol + rtol * |rounded|.
struct CompareArgs {
  const void* output;
  RowSelection selection;
  const float* exact;
  const void* rounded;
  CheckCounts* counts;
  unsigned long long elements;  // of the selection
  int seq_len;
  int heads;
  float atol;
  float rtol;
};

// What is wrong with one row of the selection, in elements.
struct RowCounts {
  unsigned mismatched;    // beyond the tolerances
  unsigned beyond_limit;  // further than `limit` from either reference
};

struct CountRowsArgs {
  CompareArgs compare;  // `counts` is not used
  RowCounts* rows;      // [batch * heads, rows_per_head], overwritten
  float limit;
};

// Memory around the tensors: `bands` guard bands in turn with tensors, a band first and a band
// last.
struct GuardArgs {
  const unsigned* arena;
  unsigned long long guard_bytes;
  unsigned long long tensor_bytes;  // without its padding, which counts as guard
  unsigned long long stride_bytes;  // from band to band
  unsigned poison;                  // what each 32-bit word holds
};

struct GateArgs {
  const unsigned* flag;  // host memory; the gate opens when it reaches `ticket`
  unsigned* expired;     // host memory; set to `ticket` when the gate opened by itself
  unsigned long long timeout_ns;
  unsigned ticket;
};

#endif
