#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "spillway/base/status.h"
#include "spillway/pipeline/spec.h"
#include "spillway/pipeline/stage.h"
#include "spillway/pipeline/state.h"
#include "spillway/tensor/chunk.h"

namespace spillway {

class Function;
class RowGatherer;
using FunctionPtr = std::shared_ptr<Function>;

// How much is wanted: a subtree returns early when any part is reached, and never withholds
// finished rows while more are awaited.
struct Demand {
  std::int64_t rows = 1;
  std::size_t bytes = 256 * 1024;
  std::int64_t time_ns = 1'000'000;

  Demand with_rows(std::int64_t n) const { return {n, bytes, time_ns}; }
  static Demand one() { return {1, 0, 0}; }
};

// 1..rows rows; the end (nullopt, sticky); or the error of one element. Rows before a bad one come
// first, and after its error the iterator goes on.
using Next = Result<std::optional<Chunk>>;
inline Next end_of_data() { return std::optional<Chunk>(); }

// Whether an error stands in an element's place. Being stopped, or told that there is no memory
// now, does not: nothing was passed, and asking again goes on with the same element.
bool is_position(const Status& error);

// One pass over a node's elements. Driven by one thread at a time (the consumer's, or a driver's);
// save() may be called from another while no next() is running, unless the operator says more.
class Iterator {
 public:
  virtual ~Iterator() = default;
  Iterator(const Iterator&) = delete;
  Iterator& operator=(const Iterator&) = delete;

  // Counts rows and time, stamps this stage's errors, applies its error policy, keeps the end
  // sticky.
  Next next(const Demand& demand);

  // Into an independently built equal pipeline. restore() is called once, before the first next().
  virtual Status save(StateWriter& out) const = 0;
  virtual Status restore(StateReader& in) = 0;

  // Before the first next(): a stage that only applies a function leaves that to the stage behind
  // it. It answers with one function that does both and from then on hands on its input's rows as
  // they are. Null: it does its own work.
  virtual FunctionPtr merge_into(Function& outer);

  // The next rows go into `batch` (null: nowhere in particular). A stage that makes rows anew may
  // make them in their places there, which RowGatherer::claim hands out.
  virtual void make_into(RowGatherer* /*batch*/) {}

  // Moves past `rows` positions (an error is one position) without handing them out.
  virtual Status skip(std::int64_t rows);

  Stage& stage() const { return *stage_; }
  std::int64_t epoch() const { return epoch_; }

  // The stage that rows are handed to, which counts them as come in; `weighs`: their source rows
  // too. Before the first next().
  void set_reader(StagePtr reader, bool weighs) {
    reader_ = std::move(reader);
    weighs_ = weighs;
  }

 protected:
  // `stage` counts what this iterator does; `epoch` goes into its errors.
  Iterator(StagePtr stage, std::int64_t epoch) : stage_(std::move(stage)), epoch_(epoch) {}
  virtual Next pull(const Demand& demand) = 0;
  const AccountPtr& account() const { return stage_->account(); }
  StageStats& stats() const { return stage_->stats(); }

  // What became of input rows that are not handed on one for one (see Ratio): they went into
  // outputs, were meant to be left out, or were lost on the way. Failing ones are counted by
  // ErrorInfo::rows.
  void use(const Amount& rows) const { stats().used.add(rows); }
  void leave_out(const Amount& rows) const { stats().filtered.add(rows); }
  void drop(const Amount& rows, std::string_view why) const { stage_->drop(rows, why); }
  void drop(const std::optional<Chunk>& rows, std::string_view why) const;

 private:
  Next advance(const Demand& demand);

  const StagePtr stage_;
  StagePtr reader_;  // null: the consumer
  bool weighs_ = true;
  const std::int64_t epoch_;
  bool ended_ = false;
};
using IteratorPtr = std::unique_ptr<Iterator>;

class Indexed;  // access.h
using IndexedPtr = std::unique_ptr<Indexed>;

// What open() and index() get: the node, its stage, and the way to its inputs.
class OpenContext {
 public:
  OpenContext(StagePtr stage, std::int64_t epoch, Origin outer, std::int64_t bound = -1)
      : stage_(std::move(stage)), epoch_(epoch), outer_(std::move(outer)), bound_(bound) {}

