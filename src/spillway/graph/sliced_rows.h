#pragma once

#include <map>

#include "spillway/graph/graph.h"
#include "spillway/graph/plan.h"
#include "spillway/graph/row_roles.h"
#include "spillway/graph/rows.h"

namespace spillway::graph {

// Steps that keep the leading axis apart, planned for as many rows as are made at a time: what
// they begin with comes in rows, or as a whole.
struct RowSteps {
  struct Step {
    NodePtr node;
    std::vector<Operand> inputs;
    std::vector<Role> roles;
  };
  struct Leaf {
    Operand operand;
    RowsPtr rows;
  };
  struct Whole {
    Operand operand;
    std::shared_ptr<const Tensor> value;  // there before begin()
  };
  std::vector<Step> steps;  // in an order that can run; the last is the root
  std::vector<Leaf> leaves;
  std::vector<Whole> whole;  // those whose value is not known yet
};

class SlicedRows final : public Rows {
 public:
  // `account` pays for what plans keep.
  SlicedRows(RowSteps steps, AccountPtr account);

  Result<std::size_t> held(std::int64_t most) override;
  Status begin(std::int64_t most, const Paying& paying) override;
  Status make(std::int64_t first, std::int64_t n, std::byte* to) override;
  void end() override;
  std::int64_t least() const override { return least_; }
  std::int64_t many() const override { return many_; }
  bool wants_many() const override { return wants_many_; }

 private:
  // Null: a shape depends on values.
  Result<std::shared_ptr<const Plan>> plan(std::int64_t rows);
  Result<Tensor> leaf_rows(std::size_t leaf, std::int64_t first, std::int64_t n);

  const RowSteps steps_;
  const AccountPtr account_;
  std::int64_t least_ = 1;
  std::int64_t many_ = 1;
  bool wants_many_ = false;
  std::map<std::int64_t, std::shared_ptr<const Plan>> plans_;  // by rows; few of them
  Paying paying_;
  std::vector<BufferPtr> room_;  // of each leaf that is made
};

}  // namespace spillway::graph
