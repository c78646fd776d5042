#include "commands/sass/sass_code.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "app/scratch_folder.hpp"
#include "core/ranges.hpp"
#include "process/find_tool.hpp"
#include "process/run_program.hpp"
#include "sass/listing.hpp"

namespace fatune {
namespace {

enum class CodeFileKind {
  cubin,
  container,  ///< an ELF file for the host, or a fatbinary: may embed cubins
  text,       ///< anything else
};

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

/// Determines the kind by the first bytes of the file.
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

/// Extracts the cubins that a file embeds into `folder` with cuobjdump. Returns those for `arch`,
/// or for the only architecture. Throws Error(bad_file) if cuobjdump is not installed or finds
/// none, and Error(usage) if there is none for `arch` or there are several architectures to choose
/// from.
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

namespace fs = std::filesystem;

constexpr std::size_t kMostFileBytes = std::size_t{256} << 20;

/// Returns the kernels: the functions that have a section of their name.
std::vector<std::string> kernel_names(const Listing& listing) {
  std::vector<std::string> names;
  for (const SassFunction& function : listing.functions) {
    if (function.section == ".text." + function.name) {
      names.push_back(function.name);
    }
  }
  return names;
}

std::size_t choose_function(const Listing& listing, const std::string& asked,
                            const std::string& source) {
  if (!asked.empty()) {
    return index_of(listing, asked, source);
  }
  const std::vector<std::string> names = kernel_names(listing);
  if (names.size() != 1) {
    throw Error(ExitCode::usage, fmt::format("there are {} kernels to choose from", names.size()),
                source, fmt::format("choose with --function: {}", fmt::join(names, ", ")));
  }
  return index_of(listing, names.front(), source);
}

bool has_function(const Listing& listing, const std::string& name) {
  return name.empty() || is_among(name, listing.functions, &SassFunction::name);
}

/// Returns the only listing, among those that have the requested function if one is requested.
Listing choose_listing(std::vector<Listing> listings, const std::string& function,
                       const std::string& source) {
  std::erase_if(listings, [&](const Listing& listing) { return !has_function(listing, function); });
  if (listings.size() != 1) {
    throw Error(ExitCode::usage,
                fmt::format("{} cubins of the file match the request", listings.size()), source,
                "choose one with --function; cuobjdump -lelf and -symbols list them");
  }
  return std::move(listings.front());
}

Listing embedded_listing(const fs::path& file, const CodeOptions& options) {
  const std::string tool = nvdisasm();
  const ScratchFolder scratch;
  std::vector<Listing> listings;
  for (const fs::path& cubin : embedded_cubins(file, options.arch, scratch.path())) {
    listings.push_back(disassemble(tool, cubin, file.string()));
  }
  return choose_listing(std::move(listings), options.function, file.string());
}

Listing file_listing(const fs::path& file, const CodeOptions& options) {
  const std::string bytes = read_disk_file(file, kMostFileBytes);
  switch (code_file_kind(bytes)) {
    case CodeFileKind::cubin:
      return disassemble(nvdisasm(), fs::absolute(file), file.string());
    case CodeFileKind::container:
      return embedded_listing(file, options);
    case CodeFileKind::text:
      break;
  }
  return parse_listing(bytes, file.string());
}

}  // namespace

SassCode load_code_file(const fs::path& file, const CodeOptions& options) {
  SassCode code;
  code.source = file.string();
  code.listing = file_listing(file, options);
  code.function = choose_function(code.listing, options.function, code.source);
  return code;
}

}  // namespace fatune