  const Node& node() const { return stage_->node(); }
  const StagePtr& stage() const { return stage_; }
  Run& run() const { return stage_->run(); }
  std::int64_t epoch() const { return epoch_; }
  const Origin& outer() const { return outer_; }

  // A fresh pass over input `i`; `epoch` replaces this pass's own (repeat counts them). `bound` is
  // the most rows that will ever be asked of it (-1: no bound): nothing looks ahead beyond it.
  Result<IteratorPtr> open_input(std::size_t i) const { return open_input(i, epoch_); }
  Result<IteratorPtr> open_input(std::size_t i, std::int64_t epoch, std::int64_t bound = -1) const;
  std::int64_t bound() const { return bound_; }
  // Random access to input `i`, or why there is none.
  Result<IndexedPtr> index_input(std::size_t i) const;
  // A pass over a dataset found in an element. Charged to this stage (R10). Its rows come in as
  // those of an input do.
  Result<IteratorPtr> open_nested(const NodePtr& node, const Origin& outer) const;
  // A pass over a dataset of the operator's own, in no audit.
  Result<IteratorPtr> open_aside(const NodePtr& node) const;
  // What the rows of this source share.
  ScopePtr source_scope(std::string file = "") const;

 private:
  Result<StagePtr> input_stage(std::size_t i) const;

  StagePtr stage_;
  std::int64_t epoch_;
  Origin outer_;
  std::int64_t bound_;
};

// What pulling from an operator may do beside producing rows.
enum class Effects : std::uint8_t {
  kNone,
  kReads,        // files: may be read again
  kUserCode,     // calls back into the front
  kSharedState,  // a cache, a reshuffle seed: the next pass differs from this one
};

// How rows in relate to rows out, for the audit.
enum class Ratio : std::uint8_t {
  kSource,    // no input
  kOneToOne,  // every row out is one row in, of an input or of a dataset it opened
  kCounted,   // the operator says which rows in were used
};

// Which inputs' source rows its elements are made of. Others are in its own table only.
enum class Weighs : std::uint8_t { kAll, kFirst, kAllButFirst };

// Everything the engine, the profiler, the CLI and the fronts need to know about an operator.
// Constant-initialised: no code runs before main().
struct OperatorDef {
  std::string_view name;
  std::string_view summary;  // first line of the docstring
  std::string_view example;  // runnable, with its result, as a doctest
  ParamList params;
  int inputs = 1;  // 0: a source; 1: continues a dataset; more come from kDataset(s) parameters
  Effects effects = Effects::kNone;
  bool fallible = false;
  // Effects and failures are those of its functions alone: with traced ones there are none.
  bool functions_only = false;
  Ratio ratio = Ratio::kOneToOne;
  Weighs weighs = Weighs::kAll;
  bool passes_rows = false;  // hands on its inputs' rows as they are: needs no guarantee (R2)
  bool hidden = false;       // made by the engine, not offered by fronts
  Result<Inferred> (*infer)(const Node& node) = nullptr;
  Result<IteratorPtr> (*open)(const OpenContext& context) = nullptr;
  // Null: no random access.
  Result<IndexedPtr> (*index)(const OpenContext& context) = nullptr;
  // Null: every pass is like the first.
  std::shared_ptr<SharedState> (*shared)(const Node& node) = nullptr;
};

std::span<const OperatorDef* const> all_operators();
const OperatorDef* find_operator(std::string_view name);

// What a node does beyond its elements, given the functions it was built with.
Effects effects_of(const Node& node);
bool is_fallible(const Node& node);

// No effects anywhere in the subtree and nothing in it can fail: may be over-pulled and permuted.
bool is_pure(const Node& node);
// No user code and no shared state: pulling more than asked is not observable.
bool may_overpull(const Node& node);

// What a pass over the subtree that was not opened yet, or has ended, leaves to the next one.
void save_shared(const Node& node, StateWriter& out);
Status restore_shared(const Node& node, StateReader& in);

// infer() of operators that change nothing.
Result<Inferred> infer_same(const Node& node);

}  // namespace spillway
