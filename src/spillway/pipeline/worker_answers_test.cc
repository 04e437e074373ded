// What a worker says is not believed: its memory may be damaged, and in a sandbox runs a stranger's
// code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spillway/memory/budget.h"
#include "spillway/pipeline/guarded_function.h"
#include "spillway/pipeline/guarded_generator.h"
#include "spillway/pipeline/row_message.h"
#include "spillway/testing/pipelines.h"
#include "spillway/testing/scripted_workers.h"

namespace spillway {
namespace {

using ::testing::HasSubstr;
using testing::i64;
using testing::i64_spec;
using testing::i64s;
using ::testing::Not;
using testing::Said;
using testing::ScriptedWorkers;
using testing::str;

StructurePtr vectors() { return Structure::tensor(DType::kInt64, Shape({kUnknownDim})); }

// `count` rows, each of these values.
Chunk rows_of(const StructurePtr& structure, std::vector<Tensor> values, std::int64_t count) {
  std::vector<Row> rows;
  rows.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) rows.push_back(Row{values, {}});
  return Chunk::from_rows(structure, std::move(rows));
}

class NoFactory final : public GeneratorFactory {
 public:
  Result<std::unique_ptr<Generator>> start(const AccountPtr&) override { return cancelled(); }
  std::string code() const override { return ""; }
  std::string describe() const override { return "g"; }
};

class WorkerAnswers : public ::testing::TestWithParam<bool> {
 protected:
  GuardRules rules() const {
    GuardRules rules;
    rules.restarts = 0;
    rules.kind.sandboxed = GetParam();
    return rules;
  }
  // Workers that answer the request for rows number k with answers[k], told of a fresh sender.
  std::shared_ptr<WorkerPool> answering(std::vector<Chunk> answers) {
    const auto script = [answers = std::move(answers), at = std::make_shared<std::size_t>(0)](
                            WorkerVerb verb, MessageReader request, SharedMemory& memory) -> Said {
      if (verb != WorkerVerb::kCall && verb != WorkerVerb::kFillGenerator) {
        return {{testing::done_with(verb, {})}, false};
      }
      const testing::Room room = testing::room_of(verb, request);
      RowSender sender;
      MessageWriter rows;
      const Chunk& answer = answers[(*at)++];
      EXPECT_TRUE(sender.add(answer, room.offset, memory.at(room.offset, room.bytes), rows).ok());
      return {{testing::done_with(verb, rows.bytes())}, *at == answers.size()};
    };
    return std::make_shared<WorkerPool>(budget, std::make_shared<ScriptedWorkers>(script));
  }
  Function::Outcome call(const StructurePtr& declared, std::int64_t count, const Chunk& answer) {
    GuardedFunction function(testing::fn(declared, nullptr), Cargo::small("f"), answering({answer}),
                             rules());
    return function.call(rows_of(i64_spec(), {i64(1)}, count), {account, 0, 0});
  }
  // Into a block of as many rows, where the structure has a size, then again.
  Generator::Filled fill(const StructurePtr& declared, GrowingRows& block,
                         std::vector<Chunk> answers) {
    GuardedGeneratorFactory factory(std::make_shared<NoFactory>(), Cargo::small("g"), declared,
                                    answering(std::move(answers)), rules());
    const auto generator = factory.start(account).value();
    Generator::Filled filled;
    while (!block.full() && filled.error.ok()) filled = generator->fill(block, INT64_MAX, stop);
    return filled;
  }
  GrowingRows block_of(std::int64_t rows) {
    std::vector<Tensor> slots{make_tensor(account, DType::kInt64, Shape({rows})).value()};
    return {i64_spec(), rows, std::move(slots)};
  }

