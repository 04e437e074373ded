#include "spillway/pipeline/row_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>
#include <random>
#include <thread>

#include "spillway/base/bytes.h"
#include "spillway/tensor/string_rows.h"
#include "spillway/testing/pipelines.h"

namespace spillway::testing {
namespace {

class RowStoreTest : public ::testing::Test {
 protected:
  void limit(std::size_t bytes) {
    budget_ = std::make_unique<Budget>(bytes);
    account_ = budget_->open_account("store");
    elsewhere_ = Budget::process().open_account("rows under test");
    store_ = std::make_unique<RowStore>(account_, *budget_, spilled_);
  }
  // `count` numbers from `first` on: 8 * count bytes.
  Tensor numbers(std::int64_t first, std::int64_t count) {
    Tensor out = make_tensor(elsewhere_, DType::kInt64, Shape{count}).value();
    auto* data = reinterpret_cast<std::int64_t*>(out.mutable_data());
    std::iota(data, data + count, first);
    return out;
  }
  Row row(std::int64_t id, std::int64_t count) {
    return Row{{numbers(id, count)}, Origin{scope_, id, 1}};
  }
  void expect_row(const Result<Row>& got, std::int64_t id, std::int64_t count) {
    ASSERT_TRUE(got.ok()) << got.error().message();
    EXPECT_TRUE(got.value().values[0].equals(numbers(id, count)));
    EXPECT_EQ(got.value().origin.ordinal, id);
    EXPECT_EQ(got.value().origin.scope, scope_);
  }

