#include "emulator/program.hpp"

#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/ranges.hpp"
#include "emulator/async/warpgroup_products.hpp"
#include "emulator/decode/decoder.hpp"
#include "emulator/decode/names.hpp"
#include "emulator/operations/operations.hpp"

namespace fatune::emulate {
namespace {

const PtxFunction& find_kernel(const PtxModule& module, const std::string& kernel,
                               const std::string& origin) {
  const PtxFunction* const found = find_in(module.functions, kernel, &PtxFunction::name);
  if (found == nullptr) {
    throw Error(ExitCode::usage, fmt::format("there is no kernel '{}'", kernel), origin);
  }
  return *found;
}

/// Decodes an instruction by the kind of its last type.
void decode_by_type(Decoder& d) {
  static const Operations integer = integer_operations();
  static const Operations single_or_double = float_operations();
  static const Operations half = half_operations();
  const ScalarType type = d.type();
  const Operations& operations = is_half(type) ? half
                                 : type == ScalarType::f32 || type == ScalarType::f64
                                     ? single_or_double
                                     : integer;
  const auto found = operations.find(d.name());
  d.unsupported_if(found == operations.end() || type == ScalarType::tf32, "this type");
  found->second(d);
}

Operations all_operations() {
  Operations all;
  for (auto* const list : {integer_operations, float_operations, half_operations}) {
    for (const auto& [name, decode] : list()) {
      all[name] = decode_by_type;
    }
  }
  for (auto* const list :
       {atomic_operations, bit_operations, call_operations, collective_operations,
        comparison_operations, conversion_operations, copy_operations, matrix_operations,
        mbarrier_operations, memory_operations, move_operations, sync_operations}) {
    all.merge(list());
  }
  return all;
}

const Operations& operations_by_name() {
  static const Operations operations = all_operations();
  return operations;
}

class ProgramBuilder {
 public:
  ProgramBuilder(const PtxModule& module, const PtxFunction& function, const std::string& origin)
      : inlined_(inline_calls(module, function)),
        function_(inlined_.function),
        origin_(origin),
        declarations_(read_declarations(module, function_)),
        names_(function_, declarations_) {}

  Program build() {
    for (std::size_t i = 0; i < function_.statements.size(); ++i) {
      add(function_.statements[i]);
      program_.statements.push_back(inlined_.statements[i]);
      program_.lines.push_back(function_.statements[i].line);
    }
    add_end();
    connect();
    watch();
    describe();
    return std::move(program_);
  }

 private:
  void add(const PtxStatement& statement) {
    names_.enter(statement);
    Decoder decoder(statement.opcode, statement.operands, names_,
                    fmt::format("{}, line {}", origin_, statement.line));
    const auto operation = operations_by_name().find(decoder.name());
    decoder.unsupported_if(operation == operations_by_name().end());
    operation->second(decoder);
    add_guard(statement, decoder);
    decoder.result.leader = !statement.labels.empty();
    program_.instructions.push_back(decoder.result);
    first_operands_.push_back(program_.operand_pool.size());
    append(program_.operand_pool, decoder.result_operands);
  }

  static void add_guard(const PtxStatement& statement, Decoder& decoder) {
    if (statement.guard.empty()) {
      return;
    }
    decoder.result.guard_negated = statement.guard.starts_with('!');
    decoder.result.guard = static_cast<std::int32_t>(
        decoder
            .predicate_named(
                std::string_view(statement.guard).substr(decoder.result.guard_negated ? 1 : 0))
            .offset);
  }

  /// Adds an exit, since a kernel whose last statement is not an exit ends there too.
  void add_end() {
    Instruction end;
    end.flow = Flow::exit;
    end.handler = &do_nothing;
    program_.instructions.push_back(end);
    program_.statements.push_back(inlined_.statements.empty() ? 0 : inlined_.statements.back());
    program_.lines.push_back(program_.lines.empty() ? 0 : program_.lines.back());
    first_operands_.push_back(program_.operand_pool.size());
  }

  void connect() {
    for (std::size_t i = 0; i < program_.instructions.size(); ++i) {
      Instruction& instruction = program_.instructions[i];
      instruction.operands = program_.operand_pool.data() + first_operands_[i];
      if (instruction.flow == Flow::branch) {
        program_.instructions[static_cast<std::size_t>(instruction.target)].leader = true;
      }
    }
  }

  /// Numbers the registers of products, and finds the other instructions that use them.
  void watch() {
    std::map<std::uint32_t, std::uint16_t> numbers;  // keyed by offset
    for (const Instruction& instruction : program_.instructions) {
      if (instruction.is_product) {
        number_registers(instruction, numbers);
      }
    }
    if (numbers.empty()) {
      return;
    }
    program_.watched_names.resize(numbers.size());
    for (std::size_t i = 0; i < function_.statements.size(); ++i) {
      watch_statement(function_.statements[i], program_.instructions[i], numbers);
    }
  }

  using Numbers = std::map<std::uint32_t, std::uint16_t>;

  static void number_registers(const Instruction& product, Numbers& numbers) {
    const auto shape = product.details_as<ProductShape>();
    const std::uint32_t count = shape.sums() + (shape.a_in_registers ? 4 : 0);
    for (std::uint32_t i = 0; i < count; ++i) {
      if (!product.operands[i].constant) {
        numbers.try_emplace(product.operands[i].offset, static_cast<std::uint16_t>(numbers.size()));
      }
    }
  }

  void watch_statement(const PtxStatement& statement, Instruction& instruction,
                       const Numbers& numbers) {
    WatchedUses uses;
    const auto add = [&](const std::vector<std::size_t>& registers,
                         std::vector<std::uint16_t>& to) {
      for (const std::size_t index : registers) {
        const Names::Register& found = names_.register_at(index);
        const auto number = numbers.find(found.operand.offset);
        if (found.type != ScalarType::pred && number != numbers.end()) {
          to.push_back(number->second);
          program_.watched_names[number->second] = function_.registers[index];
        }
      }
    };
    add(statement.reads, uses.reads);
    add(statement.writes, uses.writes);
    if (!uses.reads.empty() || !uses.writes.empty()) {
      uses.by_product = instruction.is_product;
      uses.copies = statement.opcode.starts_with("mov.") && statement.operands.size() == 2 &&
                    statement.operands[0].front() != '{' && statement.operands[1].front() != '{';
      instruction.watched = static_cast<std::int32_t>(program_.watched_uses.size());
      program_.watched_uses.push_back(std::move(uses));
    }
  }

  void describe() {
    program_.kernel = function_.name;
    program_.constants = names_.constants();
    program_.register_bytes = names_.register_bytes();
    program_.predicates = names_.predicates();
    program_.special_registers = names_.special_registers();
    static_cast<KernelNeeds&>(program_) = declarations_;
  }

  InlinedFunction inlined_;
  const PtxFunction& function_;  ///< includes the functions that it calls
  const std::string& origin_;
  Declarations declarations_;
  Names names_;
  Program program_;
  std::vector<std::size_t> first_operands_;
};

}  // namespace

Program decode_program(const PtxModule& module, const std::string& kernel,
                       const std::string& origin) {
  return ProgramBuilder(module, find_kernel(module, kernel, origin), origin).build();
}

std::vector<std::string_view> covered_opcodes() {
  return mapped(operations_by_name(), &Operations::value_type::first);
}

}  // namespace fatune::emulate
