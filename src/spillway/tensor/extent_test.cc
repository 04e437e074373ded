#include "spillway/tensor/extent.h"

#include <gtest/gtest.h>

#include "spillway/testing/op_call.h"

namespace spillway::testing {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

Code refused(DType dtype, const Shape& shape) { return check_extent(dtype, shape).code(); }

TEST(Extent, MoreItemsThanCanBeCountedAreRefused) {
  const std::int64_t half = std::int64_t{1} << 31U;
  EXPECT_EQ(refused(DType::kFloat32, Shape({half, half, 8})), Code::kInvalidArgument);
  EXPECT_EQ(refused(DType::kFloat32, Shape({kMost, 2})), Code::kInvalidArgument);
  EXPECT_EQ(refused(DType::kFloat32, Shape({1024, 1024})), Code::kOk);
}

TEST(Extent, ADimensionOfZeroHidesNoOverflow) {
  const std::int64_t wide = std::int64_t{1} << 32U;
  EXPECT_EQ(refused(DType::kInt8, Shape({wide, wide, 0})), Code::kInvalidArgument);
  EXPECT_EQ(refused(DType::kInt8, Shape({0, wide, wide})), Code::kInvalidArgument);
  EXPECT_EQ(refused(DType::kInt8, Shape({0, wide})), Code::kOk);
}

TEST(Extent, MoreBytesThanAnyMachineHasAreRefused) {
  EXPECT_EQ(refused(DType::kFloat32, Shape({std::int64_t{1} << 60U})), Code::kResourceExhausted);
  EXPECT_EQ(refused(DType::kString, Shape({std::int64_t{1} << 60U})), Code::kResourceExhausted);
}

TEST(Extent, UnknownDimensionsCountAsOne) {
  EXPECT_EQ(refused(DType::kFloat32, Shape({kUnknownDim, 10})), Code::kOk);
  EXPECT_EQ(refused(DType::kFloat32, Shape::unknown_rank()), Code::kOk);
  EXPECT_EQ(refused(DType::kFloat32, Shape({kUnknownDim, kMost, 2})), Code::kInvalidArgument);
}

TEST(Extent, NoTensorIsMadeOfANegativeDimension) {
  EXPECT_FALSE(make_tensor(op_account(), DType::kInt8, Shape({-2})).ok());
  EXPECT_FALSE(make_tensor(op_account(), DType::kInt8, Shape({kUnknownDim})).ok());
  EXPECT_FALSE(make_tensor(op_account(), DType::kInt8, Shape({kMost, kMost})).ok());
}

TEST(Extent, SumsAndProductsStayAtTheirEnd) {
  EXPECT_EQ(saturated_sum(kMost, 1), kMost);
  EXPECT_EQ(saturated_product(kMost, 2), kMost);
  EXPECT_EQ(saturated_product(kMost, 0), 0);
}

}  // namespace
}  // namespace spillway::testing