  const ScopePtr scope_ = std::make_shared<OriginScope>(OriginScope{"test", 0, "", {}});
  const LazySpill::Counter spilled_ = std::make_shared<std::atomic<std::int64_t>>(0);
  std::unique_ptr<Budget> budget_;
  AccountPtr account_;
  AccountPtr elsewhere_;
  std::unique_ptr<RowStore> store_;
};

TEST_F(RowStoreTest, SmallRowsComeBackAsTheyWere) {
  limit(64 * kMiB);
  const auto a = store_->put(row(7, 3));
  const auto b = store_->put(Row{{str("seven"), i64(7)}, Origin{scope_, 8, 5}});
  const auto c = store_->put(Row{{}, Origin{}});
  ASSERT_TRUE(a.ok() && b.ok() && c.ok());
  EXPECT_EQ(store_->rows(), 3);
  expect_row(store_->peek(a.value()), 7, 3);
  expect_row(store_->take(a.value()), 7, 3);
  const auto words = store_->take(b.value());
  ASSERT_TRUE(words.ok());
  EXPECT_EQ(words.value().values[0].string_at(0), "seven");
  EXPECT_EQ(words.value().origin.weight, 5);
  EXPECT_TRUE(store_->take(c.value()).value().values.empty());
  EXPECT_EQ(store_->rows(), 0);
}

TEST_F(RowStoreTest, AMillionScalarsCostLittleMoreThanTheirBytes) {
  limit(64 * kMiB);
  const Chunk chunk(i64_spec(), 1000, {Column(numbers(0, 1000))}, Origins::regular(scope_, 0));
  for (int i = 0; i < 1000; ++i) {
    for (std::int64_t r = 0; r < 1000; ++r) ASSERT_TRUE(store_->put(chunk, r).ok());
  }
  EXPECT_LT(budget_->used(), 26 * kMiB);  // 8 bytes and 16 of origin each
  EXPECT_EQ(*spilled_, 0);
}

TEST_F(RowStoreTest, RowsThatComeAndGoUseTheSamePlaces) {
  limit(64 * kMiB);
  std::vector<RowStore::Slot> held;
  held.reserve(10'000);
  for (std::int64_t i = 0; i < 10'000; ++i) held.push_back(store_->put(row(i, 16)).value());
  const std::size_t before = budget_->used();
  std::mt19937 random(1);
  for (int i = 0; i < 50'000; ++i) {
    auto& slot = held[random() % held.size()];
    store_->erase(slot);
    slot = store_->put(row(i, 16)).value();
  }
  EXPECT_LE(budget_->used(), before + 2 * RowPages::kPage);
  for (const auto slot : held) store_->erase(slot);
  EXPECT_LE(budget_->used(), 2 * RowPages::kPage);
}

TEST_F(RowStoreTest, WithoutRoomRowsGoToDiskAndComeBack) {
  for (const std::int64_t count : {1, 100, 5000, 100'000}) {  // 8 B, 800 B, 40 KB, 800 KB
    SCOPED_TRACE(count);
    limit(2 * kMiB);
    const std::int64_t rows = std::min<std::int64_t>(400'000, 3'000'000 / count);
    std::vector<RowStore::Slot> slots;
    for (std::int64_t i = 0; i < rows; ++i) {
      auto slot = store_->put(row(i, count));
      ASSERT_TRUE(slot.ok()) << slot.error().message();
      slots.push_back(slot.value());
    }
    EXPECT_LE(budget_->used(), 2 * kMiB);
    EXPECT_GT(store_->bytes_on_disk(), 1 * kMiB);
    std::vector<std::int64_t> order(static_cast<std::size_t>(std::min<std::int64_t>(rows, 300)));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::shuffle(order, std::mt19937(3));
    for (const std::int64_t i : order) {
      expect_row(store_->take(slots[static_cast<std::size_t>(i)]), i, count);
    }
    for (std::int64_t i = static_cast<std::int64_t>(order.size()); i < rows; ++i) {
      store_->erase(slots[static_cast<std::size_t>(i)]);
    }
    EXPECT_EQ(store_->bytes_on_disk(), 0U);
    store_.reset();
    EXPECT_EQ(budget_->used(), 0U);
  }
}

TEST_F(RowStoreTest, StringsOfManySizesSpillToo) {
  limit(1 * kMiB);
  std::vector<RowStore::Slot> slots;
  std::vector<std::string> words;
  std::mt19937 random(1);
  for (int i = 0; i < 1500; ++i) {
    words.emplace_back(i % 100 == 0 ? 200'000 : random() % 2000, static_cast<char>('a' + i % 26));
    slots.push_back(store_->put(Row{{str(words.back()), i64(i)}, {}}).value());
  }
  EXPECT_GT(*spilled_, static_cast<std::int64_t>(2 * kMiB));
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const auto got = store_->take(slots[i]);
    ASSERT_TRUE(got.ok());
    ASSERT_EQ(got.value().values[0].string_at(0), words[i]);
    ASSERT_EQ(*got.value().values[1].as<std::int64_t>(), static_cast<std::int64_t>(i));
  }
}

// Parts of records, shared where they are: what lies between them goes to disk and back too.
TEST_F(RowStoreTest, StringsThatLieApartSpillToo) {
  limit(1 * kMiB);
  std::vector<RowStore::Slot> slots;
  for (int i = 0; i < 40; ++i) {
    const std::string letter(1, static_cast<char>('a' + i % 26));
    const Tensor record = str("<" + std::string(60'000, letter[0]) + "><" + letter + ">");
    const std::string_view all = record.string_at(0);
    const std::array items = {all.substr(1, 60'000), all.substr(60'003, 1)};
    const Tensor parts =
        strings_within(elsewhere_, Shape{2}, record.buffer(), items, Buffer::Ask::kRequired)
            .value();
    slots.push_back(store_->put(Row{{parts}, {}}).value());
  }
  EXPECT_GT(*spilled_, static_cast<std::int64_t>(kMiB));
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const auto got = store_->take(slots[i]);
    ASSERT_TRUE(got.ok());
    const char letter = static_cast<char>('a' + i % 26);
    ASSERT_EQ(got.value().values[0].string_at(0), std::string(60'000, letter));
    ASSERT_EQ(got.value().values[0].string_at(1), std::string(1, letter));
  }
}

TEST_F(RowStoreTest, RowsInOrderAreReadAPageAtATime) {
  limit(1 * kMiB);
  std::vector<RowStore::Slot> slots;
  slots.reserve(20'000);
  for (std::int64_t i = 0; i < 20'000; ++i) slots.push_back(store_->put(row(i, 100)).value());
  const StructurePtr spec = i64_spec(Shape{100});
  for (std::size_t i = 0; i + 100 <= slots.size(); i += 100) {
    const auto got =
        store_->peek_rows(spec, std::span(slots).subspan(i, 100), Buffer::Ask::kRequired, account_);
    ASSERT_TRUE(got.ok()) << got.error().message();
    ASSERT_TRUE(got.value().columns()[0].is_block());
    ASSERT_TRUE(
        got.value().columns()[0].row(99).equals(numbers(static_cast<std::int64_t>(i) + 99, 100)));
    ASSERT_EQ(got.value().origins().at(50).ordinal, static_cast<std::int64_t>(i) + 50);
  }
}

TEST_F(RowStoreTest, ALargeRowKeepsItsTensorAndMovesItsCharge) {
  limit(64 * kMiB);
  const AccountPtr maker = budget_->open_account("maker");
  const Tensor big = make_tensor(maker, DType::kInt64, Shape{50'000}).value();
  const std::byte* data = big.data();
  const auto slot = store_->put(Row{{big}, {}});
  ASSERT_TRUE(slot.ok());
  EXPECT_EQ(maker->held(), 0U);
  EXPECT_GE(account_->held(), 400'000U);
  EXPECT_EQ(store_->take(slot.value()).value().values[0].data(), data);
}

TEST_F(RowStoreTest, AViewIntoALargerBlockDoesNotPinIt) {
  limit(64 * kMiB);
  const AccountPtr maker = budget_->open_account("maker");
  RowStore::Slot slot = 0;
  {
    const Tensor block = make_tensor(maker, DType::kInt64, Shape{10, 10'000}).value();
    slot = store_->put(Row{{block.row(3)}, {}}).value();
  }
  EXPECT_EQ(maker->held(), 0U);
  EXPECT_LT(account_->held(), 100'000U);
  store_->erase(slot);
}

TEST_F(RowStoreTest, DatasetsStayInMemory) {
  limit(1 * kMiB);
  const NodePtr dataset = range(3);
  const auto slot = store_->put(Row{{make_variant(std::make_shared<DatasetValue>(dataset))}, {}});
  ASSERT_TRUE(slot.ok());
  EXPECT_EQ(store_->spill(SIZE_MAX), 0U);
  const auto got = store_->take(slot.value());
  EXPECT_EQ(static_cast<const DatasetValue&>(*got.value().values[0].variant_at(0)).node(), dataset);
}

TEST_F(RowStoreTest, OthersInNeedGetItsMemory) {
  limit(4 * kMiB);
  std::vector<RowStore::Slot> slots;
  slots.reserve(3500);
  for (std::int64_t i = 0; i < 3500; ++i) slots.push_back(store_->put(row(i, 125)).value());
  ASSERT_EQ(*spilled_, 0);
  const AccountPtr other = budget_->open_account("other");
  const auto got = other->reserve(3 * kMiB);
  ASSERT_TRUE(got.ok()) << got.error().message();
  EXPECT_GT(*spilled_, 0);
  for (std::int64_t i = 0; i < 3500; ++i) {
    expect_row(store_->peek(slots[static_cast<std::size_t>(i)]), i, 125);
  }
}

TEST_F(RowStoreTest, MemoryIsAskedBackWhileRowsComeAndGo) {
  limit(4 * kMiB);
  std::atomic<bool> stop{false};
  std::thread needy([&] {
    const AccountPtr other = budget_->open_account("other");
    while (!stop) (void)other->reserve(2 * kMiB);
  });
  std::vector<std::pair<RowStore::Slot, std::int64_t>> held;
  std::mt19937 random(1);
  for (std::int64_t i = 0; i < 6000; ++i) {
    auto slot = store_->put(row(i, 100));
    ASSERT_TRUE(slot.ok()) << slot.error().message();
    held.emplace_back(slot.value(), i);
    if (held.size() > 5000) {
      auto& chosen = held[random() % held.size()];
      expect_row(store_->take(chosen.first), chosen.second, 100);
      chosen = held.back();
      held.pop_back();
    }
  }
  stop = true;
  needy.join();
}

#ifdef SW_TEST_POINTS
TEST_F(RowStoreTest, AFullDiskIsATypedErrorAndTheRowsStay) {
  limit(1 * kMiB);
  setenv("SPILLWAY_TEST_DISK_FULL", "1", 1);
  std::vector<RowStore::Slot> slots;
  Status refused;
  for (std::int64_t i = 0; i < 4000 && refused.ok(); ++i) {
    auto slot = store_->put(row(i, 125));
    if (slot.ok()) slots.push_back(slot.value());
    refused = std::move(slot).status();
  }
  unsetenv("SPILLWAY_TEST_DISK_FULL");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.kind(), ErrorKind::kResource);
  EXPECT_EQ(refused.info().type, "DiskFull");
  EXPECT_GT(slots.size(), 500U);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    expect_row(store_->peek(slots[i]), static_cast<std::int64_t>(i), 125);
  }
}
#endif

}  // namespace
}  // namespace spillway::testing
