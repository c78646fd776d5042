#include <cstdint>
#include <string_view>

#include "core/text_parts.hpp"
#include "emulate/async/warpgroup_products.hpp"
#include "emulate/operations/operations.hpp"

// wgmma: PTX ISA 9.0, section 9.7.15.
namespace fatune::emulate {
namespace {

using enum ScalarType;

constexpr std::int64_t kMostPendingProducts = 7;

void fence(const Step& step) { fence_watched(step.warp); }

void commit(const Step& step) { ++step.warp.products_committed; }

/// N of "m64n128k16".
std::uint16_t columns_of(const Decoder& d) {
  for (std::size_t i = 1; i < d.part_count(); ++i) {
    const std::string_view part = d.part(i);
    if (!part.starts_with("m64n") || !part.ends_with("k16")) {
      continue;
    }
    const auto columns =
        whole_number<std::uint16_t>(part.substr(4, part.size() - 7)).value_or(std::uint16_t{0});
    if (columns >= 8 && columns <= 256 && columns % 8 == 0) {
      return columns;
    }
  }
  d.unsupported("only m64nNk16, N from 8 to 256 by 8");
}

bool negates(const Decoder& d, std::size_t index) {
  const std::int64_t scale = d.immediate(index);
  d.malformed_if(scale != 1 && scale != -1, "a scale must be 1 or -1");
  return scale == -1;
}

ProductShape product_shape_of(const Decoder& d) {
  const std::vector<ScalarType>& types = d.types();
  d.unsupported_if(types.size() != 3 || types[1] != types[2] ||
                       (types[1] != f16 && types[1] != bf16) ||
                       (types[0] != f32 && (types[0] != f16 || types[1] != f16)) || d.has("sp"),
                   "only 16-bit types, dense");
  ProductShape shape;
  shape.columns = columns_of(d);
  shape.is_bfloat = types[1] == bf16;
  shape.half_sums = types[0] == f16;
  shape.a_in_registers = d.operand(1).starts_with('{');
  shape.negates = negates(d, 4) != negates(d, 5);
  // There is no operand for the major dimension of A in registers.
  const std::size_t last = shape.a_in_registers ? 6 : 7;
  shape.a_is_mn_major = !shape.a_in_registers && d.immediate(6) != 0;
  shape.b_is_mn_major = d.immediate(last) != 0;
  return shape;
}

void decode_product(Decoder& d) {
  const ProductShape shape = product_shape_of(d);
  d.handle(&issue_product).to_all(0, b32, shape.sums(), "wrong number of registers of D");
  if (shape.a_in_registers) {
    d.from_all(1, b32, 4, "wrong number of registers of A");
  } else {
    d.from(1, b64);
  }
  d.from(2, b64).asks(3);
  d.result.set_details(shape);
  d.result.is_product = true;
}

void decode_wgmma(Decoder& d) {
  d.unsupported_if(!d.has("sync") || !d.has("aligned"));
  d.gather_all();
  if (d.has("mma_async")) {
    decode_product(d);
  } else if (d.has("fence")) {
    d.handle(&fence);
  } else if (d.has("commit_group")) {
    d.handle(&commit);
  } else if (d.has("wait_group")) {
    d.handle(&await_products, d.count(0, kMostPendingProducts, "it can wait for 0 to 7 groups"));
    d.await(&products_are_issued, Awaited::products);
  } else {
    d.unsupported();
  }
}

}  // namespace

std::span<const NamedOperation> warpgroup_operations() {
  static constexpr NamedOperation kOperations[] = {{"wgmma", decode_wgmma}};
  return kOperations;
}

}  // namespace fatune::emulate
