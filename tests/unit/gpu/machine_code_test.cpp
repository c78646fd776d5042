#include "gpu/cubin_elf.hpp"

#include <gtest/gtest.h>

#include "gpu/compiler.hpp"
#include "unit/gpu/requests.hpp"

namespace fatune {
namespace {

/// Compiles kernel<argument>. kernel<N> writes N / 2 to memory; `shared` is code that precedes it.
Artifact instance(const std::string& argument, const std::string& shared = "") {
  CompileRequest request =
      request_for("template <int N> __global__ void kernel(int* x) { " + shared + " *x = N / 2; }",
                  "kernel<" + argument + ">");
  request.entry_is_template = true;
  return std::get<Artifact>(compile(request));
}

TEST(MachineCodeHash, TheSameCodeUnderTwoNamesHasOne) {
  const Artifact even = instance("100");
  const Artifact odd = instance("101");
  EXPECT_NE(even.lowered_name, odd.lowered_name);
  EXPECT_NE(even.cubin, odd.cubin);
  EXPECT_NE(even.key, odd.key);
  EXPECT_EQ(machine_code_hash(even), machine_code_hash(odd));
}

TEST(MachineCodeHash, ANameOfAnotherLengthChangesNothing) {
  EXPECT_EQ(machine_code_hash(instance("100")), machine_code_hash(instance("0x64")));
  const Artifact longer = std::get<Artifact>(compile(
      request_for("extern \"C\" __global__ void a_long_name(int* x) { *x = 5; }", "a_long_name")));
  const Artifact shorter = std::get<Artifact>(
      compile(request_for("extern \"C\" __global__ void k(int* x) { *x = 5; }", "k")));
  EXPECT_EQ(machine_code_hash(longer), machine_code_hash(shorter));
}

TEST(MachineCodeHash, OtherCodeHasAnother) {
  EXPECT_NE(machine_code_hash(instance("100")), machine_code_hash(instance("102")));
}

TEST(MachineCodeHash, SharedMemoryIsPartOfIt) {
  const std::string text = "__shared__ int s[";
  const std::string use = "]; s[threadIdx.x] = x[1]; __syncthreads(); x[2] = s[x[0]];";
  EXPECT_EQ(machine_code_hash(instance("100", text + "64" + use)),
            machine_code_hash(instance("101", text + "64" + use)));
  EXPECT_NE(machine_code_hash(instance("100", text + "64" + use)),
            machine_code_hash(instance("100", text + "96" + use)));
}

TEST(MachineCodeHash, ConstantsArePartOfIt) {
  const auto with_table = [](const std::string& entry) {
    return std::get<Artifact>(
        compile(request_for("__constant__ int table[2] = {1, " + entry +
                                "}; extern \"C\" __global__ void k(int* x) { *x = table[x[1]]; }",
                            "k")));
  };
  EXPECT_NE(machine_code_hash(with_table("2")), machine_code_hash(with_table("3")));
}

TEST(MachineCodeHash, WhatIsNoCubinHasOneOfItsOwn) {
  Artifact a;
  a.key = "a";
  a.cubin = {'x'};
  Artifact b = a;
  EXPECT_EQ(machine_code_hash(a), machine_code_hash(b));
  b.key = "b";
  EXPECT_NE(machine_code_hash(a), machine_code_hash(b));
  b = a;
  b.cubin = {'y'};
  EXPECT_NE(machine_code_hash(a), machine_code_hash(b));
}

}  // namespace
}  // namespace fatune
