// Arguments and results of the measurement kernels. Included by the host too; plain C++ types only,
// no includes. Tensors are contiguous and 16-byte aligned; elements have 16 bits, those of K and V
// 8 bits if FATUNE_KV_DTYPE says so, and those of Q too if FATUNE_EIGHT_BIT_QUERIES does.
#ifndef FATUNE_KERNELS_REFERENCE_MEASUREMENT_ARGS_H
#define FATUNE_KERNELS_REFERENCE_MEASUREMENT_ARGS_H

// A tensor of (batch, rows, heads, columns), wherever its elements lie. Strides in elements;
// columns are neighbours.
struct TensorView {
  void* data;
  long long batch_stride;
  long long row_stride;
  long long head_stride;
  int batch;
  int rows;
  int heads;
  int columns;
};

// Where the keys of K and V are, if these are pools of pages: views of K and V have the extents of
// all sequences, and batch_stride is that of pages.
struct KeyPages {
  const int* table;  // [batch, pages_of_sequence]: pages of the pool; null: K and V are contiguous
  int page_size;     // keys
  int pages_of_sequence;
};

// Where the sequences of a packed batch begin: sequence i has the rows of Q from queries[i] to
// queries[i + 1] - 1, and those of K and V from keys[i] to keys[i + 1] - 1. The tensors then have
// one batch. Null: the batch is not packed.
struct PackedRows {
  const int* queries;  // [sequences + 1]
  const int* keys;     // [sequences + 1]
  int sequences;
};

// The scales of K, V and Q, fp32, where these have 8 bits: an element's value is what is stored
// times the scale of its row of its head. Views of one column, those of K and V with the extents
// and pages of K; strides are 0 where scales are shared. Those of blocks are (sequences, blocks,
// heads).
struct InputScales {
  TensorView k;  // data: null unless elements have 8 bits
  TensorView v;
  TensorView q;
  int block;  // positions of a sequence that share a scale; 0: scales are not of blocks
};

// Heads of Q share those of K and V in groups of the same size. Rows of K and V that no query may
// see are not filled: those behind a sequence's keys, of packed
// sequences without queries, and of pages of no sequence.
struct FillInputsArgs {
  TensorView q;
  TensorView k;
  TensorView v;
  unsigned long long seed;
  int kind;         // src/model/input_kind.hpp
  int fits_scales;  // 1: instead, raise scales of 8 bits to those that the inputs need
  const int* keys;  // of each sequence; null where all have the rows of K, or are packed
  PackedRows packed = {nullptr, nullptr, 0};
  KeyPages pages = {nullptr, 0, 0};
  InputScales scales = {};
};

// The rows to be compared: for each (batch, head) the same number of rows, ascending.
struct RowSelection {
  const int* rows;  // [batch * heads, rows_per_head]
  int rows_per_head;
  int has_outliers = 0;  // 1: errors of O are in units of its columns (outlier_inputs.h)
};

// Reference outputs are [batch * heads, rows_per_head, columns of V]. Query `row` of a sequence
// stands at position row + keys of the sequence - queries of the sequence.
struct ReferenceArgs {
  TensorView q;
  TensorView k;
  TensorView v;
  RowSelection selection;
  float* exact;   // fp32 throughout
  void* rounded;  // elements of O, rounded where a framework of the elements' bits rounds
  float softmax_scale;
  int causal;          // a query sees no keys after its position
  int window;          // a query sees keys less than this far from its position; 0: all
  const int* keys;     // of each sequence; null where all have the rows of K, or are packed
  float softcap;       // scaled scores s become softcap * tanh(s / softcap); 0: they do not
  const float* sinks;  // (heads): scaled scores; null: there are none
  PackedRows packed = {nullptr, nullptr, 0};
  KeyPages pages = {nullptr, 0, 0};
  InputScales scales = {};
};

