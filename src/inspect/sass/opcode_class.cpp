#include "inspect/sass/opcode_class.hpp"

#include <charconv>
#include <unordered_map>

#include "base/text_parts.hpp"

namespace fatune {
namespace {

using enum OpcodeClass;

struct OpcodeRow {
  OpcodeClass which;
  std::string_view opcodes;  ///< separated by blanks
};

// Opcodes, or opcodes with their first modifier, which take precedence.
// Source: NVIDIA, CUDA Binary Utilities, "Instruction Set Reference", Ampere to Blackwell.
constexpr std::array kTable{
    OpcodeRow{tensor,
              "HMMA IMMA BMMA DMMA QMMA OMMA HGMMA IGMMA BGMMA QGMMA UTCHMMA UTCIMMA UTCQMMA "
              "UTCOMMA UTCMXQMMA"},
    OpcodeRow{mufu, "MUFU"},
    OpcodeRow{fp32,
              "FADD FADD32I FADD2 FCHK FFMA FFMA32I FFMA2 FMNMX FMNMX3 FMUL FMUL32I FMUL2 FSEL "
              "FSET FSETP FSWZADD"},
    OpcodeRow{fp16,
              "HADD2 HADD2_32I HFMA2 HFMA2_32I HMNMX2 HMUL2 HMUL2_32I HSET2 HSETP2 HMNMX FHADD "
              "FHFMA"},
    OpcodeRow{fp64, "DADD DFMA DMNMX DMUL DSETP"},
    OpcodeRow{integer,
              "IABS IADD IADD2 IADD3 IADD32I IDP IDP4A IMAD IMAD32I IMNMX IMUL IMUL32I ISCADD "
              "ISCADD32I ISETP LEA LOP LOP3 LOP32I POPC SHF SHL SHR BMSK BREV FLO SGXT VABSDIFF "
              "VABSDIFF4 VHMNMX VIADD VIADDMNMX VIMNMX VIMNMX3 IADD64 XMAD VIMNMX16 I2IP"},
    OpcodeRow{conversion, "F2F F2I I2F I2I FRND F2FP I2FP F2IP"},
    OpcodeRow{shared, "LDS LDSM STS STSM ATOMS LDSLK STSCUL STAS REDAS MOVM"},
    OpcodeRow{global,
              "LD LDG LDGSTS LDGMC ST STG ATOM ATOMG RED REDG QSPC CCTL CCTLT UTMALDG "
              "UTMASTG UTMAPF UTMAREDG UTMACCTL UBLKCP UBLKPF UBLKRED UTMACMDFLUSH TEX TLD TLD4 "
              "TMML TXD TXQ SULD SUST SUATOM SURED SUQUERY UTCCP"},
    OpcodeRow{local, "LDL STL CCTLL"},
    OpcodeRow{constant, "LDC"},
    OpcodeRow{lanes, "SHFL VOTE VOTEU MATCH REDUX CREDUX ELECT"},
    OpcodeRow{barrier,
              "BAR DEPBAR LDGDEPBAR MEMBAR ERRBAR CGAERRBAR WARPSYNC SYNCS WARPGROUP WARPGROUPSET "
              "FENCE ARRIVES UCGABAR_ARV UCGABAR_WAIT CGABAR B2R R2B NANOSLEEP UTCBAR "
              "ENDCOLLECTIVE ACQBULK ACQSHMINIT PREEXIT"},
    OpcodeRow{control,
              "BMOV BPT BRA BREAK BRX BRXU BSSY BSYNC CALL EXIT JMP JMX JMXU KILL RET RPCMOV "
              "RTT WARPSYNC.COLLECTIVE YIELD NOP LEPC"},
    OpcodeRow{move,
              "MOV MOV32I MOV64IUR IMAD.MOV PRMT SEL P2R R2P PLOP3 PSETP S2R CS2R "
              "MOVS GETLMEMBASE SETLMEMBASE LDTM STTM LDT STT"},
    OpcodeRow{uniform,
              "R2UR S2UR CS2UR UBMSK UBREV UCLEA UF2FP UFLO UFADD UFFMA UFMUL UFMNMX UFSEL "
              "UFSET UFSETP UFRND UI2F UF2I UI2FP UI2I UI2IP UIABS UIADD3 UIMAD UIMNMX "
              "UISETP ULDC LDCU ULEA ULEPC ULOP ULOP3 ULOP32I UMOV UP2UR UPLOP3 UPOPC UPRMT UPSETP "
              "UR2UP USEL USETMAXREG USGXT USHF USHL USHR UVIADD UVIMNMX UVIRTCOUNT UVOTE UVOTEU "
              "UREDUX UMEMSETS UGETNEXTWORKID UIADD2 UTCATOMSWS"},
    OpcodeRow{other,
              "AL2P ALD AST IPA ISBERD ISBEWR OUT PIXLD PMTRIG CSMTEST SETCTAID SETMAXREG "
              "STP FOOTPRINT GETCRSPTR SETCRSPTR LONGJMP SETLONGJMP"},
};

const std::unordered_map<std::string_view, OpcodeClass>& table() {
  static const std::unordered_map<std::string_view, OpcodeClass> the_table = [] {
    std::unordered_map<std::string_view, OpcodeClass> map;
    for (const OpcodeRow& row : kTable) {
      for (std::string_view rest = row.opcodes; !rest.empty();) {
        map.emplace(take_until(rest, ' '), row.which);
      }
    }
    return map;
  }();
  return the_table;
}

std::optional<OpcodeClass> look_up(std::string_view name) {
  const auto found = table().find(name);
  return found != table().end() ? std::optional(found->second) : std::nullopt;
}

/// "HMMA.16816" for "HMMA.16816.F32".
std::string_view with_first_modifier(std::string_view mnemonic) {
  const std::size_t first = mnemonic.find('.');
  return first == std::string_view::npos ? mnemonic
                                         : mnemonic.substr(0, mnemonic.find('.', first + 1));
}

/// True for zero times zero plus a constant, by which the half-precision unit loads a constant.
bool is_constant_by_fma(const Instruction& instruction) {
  const auto& operands = instruction.operands;
  return instruction.opcode() == "HFMA2" && operands.size() > 3 && operands[1] == "-RZ" &&
         operands[2] == "RZ";
}

/// Takes a number, and the 'x' after it, off the front of `text`; returns 0 if there is none.
std::int64_t take_extent(std::string_view& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (text.starts_with('x')) {
    text.remove_prefix(1);
  }
  return error == std::errc() && value > 0 && value <= 4096 ? value : 0;
}

/// The FLOP of one warp for "64x128x16", which four warps execute together.
std::optional<std::int64_t> warpgroup_flop(std::string_view shape) {
  constexpr std::int64_t kWarps = 4;
  const std::int64_t m = take_extent(shape);
  const std::int64_t n = take_extent(shape);
  const std::int64_t k = take_extent(shape);
  const std::int64_t flop = 2 * m * n * k / kWarps;
  return flop > 0 && shape.empty() ? std::optional(flop) : std::nullopt;
}

/// The FLOP of "16816": 16 or 8 rows, 8 columns, and the depth.
std::optional<std::int64_t> warp_flop(std::string_view shape) {
  const std::int64_t rows = shape.starts_with("168") ? 16 : shape.starts_with("88") ? 8 : 0;
  constexpr std::int64_t kColumns = 8;
  if (rows == 0) {
    return std::nullopt;
  }
  shape.remove_prefix(rows == 16 ? 3 : 2);
  const std::int64_t flop = 2 * rows * kColumns * take_extent(shape);
  return flop > 0 && shape.empty() ? std::optional(flop) : std::nullopt;
}

}  // namespace

const std::array<OpcodeClassText, kOpcodeClasses>& opcode_classes() {
  static constexpr std::array<OpcodeClassText, kOpcodeClasses> kTexts{{
      {tensor, "tensor", "matrix multiplications: HMMA, IMMA, HGMMA, ..."},
      {mufu, "mufu", "exponentials, reciprocals, roots: MUFU"},
      {fp32, "fp32", "single precision: FADD, FMUL, FFMA, FMNMX, ..."},
      {fp16, "fp16", "half precision outside the tensor cores: HFMA2, ..."},
      {fp64, "fp64", "double precision: DFMA, ..."},
      {integer, "integer", "integers and addresses: IMAD, IADD3, LOP3, LEA, SHF, ..."},
      {conversion, "conversion", "between number formats: F2FP, I2F, ..."},
      {shared, "shared", "shared memory: LDS, STS, LDSM, STSM, ..."},
      {global, "global", "global memory: LDG, STG, LDGSTS, atomics, TMA, ..."},
      {local, "local", "local memory, mostly spilled registers: LDL, STL"},
      {constant, "constant", "constant memory, by vector instructions: LDC"},
      {lanes, "lanes", "between the lanes of a warp: SHFL, VOTE, REDUX, ..."},
      {barrier, "barrier", "waiting and ordering: BAR, DEPBAR, LDGDEPBAR, SYNCS, MEMBAR, ..."},
      {control, "control", "branches, calls, convergence: BRA, BSSY, EXIT, NOP, ..."},
      {move, "move", "moves, selections, predicates: MOV, IMAD.MOV, SEL, PRMT, S2R, ..."},
      {uniform, "uniform", "the uniform datapath, one value per warp: UIADD3, ULDC, R2UR, ..."},
      {other, "other", "graphics and rare system instructions"},
      {unknown, "unknown", "not in fatune's table; named one by one"},
  }};
  return kTexts;
}

std::string_view class_name(OpcodeClass which) {
  return opcode_classes().at(static_cast<std::size_t>(which)).name;
}

OpcodeClass class_of(const Instruction& instruction) {
  if (is_constant_by_fma(instruction)) {
    return move;
  }
  if (const auto special = look_up(with_first_modifier(instruction.mnemonic))) {
    return *special;
  }
  return look_up(instruction.opcode()).value_or(unknown);
}

std::optional<std::int64_t> tensor_flop(std::string_view mnemonic) {
  const std::size_t dot = mnemonic.find('.');
  if (dot == std::string_view::npos || look_up(mnemonic.substr(0, dot)) != tensor) {
    return std::nullopt;
  }
  std::string_view shape = mnemonic.substr(dot + 1);
  shape = shape.substr(0, shape.find('.'));
  return shape.find('x') != std::string_view::npos ? warpgroup_flop(shape) : warp_flop(shape);
}

}  // namespace fatune
