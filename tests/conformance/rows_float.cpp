#include "conformance/rows.hpp"

// PTX ISA 9.0, section 9.7.3: floating point.
namespace fatune::conformance {

std::vector<Group> float_rows() {
  return {
      {"float",
       {
           {"<add|sub|mul><|.rn><|.ftz>.f32", "f32", "f32 f32"},
           {"<add|sub|mul>.rn.f64", "f64", "f64 f64"},
           {"fma.rn<|.ftz>.f32", "f32", "f32 f32 f32"},
           {"fma.rn.f64", "f64", "f64 f64 f64"},
           {"div.rn<|.ftz>.f32", "f32", "f32 f32"},
           {"div.rn.f64", "f64", "f64 f64"},
           {"<rcp|sqrt>.rn<|.ftz>.f32", "f32", "f32"},
           {"<rcp|sqrt>.rn.f64", "f64", "f64"},
           {"<abs|neg><|.ftz>.f32", "f32", "f32"},
           {"<abs|neg>.f64", "f64", "f64"},
           {"<min|max><|.ftz>.f32", "f32", "f32 f32"},
           {"<min|max>.f64", "f64", "f64 f64"},
       }},
      {"float_rounding",
       {
           {"<add|sub|mul>.<rz|rm|rp><|.ftz>.f32", "f32", "f32 f32"},
           {"<add|sub|mul>.rn<|.ftz>.sat.f32", "f32", "f32 f32"},
           {"<add|sub|mul>.<rz|rp>.sat.f32", "f32", "f32 f32"},
           {"<add|sub|mul>.<rz|rm|rp>.f64", "f64", "f64 f64"},
           {"fma.<rz|rm|rp><|.ftz>.f32", "f32", "f32 f32 f32"},
           {"fma.rn<|.ftz>.sat.f32", "f32", "f32 f32 f32"},
           {"fma.<rz|rm|rp>.f64", "f64", "f64 f64 f64"},
           {"mad.<rn|rz><|.ftz>.f32", "f32", "f32 f32 f32"},
           {"mad.rn.f64", "f64", "f64 f64 f64"},
           {"div.<rz|rm|rp><|.ftz>.f32", "f32", "f32 f32"},
           {"div.<rz|rm|rp>.f64", "f64", "f64 f64"},
           {"<rcp|sqrt>.<rz|rm|rp><|.ftz>.f32", "f32", "f32"},
           {"<rcp|sqrt>.<rz|rm|rp>.f64", "f64", "f64"},
           {"<min|max><|.ftz>.NaN.f32", "f32", "f32 f32"},
           {"<min|max><|.NaN>.xorsign.abs.f32", "f32", "f32 f32"},
           {"copysign.<f32|f64>", "$1", "$1 $1"},
           {"testp.<finite|infinite|number|notanumber|normal|subnormal>.<f32|f64>", "pred", "$2"},
       }},
      {"float_approximate",
       {
           {"<ex2|lg2|rcp|sqrt|rsqrt>.approx<|.ftz>.f32", "f32", "f32"},
           {"<sin|cos>.approx<|.ftz>.f32", "f32", "turn"},
           {"tanh.approx.f32", "f32", "f32"},
           {"mov.b32 %x0, %s0;\nex2.approx.ftz.f32 %d0, %x0", "f32", "near_f32"},
           {"div.<approx|full><|.ftz>.f32", "f32", "f32 f32"},
       }},
      {"double_approximate",
       {
           {"<rcp|rsqrt>.approx.ftz.f64", "f64", "f64"},
           {"rsqrt.approx.f64", "f64", "f64"},
       }},
  };
}

}  // namespace fatune::conformance
