#pragma once

#include "spillway/graph/fit.h"
#include "spillway/graph/plan.h"

namespace spillway::graph {

// How a computation is going to run: as one plan, made to fit, or not at all.
struct Decision {
  std::vector<Operand> roots;    // every output of each, a node keeps all its values or none
  std::vector<Scheduled> order;  // what has to run for them
  std::shared_ptr<const Plan> plan;
  std::unique_ptr<Fit> fit;  // where the plan is too large; may not fit either
  std::size_t needed = 0;    // by the plan
  std::size_t limit = 0;
  bool op_by_op = false;  // a shape depends on values, or there is nothing to plan

  bool refused() const { return needed > limit && (fit == nullptr || !fit->fits()); }
  bool fitted() const { return fit != nullptr && fit->fits(); }
};

// `roots`: pending ones, none symbolic. `into`: kRows asks for a way to make the rows of the only
// root without holding it; plan is then null.
Result<Decision> decide(std::vector<Operand> roots, std::vector<Scheduled> order,
                        const AccountPtr& account, Fit::Into into = Fit::Into::kMemory);

// The pending ones of `roots`, every output of each. kUser error for symbolic ones.
Result<std::vector<Operand>> pending_roots(std::span<const Operand> roots);
// Reads back what was moved to disk: as a known value it is used where it lies.
Status read_back(std::vector<Scheduled>& order, const AccountPtr& account, Buffer::Ask ask);

}  // namespace spillway::graph