// The references of inputs that are made again, before they are rounded to 8 bits.
struct UnroundedAttentionArgs {
  ReferenceArgs reference;
  FillInputsArgs inputs;
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
  unsigned long long bytes[3];  // of each tensor, multiples of 16
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
  unsigned long long not_finite;          // NaN and infinite elements of the whole output
  unsigned long long guard_bytes_changed;
  unsigned long long compared;  // output elements that were compared ...
  unsigned long long scanned;   // ... and looked at for NaN and infinity: proof that it was done
  InputSum inputs;
};

// An output element mismatches when |output - rounded| > atol + rtol * |rounded|.
struct CompareArgs {
  TensorView output;
  RowSelection selection;
  const float* exact;
  const void* rounded;  // elements of O
  CheckCounts* counts;
  unsigned long long elements;  // elements in the selection
  float atol;
  float rtol;
};

// What comparing with attention of unrounded inputs finds, over finite outputs; all fields start
// at 0.
struct UnroundedCounts {
  double squared_error;         // sum of (output - exact)^2, in units of columns
  double squared;               // sum of exact^2
  unsigned max_abs_error_bits;  // as in CheckCounts
  unsigned long long compared;
};

struct CompareUnroundedArgs {
  CompareArgs compare;  // `exact` is of unrounded inputs; `rounded` and `counts` are not used
  UnroundedCounts* counts;
};

// Softmax of one row: the greatest score, and ln(sum of exp(score - greatest)). A sink is one of
// the scores. Both are minus infinity in a row that has none.
struct RowSoftmax {
  float maximum;
  float log_of_sum;
};

// The rows of `reference.selection`. Its outputs are not written.
struct RowStatisticsArgs {
  ReferenceArgs reference;
  RowSoftmax* rows;  // [batch * heads, rows_per_head]
};

struct NormArgs {
  TensorView q;
  InputScales scales;
  PackedRows packed;
  const void* k;
  unsigned long long rows[2];  // rows of Q, rows of K
  unsigned* norm_bits;         // [2] greatest squared norms as fp32 bits; start at 0
};

// What comparing an output of one number for each row finds; all fields start at 0.
struct RowValueCounts {
  unsigned max_abs_error_bits;    // as in CheckCounts
  unsigned bad_reference;         // references that are NaN or plus infinity
  unsigned long long mismatched;  // beyond the limit, or not finite where the reference is
  unsigned long long not_finite;  // NaN and plus infinity in the whole output
  unsigned long long none;        // minus infinity in the whole output
  unsigned long long compared;
  unsigned long long scanned;
};

// Values are compared as logarithms: sums by their own.
struct RowValueArgs {
  const float* values;  // [batch * heads, rows]
  unsigned long long elements;
  int rows;  // rows per head
  int what;  // src/model/cpu_reference.hpp
  RowSelection selection;
  unsigned long long selected;  // rows
  const RowSoftmax* reference;
  float limit;
  RowValueCounts* counts;
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

// Bytes [begin, end) of an arena, multiples of 4.
struct GuardBand {
  unsigned long long begin;
  unsigned long long end;
};

// Memory around the tensors: guard bands in turn with tensors, a band first and a band last. A
// tensor's padding counts as guard.
struct GuardArgs {
  const unsigned* arena;
  GuardBand bands[5];
  unsigned poison;  // what each 32-bit word holds
};

// The clocks of an SM at one moment.
struct ClockMark {
  unsigned long long cycles;  // the SM's own clock
  unsigned long long ns;      // the clock that all SMs share
  unsigned sm;
  unsigned taken_up;  // how many blocks have found that they run on that SM
};

// What has passed since a mark.
struct ClockSpan {
  unsigned long long cycles;
  unsigned long long ns;  // 0: not known
};

struct ClockSpanArgs {
  ClockMark* mark;
  ClockSpan* span;  // host memory
};

struct GateArgs {
  const unsigned* flag;  // host memory; the gate opens when it reaches `ticket`
  unsigned* expired;     // host memory; set to `ticket` when the gate opened by itself
  unsigned long long timeout_ns;
  unsigned ticket;
  ClockMark* mark;  // written when the gate opens
};

#endif
