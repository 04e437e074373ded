#include <gtest/gtest.h>

#include "spillway/pipeline/held_rows.h"
#include "spillway/testing/operator_conformance.h"

namespace spillway::testing {
namespace {

Chunk rows_of(const NodePtr& node, std::int64_t rows) {
  const Opened opened = open(node);
  return std::move(*opened.it->next(Demand{rows}).value());
}

// Runs over one block of the rows 0..9, of which `component` is read.
NodePtr held(const Opened& maker, const Chunk& rows, std::vector<RowRun> runs,
             std::int64_t component) {
  RowKeeper keeper(maker.it->stage().run().stage_of(maker.it->stage().node()));
  const HeldBlockPtr block = keeper.keep(rows);
  for (RowRun& run : runs) run.block = block;
  const auto all = std::make_shared<HeldRows>(rows.structure(), std::move(runs));
  const Tensor value = dataset_of(all, component, maker.it->stage().node()).value();
  return dynamic_cast<const DatasetValue&>(*value.variant_at(0)).node();
}

TEST(WindowRows, GivesTheRowsOfItsRuns) {
  const Opened maker = open(range(10));
  const Chunk rows = rows_of(range(10), 10);
  check_operator(
      {.build = [&] { return held(maker, rows, {{nullptr, 0, 2, 1}, {nullptr, 4, 10, 2}}, 0); },
       .expect = {"0", "1", "4", "6", "8"}});
}

TEST(WindowRows, GivesOneComponentOrTheWholeElement) {
  const Opened maker = open(range(10));
  const Chunk rows = rows_of(node("zip", {}, {range(3), range(5)}), 3);
  check_operator(
      {.build = [&] { return held(maker, rows, {{nullptr, 1, 3, 1}}, 1); }, .expect = {"1", "2"}});
  check_operator({.build = [&] { return held(maker, rows, {{nullptr, 1, 3, 1}}, -1); },
                  .expect = {"(1, 1)", "(2, 2)"}});
}

TEST(WindowRows, MoreThanAFewBytesGoToARowStoreAndComeBack) {
  const Opened maker = open(range(10));
  RowKeeper keeper(maker.it->stage().run().stage_of(maker.it->stage().node()));
  std::vector<HeldBlockPtr> blocks;
  blocks.reserve(12);
  for (int i = 0; i < 12; ++i) {
    const Chunk rows = rows_of(range(20'000), 20'000);
    std::shared_ptr<HeldBlock> block = keeper.keep(rows);
    if (block == nullptr) {
      block = keeper.one_of_many();
      EXPECT_EQ(block->add_alike(rows, 20'000).value(), 20'000);
    }
    blocks.push_back(std::move(block));
  }
  for (const HeldBlockPtr& block : blocks) {
    const Chunk last = block->read(block->rows() - 1, block->rows(), 1, 10, 1000).value();
    EXPECT_EQ(show(last, 0), std::to_string(block->rows() - 1));
    EXPECT_EQ(last.origins().at(0).ordinal, block->rows() - 1);
    EXPECT_EQ(block->origin(block->rows() - 1).value().ordinal, block->rows() - 1);
  }
}

TEST(WindowRows, RowsJoinABlockWhileItHasRoomAndTheirWeightIsTheSame) {
  const Opened maker = open(range(10));
  RowKeeper keeper(maker.it->stage().run().stage_of(maker.it->stage().node()));
  const std::shared_ptr<HeldBlock> block = keeper.one_of_many();
  const Chunk rows = rows_of(range(10), 10);
  EXPECT_EQ(block->add_alike(rows, 15).value(), 10);
  EXPECT_EQ(block->add_alike(rows, 15).value(), 5);
  EXPECT_EQ(block->add_alike(rows, 15).value(), 0);
  const Chunk heavy = rows.with_origins(rows.origins().grouped(10, 2));
  EXPECT_EQ(block->add_alike(heavy.slice(0, 5), 100).value(), 0);
  EXPECT_EQ(block->amount(3, 13).weight, 10);
  EXPECT_EQ(show(block->read(10, 15, 2, 10, 1000).value(), 2), "4");
}

}  // namespace
}  // namespace spillway::testing
