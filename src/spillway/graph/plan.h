#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "spillway/graph/fold.h"
#include "spillway/graph/fused.h"
#include "spillway/graph/graph.h"

namespace spillway::graph {

// A graph made ready for rows of known shapes: constants folded, elementwise steps fused with each
// other and with the reduction they feed, room for what passes between steps laid out in one arena.
// Runs any number of rows, a cache-sized tile of them at a time. Immutable and thread-safe.
class Plan {
 public:
  // `rows`: what one row of each parameter looks like, fully known; the last `shared` of them are
  // one value for all rows. Null: a shape inside depends on values, so rows have to be run one by
  // one, op by op. kUser errors where shapes do not fit.
  static Result<std::shared_ptr<const Plan>> make(const GraphPtr& graph, std::span<const Spec> rows,
                                                  const AccountPtr& account,
                                                  std::size_t shared = 0);

  struct Request {
    std::span<const Tensor> parameters;  // [rows, ...]; shared ones as they are
    std::int64_t rows = 1;
    Call call;
    AccountPtr account;
    Buffer::Ask ask = Buffer::Ask::kRequired;
    // [rows, ...]: where the first results are made, as far as they are made at all (one may be a
    // parameter). Empty: in memory of their own.
    std::vector<Tensor> places;
  };
  struct Outcome {
    std::vector<Tensor> results;  // [rows, ...]
    Status error;                 // of row `failed`, when not ok
    std::int64_t failed = -1;
  };
  Outcome run(const Request& request) const;

  const std::vector<Spec>& results() const { return result_specs_; }
  std::size_t result_bytes() const { return result_bytes_; }  // a row
  std::size_t arena_bytes() const { return arena_row_; }      // a row
  // What no arena can do without: the most bytes between steps that are needed at once; a row.
  std::size_t least_arena_bytes() const { return most_live_; }
  // What run() reserves beside results and parameters, for one row: arena, scratch of every thread,
  // tensors of steps that make their own.
  std::size_t working_bytes() const;
  int steps() const { return static_cast<int>(steps_.size()); }

 private:
  friend class Planner;
  Plan() = default;

  enum class Place : std::uint8_t { kParameter, kConstant, kResult, kArena, kTensor };
  struct Value {
    Spec spec;  // of a row
    bool batched = false;
    int base = -1;  // the same items as this value, under another shape
    Place place = Place::kArena;
    int index = 0;           // of the parameter, result or tensor
    std::size_t offset = 0;  // kArena: bytes into a row's arena, times the tile's rows
    Tensor constant;
  };
  // What an item of a fused step cost when it last ran: whether a second thread would pay. A hint,
  // shared by all who run the plan.
  class Pace {
   public:
    bool worth_sharing(std::int64_t items, std::int64_t steps) const;
    void note(std::int64_t ns, std::int64_t items);

   private:
    std::atomic<std::int64_t> item_ps_{0};  // 0: not known yet
  };
  enum class Kind : std::uint8_t { kFused, kFold, kKernel, kCompute };
  struct Step {
    Kind kind = Kind::kKernel;
    NodePtr node;
    std::vector<int> in;   // values
    std::vector<int> out;  // values
    std::shared_ptr<const Fused> fused;
    std::shared_ptr<Pace> pace = std::make_shared<Pace>();
    Fold fold;
    FoldShape fold_shape;
    std::size_t fold_item = 0;  // bytes of an item that comes in
    KernelPtr kernel;
  };
  struct Running;
  void run_segments(const Step& step, Running& running) const;
  static void report(const Step& step, const Fused::Failure& failure, Running& running);
  void run_fused(const Step& step, Running& running) const;
  void run_fold(const Step& step, Running& running) const;
  void run_kernel(const Step& step, Running& running) const;
  void run_compute(const Step& step, Running& running) const;
  const Value& base_of(int value) const;

  GraphPtr graph_;
  std::vector<Value> values_;
  std::vector<Step> steps_;
  std::vector<int> results_;  // values
  std::vector<Spec> result_specs_;
  std::size_t result_bytes_ = 0;
  std::size_t arena_row_ = 0;
  std::size_t most_live_ = 0;
  std::size_t scratch_ = 0;
  std::size_t tensor_bytes_ = 0;  // of values that are tensors of their own, a row
  std::size_t copies_ = 0;        // most that a step needs as tensors to begin with, a row
  int tensors_ = 0;               // values that are tensors of their own
};

}  // namespace spillway::graph
