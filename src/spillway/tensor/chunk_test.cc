#include "spillway/tensor/chunk.h"

#include <gtest/gtest.h>

#include "spillway/base/bytes.h"
#include "spillway/memory/activity.h"

namespace spillway {
namespace {

// `rows` rows of 4 KiB; row i holds i in every item.
Chunk numbered_rows(const AccountPtr& account, std::int64_t rows) {
  Tensor block = make_tensor(account, DType::kInt64, Shape{rows, 512}).value();
  auto* out = reinterpret_cast<std::int64_t*>(block.mutable_data());
  for (std::int64_t i = 0; i < rows * 512; ++i) out[i] = i / 512;
  std::vector<Column> columns;
  columns.emplace_back(std::move(block));
  return {Structure::tensor(DType::kInt64, {512}), rows, std::move(columns),
          Origins::regular(nullptr, 0)};
}

TEST(SelectRows, CopiesWhereThereIsRoomAndSharesWhereThereIsNone) {
  constexpr std::int64_t kRows = 32;
  const std::vector<std::int64_t> wanted = {0, 3, 4, 5, 30, 31};
  for (const std::size_t limit : {4 * kMiB, 160 * kKiB}) {
    Budget budget(limit);
    const Consuming consuming(budget);
    const auto account = budget.open_account("rows");
    const Chunk rows = numbered_rows(account, kRows);
    std::optional<Reservation> rest;
    if (limit < kMiB) {
      rest = account->try_reserve(budget.free_pool());
      ASSERT_TRUE(rest.has_value());
    }
    const std::size_t held = account->held();
    const Chunk picked = select_rows(account, rows, wanted);
    EXPECT_EQ(account->held() == held, rest.has_value());
    ASSERT_EQ(picked.rows(), static_cast<std::int64_t>(wanted.size()));
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const auto row = static_cast<std::int64_t>(i);
      EXPECT_EQ(*picked.row(row).values[0].as<std::int64_t>(), wanted[i]);
      EXPECT_EQ(picked.origins().at(row).ordinal, wanted[i]);
    }
  }
}

}  // namespace
}  // namespace spillway
