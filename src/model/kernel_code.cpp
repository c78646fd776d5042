#include "model/kernel_code.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/text_parts.hpp"

namespace fatune {
namespace {

void put(std::int64_t offset, const void* value, std::int64_t bytes,
         std::vector<std::uint8_t>& into) {
  std::memcpy(into.data() + offset, value, static_cast<std::size_t>(bytes));
}

std::uint64_t address_of(const std::string& tensor, std::int64_t byte_offset,
                         const ArgumentEncoder& encoder) {
  return encoder.address_of(tensor) + static_cast<std::uint64_t>(byte_offset);
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    lines.emplace_back(take_until(text, '\n'));
  }
  return lines;
}

}  // namespace

std::int64_t KernelBuffer::elements() const {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::vector<std::uint8_t> pack_argument(const KernelArgument& argument,
                                        const ArgumentEncoder& encoder) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(argument.bytes));
  for (const ScalarPiece& scalar : argument.scalars) {
    put(scalar.offset, &scalar.bits, scalar.bytes, bytes);
  }
  for (const AddressPiece& piece : argument.addresses) {
    const std::uint64_t address = address_of(piece.tensor, piece.byte_offset, encoder);
    put(piece.offset, &address, sizeof address, bytes);
  }
  for (const TensorMapPiece& piece : argument.tensor_maps) {
    const TensorMapBytes map =
        encoder.encode(piece, address_of(piece.tensor, piece.byte_offset, encoder));
    put(piece.offset, map.data(), kTensorMapArgumentBytes, bytes);
  }
  return bytes;
}

std::vector<std::int64_t> argument_offsets(std::span<const KernelArgument> list) {
  std::vector<std::int64_t> offsets;
  std::int64_t end = 0;
  for (const KernelArgument& argument : list) {
    const std::int64_t begin = (end + argument.alignment - 1) / argument.alignment;
    offsets.push_back(begin * argument.alignment);
    end = offsets.back() + argument.bytes;
  }
  offsets.push_back(end);
  return offsets;
}

std::vector<std::uint8_t> pack_arguments(const KernelArguments& arguments,
                                         const ArgumentEncoder& encoder) {
  const std::vector<std::int64_t> offsets = argument_offsets(arguments.list);
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(offsets.back()));
  for (std::size_t i = 0; i < arguments.list.size(); ++i) {
    const std::vector<std::uint8_t> one = pack_argument(arguments.list[i], encoder);
    std::ranges::copy(one, bytes.begin() + offsets[i]);
  }
  return bytes;
}

std::string notes_text(const std::vector<AssemblerNote>& notes) {
  return joined(notes, "; ",
                [](const AssemblerNote& note) { return note.code + ": " + note.text; });
}

std::int64_t thread_count(const LaunchGeometry& geometry) {
  return geometry.block[0] * geometry.block[1] * geometry.block[2];
}

bool same_launch(const LaunchGeometry& a, const LaunchGeometry& b) {
  LaunchGeometry as_b = a;
  if (a.arguments.standard && b.arguments.standard) {
    as_b.arguments = b.arguments;
  }
  return as_b == b;
}

SourceLines lines_of_files(const SourceBundle& sources) {
  SourceLines files;
  files[sources.main.name] = lines_of(sources.main.text);
  for (const SourceFile& header : sources.headers) {
    files[header.name] = lines_of(header.text);
  }
  return files;
}

}  // namespace fatune
