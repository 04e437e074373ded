#include <bit>
#include <cstring>
#include <limits>

#include "spillway/graph/number.h"
#include "spillway/testing/op_call.h"
#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(CastOp, ConvertsAsTheMachineDoes) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  check_op({.op = "cast",
            .inputs = {f32({4}, {1.9, -1.9, nan, 300})},
            .attrs = {{"dtype", DType::kInt32}},
            .expect = {i32({4}, {1, -1, -2147483648, 300})}});
  check_op({.op = "cast",
            .inputs = {i32({3}, {0, 300, -1})},
            .attrs = {{"dtype", DType::kUInt8}},
            .expect = {of(DType::kUInt8, {3}, {0, 44, 255})}});
  check_op({.op = "cast",
            .inputs = {f32({3}, {0, 0.5, nan})},
            .attrs = {{"dtype", DType::kBool}},
            .expect = {bools({3}, {0, 1, 1})}});
  check_op({.op = "cast",
            .inputs = {f32({2}, {1, 65520})},
            .attrs = {{"dtype", DType::kFloat16}},
            .expect = {of(DType::kFloat16, {2}, {1, inf})}});
}

// Around every half there is: its own value, what lies just beside it and in the middle to the
// next, and numbers that are none. Vectors and their rest have the bits of the plain conversion.
TEST(CastOp, HalvesHaveTheBitsOfThePlainConversion) {
  std::vector<std::uint32_t> bits;
  for (std::uint32_t half = 0; half < 0x10000; ++half) {
    graph::Half h;
    h.bits = static_cast<std::uint16_t>(half);
    const auto exact = std::bit_cast<std::uint32_t>(static_cast<float>(h));
    for (const std::uint32_t more : {0U, 1U, 0xfffU, 0x1000U, 0x1001U})
      bits.push_back(exact + more);
  }
  bits.push_back(0x7f800001);  // signalling
  bits.push_back(0xffffffff);
  const auto n = static_cast<std::int64_t>(bits.size());
  Tensor from = make_tensor(op_account(), DType::kFloat32, Shape({n})).value();
  std::memcpy(from.mutable_data(), bits.data(), from.bytes());
  const auto made = call_op("cast", {from}, {{"dtype", DType::kFloat16}});
  ASSERT_TRUE(made.ok());
  const auto* halves = made.value()[0].as<std::uint16_t>();
  for (std::int64_t i = 0; i < n; ++i) {
    const std::uint32_t given = bits[static_cast<std::size_t>(i)];
    ASSERT_EQ(halves[i], graph::Half(std::bit_cast<float>(given)).bits) << std::hex << given;
  }
}

}  // namespace
}  // namespace spillway::testing