  Budget budget{std::size_t{256} << 20U};
  AccountPtr account = budget.open_account("stage");
  std::atomic<bool> stop{false};
};

INSTANTIATE_TEST_SUITE_P(Sandboxed, WorkerAnswers, ::testing::Bool());

void expect_refused(const Status& error, const char* why) {
  ASSERT_FALSE(error.ok());
  EXPECT_EQ(error.kind(), ErrorKind::kBug);
  EXPECT_THAT(std::string(error.message()), HasSubstr(why));
}

TEST_P(WorkerAnswers, RowsAsDeclaredAreTaken) {
  const auto outcome = call(i64_spec(), 3, rows_of(i64_spec(), {i64(7)}, 3));
  ASSERT_TRUE(outcome.error.ok()) << outcome.error.message();
  ASSERT_EQ(outcome.out.rows(), 3);
  EXPECT_EQ(*outcome.out.row(2).values[0].as<std::int64_t>(), 7);
  GrowingRows block = block_of(3);
  const auto filled = fill(i64_spec(), block, {rows_of(i64_spec(), {i64(7)}, 3)});
  EXPECT_TRUE(filled.error.ok()) << filled.error.message();
  EXPECT_EQ(block.added(), 3);
}

TEST_P(WorkerAnswers, MoreRowsThanWereAskedForAreRefused) {
  const Chunk five = rows_of(i64_spec(), {i64(7)}, 5);
  expect_refused(call(i64_spec(), 3, five).error, "expected at most 3, found 5");
  GrowingRows block = block_of(3);
  expect_refused(fill(i64_spec(), block, {five}).error, "expected at most 3, found 5");
  EXPECT_EQ(block.added(), 0);
}

TEST_P(WorkerAnswers, RowsWithoutAnyValuesDoNotEscapeTheirNumber) {
  // Nothing of them is in the message but how many they are.
  const Chunk many(Structure::none(), std::int64_t{1} << 62U, {}, {});
  expect_refused(call(Structure::none(), 3, many).error, "expected at most 3");
  GrowingRows block(Structure::none(), 3, {});
  expect_refused(fill(Structure::none(), block, {many}).error, "expected at most 3");
}

TEST_P(WorkerAnswers, AnotherStructureThanDeclaredIsRefused) {
  const StructurePtr pair = Structure::tuple({i64_spec(), i64_spec()});
  const StructurePtr wide = i64_spec(Shape({500}));
  const Chunk answers[] = {rows_of(pair, {i64(1), i64(2)}, 3),
                           rows_of(Structure::tensor(DType::kString, {}), {str("text")}, 3),
                           rows_of(wide, {i64s(std::vector<std::int64_t>(500, 1))}, 2)};
  for (const Chunk& answer : answers) {
    expect_refused(call(i64_spec(), 3, answer).error, "another structure");
    GrowingRows block = block_of(3);
    expect_refused(fill(i64_spec(), block, {answer}).error, "another structure");
    EXPECT_EQ(block.added(), 0);
  }
}

TEST_P(WorkerAnswers, ValuesThatAreNotOfTheirOwnStructureAreRefused) {
  // Told as declared: the place of a row has eight bytes, the value has 4,000.
  const Chunk wide = rows_of(i64_spec(), {i64s(std::vector<std::int64_t>(500, 1))}, 2);
  const Chunk text = rows_of(i64_spec(), {str("text")}, 2);
  for (const Chunk& answer : {wide, text}) {
    expect_refused(call(i64_spec(), 3, answer).error, "damaged: rows");
    GrowingRows block = block_of(3);
    expect_refused(fill(i64_spec(), block, {answer}).error, "damaged: rows");
    EXPECT_EQ(block.added(), 0);
  }
}

TEST_P(WorkerAnswers, RowsWithoutTheirStructureAreRefused) {
  const Chunk bare = rows_of(nullptr, {i64(1)}, 2);
  expect_refused(call(nullptr, 3, bare).error, "without their structure");
  GrowingRows block(nullptr, 3, {});
  expect_refused(fill(nullptr, block, {bare}).error, "without their structure");
}

TEST_P(WorkerAnswers, WhatAGeneratorYieldedFirstHoldsForAllThatFollows) {
  const Chunk first = rows_of(vectors(), {i64s({1, 2, 3})}, 1);
  const Chunk longer = rows_of(vectors(), {i64s({1, 2, 3, 4})}, 1);
  const Chunk pair = rows_of(Structure::tuple({vectors(), vectors()}), {i64s({1}), i64s({2})}, 1);
  GrowingRows block(nullptr, 3, {});
  expect_refused(fill(nullptr, block, {first, longer, pair}).error, "another structure");
  EXPECT_EQ(block.added(), 2);
}

TEST_P(WorkerAnswers, ADemandForMoreRoomThanCanBeCountedIsRefused) {
  const auto script = [](WorkerVerb verb, MessageReader request, SharedMemory&) -> Said {
    if (verb == WorkerVerb::kCall) {
      return {{MessageWriter().add(WorkerVerb::kNeed).add(~std::uint64_t{0}).bytes()}, false};
    }
    EXPECT_EQ(verb, WorkerVerb::kRoom);
    EXPECT_EQ(testing::read_room(request).bytes, 0U);
    MessageWriter no_room;
    no_room.add(WorkerVerb::kDone).add(std::uint8_t{0}).add(std::uint8_t{0}).add(std::uint8_t{0});
    no_room.add(std::int64_t{0});
    write_status(out_of_resource("no room"), no_room);
    return {{no_room.bytes()}, true};
  };
  const auto pool = std::make_shared<WorkerPool>(budget, std::make_shared<ScriptedWorkers>(script));
  GuardedFunction function(testing::fn(i64_spec(), nullptr), Cargo::small("f"), pool, rules());
  const auto outcome = function.call(rows_of(i64_spec(), {i64(1)}, 1), {account, 0, 0});
  ASSERT_FALSE(outcome.error.ok());
  EXPECT_EQ(outcome.error.kind(), ErrorKind::kResource);
  EXPECT_THAT(std::string(outcome.error.message()), Not(HasSubstr("no room"))) << "not asked for";
  EXPECT_EQ(account->held(), 0U);
}

}  // namespace
}  // namespace spillway
