#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "spillway/base/mutex.h"
#include "spillway/graph/plan.h"

namespace spillway::graph {

// A graph that is run again and again on whole values: what a session or a function calls. Planned
// once for each set of shapes it is given; the latest few plans are kept. Thread-safe.
class Prepared {
 public:
  // Results are computed from `given`, whose values come with each run: parameters, or operands
  // somewhere below the results, whatever would compute them. What lies on disk below is read back
  // here. kUser where a result needs a parameter that is not given.
  static Result<std::shared_ptr<Prepared>> make(std::vector<Operand> given,
                                                std::vector<Operand> results,
                                                const AccountPtr& account);

  // One value for each of `given`, one for each result; `call` is what random ops draw from. What
  // does not fit as one plan is left to evaluate(), which refuses with the numbers what cannot.
  Result<std::vector<Tensor>> run(std::span<const Tensor> values, const Call& call,
                                  const AccountPtr& account, Buffer::Ask ask);

  // The results for these values as nodes of their own that evaluate() takes, with the very numbers
  // a run would draw.
  Result<std::vector<Operand>> bound(std::span<const Tensor> values, const Call& call) const;

  std::size_t plans() const;
  // They are made again when they are needed.
  void drop_plans();

 private:
  struct Kept {
    std::vector<Spec> specs;
    std::shared_ptr<const Plan> plan;
  };
  explicit Prepared(GraphPtr graph) : graph_(std::move(graph)) {}
  Result<std::shared_ptr<const Plan>> plan_for(std::span<const Tensor> values,
                                               const AccountPtr& account);
  Result<std::vector<Tensor>> evaluated(std::span<const Tensor> values, const Call& call,
                                        const AccountPtr& account, Buffer::Ask ask) const;
  // The error of what runs, with the line that wrote it.
  Status told(Status status) const;

  const GraphPtr graph_;
  mutable Mutex mutex_;
  std::deque<Kept> plans_ SW_GUARDED_BY(mutex_);  // the latest first
};

}  // namespace spillway::graph
