#pragma once

#include <functional>
#include <set>
#include <unordered_map>

#include "spillway/graph/graph.h"
#include "spillway/graph/rows.h"
#include "spillway/graph/sliced_rows.h"

namespace spillway::graph {

// How a computation that does not fit as a whole is made to fit: values that must exist as a whole
// are made one after the other, each in slices along its leading axis; what they are made of is
// computed for those rows only, random numbers are drawn again, products go panel by panel, and
// what would have to be computed twice waits on disk. Planned from specs: nothing runs, nothing is
// held. The bits are those of the whole plan.
class Fit {
 public:
  // What becomes of the roots: values in memory, or rows for whoever takes them.
  enum class Into : std::uint8_t { kMemory, kRows };

  // `room`: bytes it may hold at once. Never fails for want of room: see fits().
  static Result<std::unique_ptr<Fit>> make(std::span<const Operand> roots,
                                           std::span<const Scheduled> order, std::size_t room,
                                           const AccountPtr& account, Into into);

  bool fits() const { return needed_ <= room_; }
  // The most bytes it holds at once; where it does not fit, the least it could do with.
  std::size_t needed() const { return needed_; }
  std::size_t on_disk() const { return on_disk_; }
  // "micro-batched 12" (slices of the largest step) or "tiled".
  std::string how() const;

  // kMemory: the values of the roots, in order.
  Result<std::vector<Tensor>> run(const Paying& paying);
  // kRows: hands every block of the only root's rows to `take`, in order.
  using Take = std::function<Status(std::int64_t first, std::int64_t n, const std::byte* rows)>;
  Status run(const Paying& paying, const Take& take);

 private:
  enum class Kind : std::uint8_t {
    kSlices,  // its own rows, into one tensor or file
    kFold,    // its operand's rows, in order
    kOp,      // as an op on whole values
  };
  struct Made {                                   // what later steps refer to
    std::vector<std::shared_ptr<Tensor>> values;  // one an output
    std::shared_ptr<RowsOnDisk> on_disk;          // or none, and this
  };
  struct Step {
    Operand operand;
    std::vector<Operand> inputs;
    Kind kind = Kind::kOp;
    RowsPtr rows;
    Cut cut;
    std::shared_ptr<Made> made;
    std::size_t result = 0;         // bytes that stay
    std::size_t held = 0;           // bytes while it runs
    std::size_t beside = 0;         // of them, whatever the slices
    std::vector<std::size_t> ends;  // steps whose values nobody needs after this one
  };
  // What of a node others ask for.
  struct Demand {
    bool whole = false;
    bool again = false;        // its rows more than once
    std::set<const Node*> of;  // for whom its rows are made
  };

  Fit(std::size_t room, AccountPtr account) : room_(room), account_(std::move(account)) {}
  void demand(std::span<const Operand> roots, std::span<const Scheduled> order, Into into);
  void demand_inputs(const Scheduled& each, const Node* of, bool again);
  bool folds_rows(const Scheduled& each) const;
  bool as_panels(const Scheduled& each) const;
  Result<RowsPtr> rows_of(const Operand& operand);
  Result<RowsPtr> body_of(const Operand& operand);
  Result<RowSteps> row_steps(const Operand& root);
  Status add_step(const Scheduled& each, bool rows_only);
  std::shared_ptr<Made> value_made(const Node& node, bool on_disk) const;
  static Result<std::size_t> held(const Step& step, std::int64_t rows);
  Status choose_cut(Step& step, std::size_t alive) const;
  Status finish_plan(std::span<const Operand> roots);

  Status run_step(Step& step, const Paying& paying);
  Status run_slices(Step& step, const Paying& paying, const Take& take);
  Status run_fold(Step& step, const Paying& paying);
  Status run_op_step(Step& step, const Paying& paying);
  Status run_steps(std::size_t begin, std::size_t end, const Paying& paying);
  Tensor value_of(const Operand& operand) const;

  const std::size_t room_;
  std::size_t spare_ = 0;  // of it, beside the results
  const AccountPtr account_;
  std::unordered_map<const Node*, std::pair<std::size_t, const Scheduled*>> place_;  // in the order
  std::vector<Scheduled> order_;
  std::unordered_map<const Node*, Demand> demands_;
  std::unordered_map<const Node*, std::shared_ptr<Made>> made_;  // values that steps make
  std::unordered_map<const Node*, std::size_t> step_of_;
  std::set<std::size_t>* uses_ = nullptr;  // by the step that is being planned
  std::vector<Step> steps_;
  std::vector<Operand> roots_;
  std::size_t needed_ = 0;
  std::size_t on_disk_ = 0;
};

}  // namespace spillway::graph
