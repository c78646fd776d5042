#include "conformance/rows.hpp"

// PTX ISA 9.0, section 9.7.4: 16-bit floating point.
namespace fatune::conformance {

std::vector<Group> half_rows() {
  return {
      {"half",
       {
           {"<add|sub|mul><|.ftz>.<f16|f16x2>", "$3", "$3 $3"},
           {"<add|sub|mul>.rn<|.ftz>.sat.<f16|f16x2>", "$3", "$3 $3"},
           {"<add|sub|mul>.<bf16|bf16x2>", "$2", "$2 $2"},
           {"<add|sub|mul>.rn.<f16|f16x2|bf16|bf16x2>", "$2", "$2 $2"},
           {"fma.rn<|.ftz><|.sat|.relu>.<f16|f16x2>", "$3", "$3 $3 $3"},
           {"fma.rn<|.relu>.<bf16|bf16x2>", "$2", "$2 $2 $2"},
           {"<neg|abs><|.ftz>.<f16|f16x2>", "$3", "$3"},
           {"<neg|abs>.<bf16|bf16x2>", "$2", "$2"},
           {"<min|max><|.ftz><|.NaN><|.xorsign.abs>.<f16|f16x2>", "$5", "$5 $5"},
           {"<min|max><|.NaN><|.xorsign.abs>.<bf16|bf16x2>", "$4", "$4 $4"},
       }},
      {"half_approximate",
       {
           {"<ex2|tanh>.approx.<f16|f16x2>", "$2", "$2"},
           {"<ex2.approx.ftz|tanh.approx>.<bf16|bf16x2>", "$2", "$2"},
       }},
  };
}

}  // namespace fatune::conformance
