#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "spillway/base/bytes.h"
#include "spillway/pipeline/generator.h"
#include "spillway/testing/operator_conformance.h"

namespace spillway::testing {
namespace {

// Counts from 0 to `stop`; fails in place of `bad`; notes how often it was advanced and whether it
// was made, advanced and destroyed on one thread.
struct Witness {
  std::atomic<int> advanced{0};
  std::atomic<int> alive{0};
  std::atomic<int> foreign_threads{0};
  std::atomic<int> rests{0};
  std::atomic<int> not_woken{0};
};

class CountingGenerator final : public Generator {
 public:
  CountingGenerator(std::int64_t stop, std::int64_t bad, std::shared_ptr<Witness> witness)
      : stop_(stop), bad_(bad), witness_(std::move(witness)) {
    ++witness_->alive;
  }
  ~CountingGenerator() override {
    note_thread();
    --witness_->alive;
  }
  Filled fill(GrowingRows& block, std::int64_t, const std::atomic<bool>& stop) override {
    note_thread();
    while (!block.full() && !stop) {
      if (at_ == stop_) return {More::kEnd, {}, true};
      ++witness_->advanced;
      const std::int64_t value = at_++;
      if (value == bad_) return {More::kError, bad_data(Code::kUnknown, "bad"), false};
      std::memcpy(block.slot(0), &value, sizeof value);
      block.publish();
    }
    return {};
  }

 private:
  void note_thread() {
    if (std::this_thread::get_id() != thread_) ++witness_->foreign_threads;
  }
  const std::int64_t stop_;
  const std::int64_t bad_;
  const std::shared_ptr<Witness> witness_;
  const std::thread::id thread_ = std::this_thread::get_id();
  std::int64_t at_ = 0;
};

class CountingFactory final : public GeneratorFactory {
 public:
  CountingFactory(std::int64_t stop, std::int64_t bad, std::shared_ptr<Witness> witness)
      : stop_(stop), bad_(bad), witness_(std::move(witness)) {}
  Result<std::unique_ptr<Generator>> start(const AccountPtr&) override {
    return std::unique_ptr<Generator>(std::make_unique<CountingGenerator>(stop_, bad_, witness_));
  }
  std::string describe() const override { return "counting"; }
  std::string code() const override { return "counting"; }

 private:
  const std::int64_t stop_;
  const std::int64_t bad_;
  const std::shared_ptr<Witness> witness_;
};

NodePtr counting(std::int64_t stop, std::int64_t bad = -1,
                 std::shared_ptr<Witness> witness = std::make_shared<Witness>(),
                 Value read_ahead = {}) {
  const ObjectPtr factory = std::make_shared<CountingFactory>(stop, bad, std::move(witness));
  return node("from_generator", {{"generator", factory},
                                 {"output_signature", i64_spec()},
                                 {"read_ahead", std::move(read_ahead)}});
}

TEST(FromGenerator, GivesItsElementsInOrder) {
  check_operator({.build = [] { return counting(4); }, .expect = {"0", "1", "2", "3"}});
  check_operator({.build = [] { return counting(0); }, .expect = {}});
}

TEST(FromGenerator, HandsOutAnErrorInItsPlaceAndGoesOn) {
  check_operator({.build = [] { return counting(4, 1); }, .expect = {"0", "!UNKNOWN", "2", "3"}});
}

TEST(FromGenerator, IsMadeAdvancedAndClosedOnOneThread) {
  auto witness = std::make_shared<Witness>();
  {
    const Opened opened = open(counting(1000, -1, witness));
    ASSERT_TRUE(opened.it->next(Demand::one()).ok());
    EXPECT_EQ(witness->alive, 1);
  }
  EXPECT_EQ(witness->alive, 0) << "not closed when the iterator was dropped";
  EXPECT_EQ(witness->foreign_threads, 0);
}

TEST(FromGenerator, WithoutReadAheadAdvancesOnlyWhenAsked) {
  auto witness = std::make_shared<Witness>();
  const Opened opened = open(counting(1000, -1, witness, std::int64_t{0}));
  for (int i = 1; i <= 5; ++i) {
    ASSERT_TRUE(opened.it->next(Demand::one()).ok());
    EXPECT_EQ(witness->advanced, i);
  }
}

TEST(FromGenerator, NeverLooksBeyondAKnownBound) {
  auto witness = std::make_shared<Witness>();
  const NodePtr ten = node("take", {{"count", std::int64_t{10}}}, {counting(1000, -1, witness)});
  EXPECT_EQ(elements(ten).size(), 10U);
  EXPECT_EQ(witness->advanced, 10);
}

// One that has something to do between rows, and does it until it is woken.
class RestingGenerator final : public Generator {
 public:
  explicit RestingGenerator(std::shared_ptr<Witness> witness) : witness_(std::move(witness)) {
    ++witness_->alive;
  }
  ~RestingGenerator() override { --witness_->alive; }
  Filled fill(GrowingRows& block, std::int64_t, const std::atomic<bool>&) override {
    const std::int64_t value = witness_->advanced++;
    std::memcpy(block.slot(0), &value, sizeof value);
    block.publish();
    return {};
  }
  bool rests() const override { return true; }
  void rest(int wake, std::int64_t most_ns) override {
    EXPECT_GT(most_ns, 0);
    ++witness_->rests;
    pollfd wanted{wake, POLLIN, 0};
    constexpr int kNever = 60'000;
    if (poll(&wanted, 1, kNever) == 0) ++witness_->not_woken;
  }

