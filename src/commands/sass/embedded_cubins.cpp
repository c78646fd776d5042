#include "commands/sass/embedded_cubins.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>

#include <fmt/format.h>

#include "core/error.hpp"
#include "process/find_tool.hpp"
#include "process/run_program.hpp"

namespace fatune {
namespace {

namespace fs = std::filesystem;

constexpr Elf64_Half kCudaMachine = 190;                     // EM_CUDA
constexpr std::string_view kFatbinary = "\x50\xed\x55\xba";  // NVIDIA's fatbinary.h

std::string cuobjdump(const fs::path& file) {
  const auto tool = find_cuobjdump();
  if (!tool) {
    throw Error(
        ExitCode::bad_file, "cuobjdump, which takes cubins out of other files, is not installed",
        file.string(),
        "scripts/setup --tools, 'pip install nvidia-cuda-cuobjdump' and CUDA toolkits install "
        "it; or set its path in FATUNE_CUOBJDUMP");
  }
  return fs::absolute(*tool).string();
}

/// Returns "sm_90a" for "a.out.2.sm_90a.cubin", which is how cuobjdump names extracted cubins.
std::string arch_of(const fs::path& cubin) {
  const std::string arch = cubin.stem().extension().string();
  return arch.empty() ? arch : arch.substr(1);
}

std::map<std::string, std::vector<fs::path>> by_arch(const fs::path& folder) {
  std::map<std::string, std::vector<fs::path>> cubins;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".cubin") {
      cubins[arch_of(entry.path())].push_back(entry.path());
    }
  }
  for (auto& [arch, paths] : cubins) {
    std::ranges::sort(paths);
  }
  return cubins;
}

std::string names_of(const std::map<std::string, std::vector<fs::path>>& cubins) {
  std::string names;
  for (const auto& [arch, paths] : cubins) {
    names += (names.empty() ? "" : ", ") + arch;
  }
  return names;
}

}  // namespace

CodeFileKind code_file_kind(std::string_view bytes) {
  if (bytes.starts_with(kFatbinary)) {
    return CodeFileKind::container;
  }
  if (!bytes.starts_with(std::string_view(ELFMAG, SELFMAG))) {
    return CodeFileKind::text;
  }
  Elf64_Half machine = kCudaMachine;  // nvdisasm reports what is wrong with too short a file
  constexpr std::size_t kAt = offsetof(Elf64_Ehdr, e_machine);
  if (bytes.size() >= kAt + sizeof machine) {
    std::memcpy(&machine, bytes.data() + kAt, sizeof machine);
  }
  return machine == kCudaMachine ? CodeFileKind::cubin : CodeFileKind::container;
}

std::vector<fs::path> embedded_cubins(const fs::path& file, std::optional<Arch> arch,
                                      const fs::path& folder) {
  (void)run_program(cuobjdump(file), {"-xelf", "all", fs::absolute(file).string()}, {},
                    {folder, {}});
  const auto cubins = by_arch(folder);
  if (cubins.empty()) {
    throw Error(ExitCode::bad_file, "cuobjdump finds no cubin in this file", file.string(),
                "PTX alone is not machine code");
  }
  const auto found = arch ? cubins.find(arch_name(*arch)) : cubins.begin();
  if (found == cubins.end() || (!arch && cubins.size() > 1)) {
    throw Error(ExitCode::usage,
                arch ? fmt::format("the file has no machine code for {}", arch_name(*arch))
                     : fmt::format("{} architectures to choose from", cubins.size()),
                file.string(), fmt::format("choose with --arch: {}", names_of(cubins)));
  }
  return found->second;
}

}  // namespace fatune
