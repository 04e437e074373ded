#include <utility>

#include "spillway/pipeline/call.h"
#include "spillway/pipeline/input.h"

namespace spillway {
namespace {

Result<Inferred> infer(const Node& node) {
  SW_RETURN_IF_ERROR(check_predicate(*node.function_param("predicate")));
  return Inferred{node.inputs()[0]->structure(), kUnknownCount};
}

class TakeWhileIterator final : public Iterator {
 public:
  TakeWhileIterator(const OpenContext& context, IteratorPtr input)
      : Iterator(context.stage(), context.epoch()),
        input_(std::move(input)),
        predicate_(context.node().function_param("predicate")),
        overpull_(may_overpull(*context.node().inputs()[0])) {}

  Next pull(const Demand& demand) override {
    if (!error_.ok()) return std::exchange(error_, Status());
    if (done_) return end_of_data();
    Next next = input_.next(overpull_ ? demand : demand.with_rows(1));
    if (!next.ok() || !next.value()) return next;
    const Chunk& rows = *next.value();
    const std::int64_t kept = test(rows);
    if (done_) {
      leave_out(rows.slice(kept, kept + 1).amount());
      drop(rows.slice(kept + 1, rows.rows()), "behind the end");
      drop(input_.take_rest(), "behind the end");
    } else if (!error_.ok()) {
      const std::int64_t passed = kept + (is_position(error_) ? 1 : 0);
      if (passed < rows.rows()) input_.unread(rows.slice(passed, rows.rows()));
      if (passed == kept && kept > 0) error_ = {};  // it comes again with its row
    }
    if (kept > 0) return std::optional<Chunk>(rows.slice(0, kept));
    return !error_.ok() ? Next(std::exchange(error_, Status())) : end_of_data();
  }

  Status save(StateWriter& out) const override {
    out.put(done_ ? 1 : 0);
    // A pending error is met again when its row is tested again.
    return input_.save(out, input_.position() - (error_.ok() ? 0 : 1));
  }
  Status restore(StateReader& in) override {
    std::int64_t done = 0;
    SW_RETURN_IF_ERROR(in.get(done));
    done_ = done != 0;
    return input_.restore(in);
  }

 private:
  // Rows before the first that is false (then done_) or fails (then error_). A function of the
  // front's is never called for a row behind it; a native one has no effects to be seen.
  std::int64_t test(const Chunk& rows) {
    const std::int64_t first = input_.position() - rows.rows();
    const std::int64_t step = predicate_->holds_interpreter() ? 1 : rows.rows();
    for (std::int64_t begin = 0; begin < rows.rows(); begin += step) {
      Function::Outcome outcome =
          call_rows(stage(), *predicate_, rows.slice(begin, begin + step), first + begin, epoch());
      for (std::int64_t i = 0; i < outcome.out.rows(); ++i) {
        auto keep = bool_result(outcome.out, i, "predicate");
        done_ = keep.ok() && !keep.value();
        if (!keep.ok()) error_ = of_row(std::move(keep).status(), rows, begin + i);
        if (done_ || !error_.ok()) return begin + i;
      }
      if (!outcome.error.ok()) {
        error_ = std::move(outcome.error);
        return begin + outcome.out.rows();
      }
    }
    return rows.rows();
  }

  Input input_;
  const FunctionPtr predicate_;
  const bool overpull_;
  Status error_;  // of the row at position() - 1
  bool done_ = false;
};

constexpr ParamDef kParams[] = {
    {"predicate", ParamType::kFunction, "", "element -> boolean scalar"},
};

}  // namespace

extern constexpr OperatorDef take_while_operator{
    .name = "take_while",
    .summary = "Ends before the first element for which `predicate` is false.",
    .example =
        ">>> list(sw.Dataset.range(10).take_while(lambda x: x < 2).as_numpy_iterator())\n"
        "[np.int64(0), np.int64(1)]",
    .params = kParams,
    .effects = Effects::kUserCode,
    .fallible = true,
    .functions_only = true,
    .passes_rows = true,
    .infer = infer,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      SW_ASSIGN(IteratorPtr input, context.open_input(0));
      return IteratorPtr(std::make_unique<TakeWhileIterator>(context, std::move(input)));
    }};

}  // namespace spillway