 private:
  const std::shared_ptr<Witness> witness_;
};

class RestingFactory final : public GeneratorFactory {
 public:
  explicit RestingFactory(std::shared_ptr<Witness> witness) : witness_(std::move(witness)) {}
  Result<std::unique_ptr<Generator>> start(const AccountPtr&) override {
    return std::unique_ptr<Generator>(std::make_unique<RestingGenerator>(witness_));
  }
  std::string describe() const override { return "resting"; }
  std::string code() const override { return "resting"; }

 private:
  const std::shared_ptr<Witness> witness_;
};

TEST(FromGenerator, WakesOneThatRestsForEveryRowAndForTheEnd) {
  auto witness = std::make_shared<Witness>();
  const ObjectPtr factory = std::make_shared<RestingFactory>(witness);
  {
    const Opened opened = open(node("from_generator", {{"generator", factory},
                                                       {"output_signature", i64_spec()},
                                                       {"read_ahead", std::int64_t{0}}}));
    for (std::int64_t i = 0; i < 50; ++i) {
      const Next next = opened.it->next(Demand::one());
      ASSERT_TRUE(next.ok());
      EXPECT_EQ(*next.value()->row(0).values[0].as<std::int64_t>(), i);
      while (witness->rests <= i) std::this_thread::yield();
    }
  }
  EXPECT_EQ(witness->alive, 0);
  EXPECT_EQ(witness->not_woken, 0);
}

TEST(FromGenerator, ThatFindsNoMemoryTellsSoAndGoesOn) {
  Scarcity scarcity(4 * kMiB);
  const ObjectPtr factory = std::make_shared<CountingFactory>(5, -1, std::make_shared<Witness>());
  const NodePtr large =
      node("from_generator", {{"generator", factory}, {"output_signature", i64_spec({kLargeRow})}});
  const Opened opened = open(large, scarcity.budget());
  opened.run->stages()[0]->account()->drop_floor();
  scarcity.leave(10 * kKiB);
  for (int i = 0; i < 2; ++i) {
    const Next refused = opened.it->next(Demand::one());
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().info().type, "BudgetError");
  }
  scarcity.end();
  std::vector<std::int64_t> seen;
  for (;;) {
    const Next next = opened.it->next(Demand::one());
    ASSERT_TRUE(next.ok());
    if (!next.value()) break;
    seen.push_back(*next.value()->row(0).values[0].as<std::int64_t>());
  }
  EXPECT_EQ(seen, (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
}

}  // namespace
}  // namespace spillway::testing
