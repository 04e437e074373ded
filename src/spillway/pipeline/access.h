#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "spillway/pipeline/run.h"

namespace spillway {

// Random access to the elements of one node: what an operator's `index` makes, where an element's
// place says how to make it alone. Elements, their origins, the index and epoch that user functions
// are called with are those of an ordinary pass; so is the stage that pays and that errors name.
// The exception is shuffle, whose order here is one of its own.
//
// Thread-safe. What is particular to a node and costs something to make (a permutation) is made
// when it is opened; nothing waits under a lock.
class Indexed {
 public:
  virtual ~Indexed() = default;
  Indexed(const Indexed&) = delete;
  Indexed& operator=(const Indexed&) = delete;

  // Rows in the order of `indices`, at least one, each in [0, cardinality), or the error of one of
  // them. Where the cardinality is not known (a cache), one too large is OUT_OF_RANGE.
  Result<Chunk> at(std::span<const std::int64_t> indices);
  Result<Chunk> at(std::int64_t index) { return at({&index, 1}); }

 protected:
  explicit Indexed(const OpenContext& context) : stage_(context.stage()), epoch_(context.epoch()) {}
  virtual Result<Chunk> fetch(std::span<const std::int64_t> indices) = 0;
  Stage& stage() const { return *stage_; }
  const Node& node() const { return stage_->node(); }
  const AccountPtr& account() const { return stage_->account(); }
  std::int64_t epoch() const { return epoch_; }

 private:
  const StagePtr stage_;
  const std::int64_t epoch_;
};

// What is refused, in TensorFlow's words. An index that is none: OUT_OF_RANGE.
Status out_of_range(std::int64_t index, std::int64_t size);
// UNIMPLEMENTED for this node, `when` it is as it is.
Status no_random_access(const Node& node, std::string_view when = "");
// FAILED_PRECONDITION where `counted` has no number of elements and `node` would need it.
Status must_be_counted(const Node& node, const Node& counted);

// Random access to a whole pipeline, opened once and asked often; the state of its nodes (a
// cache's rows, a shuffle's order) lives as long. It reserves no floors: an element that finds no
// room is a BudgetError, and a dataset that was asked once does not keep others out. Policies that
// leave out elements move all that follow, so such a stage has no random access.
//
// Thread-safe. Destroyed like a Consumer: stops, drains, lets threads end.
class Access {
 public:
  // UNIMPLEMENTED, with the stage that cannot and its line.
  static Result<std::unique_ptr<Access>> open(NodePtr root, RunOptions options,
                                              Budget& budget = Budget::process());
  ~Access();
  Access(const Access&) = delete;
  Access& operator=(const Access&) = delete;

  // The number of elements; kUnknownCount or kInfinite above a cache of so many.
  std::int64_t size() const { return run_->root()->cardinality(); }
  // One row.
  Result<Chunk> at(std::int64_t index);
  // From any thread, waits for nothing: whoever is inside at() gets kCancelled, and later ones too.
  void request_stop() { run_->request_stop(); }

 private:
  explicit Access(std::shared_ptr<Run> run) : run_(std::move(run)) {}

  const std::shared_ptr<Run> run_;
  IndexedPtr root_;
};

}  // namespace spillway
