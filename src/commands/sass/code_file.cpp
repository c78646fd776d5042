#include "commands/sass/code_file.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "app/scratch_folder.hpp"
#include "commands/sass/disassemble.hpp"
#include "commands/sass/embedded_cubins.hpp"
#include "core/error.hpp"
#include "core/is_among.hpp"
#include "data/file_tree.hpp"
#include "sass/parse_listing.hpp"

namespace fatune {
namespace {

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
