#include "conformance/kernel_text.hpp"

#include <fmt/format.h>

namespace fatune::conformance {
namespace {

constexpr std::size_t kOwnBytes = 32;

std::string_view name_of(Storage storage) {
  switch (storage) {
    case Storage::pred:
      return "pred";
    case Storage::b16:
      return "b16";
    case Storage::b32:
      return "b32";
    case Storage::b64:
      break;
  }
  return "b64";
}

std::string declarations(const std::vector<Kind>& kinds, char letter) {
  std::string text;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    text += fmt::format(".reg .{} %{}{};\n", name_of(kinds[i].storage), letter, i);
  }
  return text;
}

std::size_t own_offset(const Case& one) {
  return (one.results.size() * kSlotBytes + kOwnBytes - 1) / kOwnBytes * kOwnBytes;
}

std::string addresses(const Case& one) {
  std::string text = fmt::format(
      ".reg .b32 %x<4>, %i, %block, %shared;\n.reg .b64 %y<4>, %operands, %results, %global;\n"
      ".reg .pred %p<2>;\n"
      "ld.param.u64 %operands, [in];\nld.param.u64 %results, [out];\n"
      "mov.u32 %i, %tid.x;\nmov.u32 %block, %ctaid.x;\nmad.lo.u32 %x0, %block, {}, %i;\n"
      "mad.wide.u32 %operands, %x0, {}, %operands;\nmad.wide.u32 %results, %x0, {}, %results;\n"
      "add.u64 %global, %results, {};\n",
      kThreadsPerBlock, one.operands.size() * kSlotBytes, output_stride(one), own_offset(one));
  if (one.text.find("%shared") != std::string::npos) {
    text += fmt::format(
        ".shared .align 32 .b8 own[{}];\nmov.u32 %shared, own;\n"
        "mad.lo.u32 %shared, %i, {}, %shared;\n",
        kThreadsPerBlock * kOwnBytes, kOwnBytes);
  }
  return text;
}

std::string load(const Kind& kind, std::size_t index) {
  const std::size_t offset = index * kSlotBytes;
  return kind.storage == Storage::pred
             ? fmt::format("ld.global.b32 %x0, [%operands+{}];\nsetp.ne.u32 %s{}, %x0, 0;\n",
                           offset, index)
             : fmt::format("ld.global.{} %s{}, [%operands+{}];\n", name_of(kind.storage), index,
                           offset);
}

std::string store(const Kind& kind, std::size_t index) {
  const std::size_t offset = index * kSlotBytes;
  return kind.storage == Storage::pred
             ? fmt::format("selp.b32 %x0, 1, 0, %d{};\nst.global.b32 [%results+{}], %x0;\n", index,
                           offset)
             : fmt::format("st.global.{} [%results+{}], %d{};\n", name_of(kind.storage), offset,
                           index);
}

std::string kernel_text(const Case& one, std::size_t index) {
  std::string text =
      fmt::format(".visible .entry {}(.param .u64 in, .param .u64 out)\n{{\n", kernel_name(index));
  text += declarations(one.results, 'd') + declarations(one.operands, 's') + addresses(one);
  for (std::size_t i = 0; i < one.operands.size(); ++i) {
    text += load(one.operands[i], i);
  }
  text += one.text + ";\n";
  for (std::size_t i = 0; i < one.results.size(); ++i) {
    text += store(one.results[i], i);
  }
  return text + "ret;\n}\n";
}

}  // namespace

std::string kernel_name(std::size_t index) { return fmt::format("case_{}", index); }

std::size_t output_stride(const Case& one) { return own_offset(one) + kOwnBytes; }

std::string kernels_text(const std::vector<Case>& cases) {
  std::string text = ".version 8.7\n.target sm_90\n.address_size 64\n";
  for (std::size_t i = 0; i < cases.size(); ++i) {
    text += kernel_text(cases[i], i);
  }
  return text;
}

}  // namespace fatune::conformance
