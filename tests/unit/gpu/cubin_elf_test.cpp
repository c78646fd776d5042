#include "gpu/cubin_elf.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "gpu/compiler.hpp"
#include "unit/gpu/requests.hpp"

namespace fatune {
namespace {

const std::vector<char>& small_cubin() {
  static const std::vector<char> cubin = std::get<Artifact>(compile(small_request())).cubin;
  return cubin;
}

TEST(CubinElf, FindsTheKernelsSections) {
  const auto sections = read_elf_sections(small_cubin());
  EXPECT_EQ(code_names(sections), std::vector<std::string>{"k"});
  EXPECT_GT(section_bytes(sections, ".text.k"), 0);
  EXPECT_EQ(section_bytes(sections, ".text.other"), 0);
}

TEST(CubinElf, RefusesWhatIsNoElfFile) {
  EXPECT_THROW(static_cast<void>(read_elf_sections({})), Error);
  EXPECT_THROW(static_cast<void>(read_elf_sections(std::vector<char>(1000, 'x'))), Error);
}

/// A file cut off at any length gives an error, or the sections if only bytes after their table are
/// missing. The sanitizers check that no byte outside is read.
TEST(CubinElf, SurvivesTruncationAnywhere) {
  const std::vector<char>& whole = small_cubin();
  std::size_t refused = 0;
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const std::vector<char> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
    try {
      EXPECT_EQ(code_names(read_elf_sections(cut)), std::vector<std::string>{"k"});
    } catch (const Error&) {
      EXPECT_EQ(refused, length) << "refused, though a shorter one was not";
      ++refused;
    }
  }
  EXPECT_GT(refused, whole.size() / 2);
}

TEST(CubinElf, SurvivesDamageInTheHeader) {
  for (std::size_t at = 0; at < 64; ++at) {
    std::vector<char> damaged = small_cubin();
    damaged[at] = static_cast<char>(~damaged[at]);
    try {
      static_cast<void>(read_elf_sections(damaged));
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("not a valid ELF file"));
    }
  }
}

}  // namespace
}  // namespace fatune
