#include "spillway/pipeline/call.h"
#include "spillway/pipeline/input.h"

namespace spillway {
namespace {

Result<Inferred> infer(const Node& node) {
  SW_RETURN_IF_ERROR(check_predicate(*node.function_param("predicate")));
  return Inferred{node.inputs()[0]->structure(), kUnknownCount};
}

class FilterIterator final : public Iterator {
 public:
  FilterIterator(const OpenContext& context, IteratorPtr input)
      : Iterator(context.stage(), context.epoch()),
        input_(std::move(input)),
        predicate_(context.node().function_param("predicate")),
        structure_(context.node().structure()) {
    if (const FunctionPtr both = predicate_->beside(structure_)) {
      made_and_tested_ = input_.below().merge_into(*both);
    }
  }

  Next pull(const Demand& demand) override {
    for (;;) {
      if (!error_.ok()) return std::exchange(error_, Status());
      if (made_and_tested_ != nullptr) SW_RETURN_IF_ERROR(stage().admit());
      Next next = input_.next(demand);
      if (!next.ok() || !next.value()) return next;
      Tested some = test(std::move(*next.value()), demand);
      std::int64_t tested = 0;
      std::vector<std::int64_t> kept;
      if (const bool* verdicts = bool_results(some.verdicts)) {
        kept.reserve(static_cast<std::size_t>(some.verdicts.rows()));
        for (; tested < some.verdicts.rows(); ++tested) {
          if (verdicts[tested]) kept.push_back(tested);
        }
      }
      for (; tested < some.verdicts.rows(); ++tested) {
        auto keep = bool_result(some.verdicts, tested, "predicate");
        if (!keep.ok()) {
          some.error = of_row(std::move(keep).status(), some.input, tested);
          break;
        }
        if (keep.value()) kept.push_back(tested);
      }
      const bool failed = !some.error.ok() && is_position(some.error);
      const std::int64_t done = tested + (failed ? 1 : 0);
      if (done < some.input.rows()) input_.unread(some.input.slice(done, some.input.rows()));
      if (tested == 0 && !some.error.ok()) return std::move(some.error);
      if (failed) error_ = std::move(some.error);
      const Amount all = some.input.amount(tested);
      if (kept.empty()) {
        leave_out(all);
        continue;
      }
      if (static_cast<std::int64_t>(kept.size()) == some.rows.rows()) {
        return std::optional<Chunk>(std::move(some.rows));
      }
      Chunk out = select_rows(account(), some.rows, kept);
      leave_out(all - out.amount());
      return std::optional<Chunk>(std::move(out));
    }
  }

  Status save(StateWriter& out) const override {
    out.put(error_.ok() ? 0 : 1);
    // A pending error is met again when its row is tested again.
    return input_.save(out, input_.position() - (error_.ok() ? 0 : 1));
  }
  Status restore(StateReader& in) override {
    std::int64_t pending = 0;
    SW_RETURN_IF_ERROR(in.get(pending));
    return input_.restore(in);
  }

 private:
  struct Tested {
    Chunk input;
    Chunk rows;      // what may be handed on, as far as it was tested
    Chunk verdicts;  // one a tested row
    Status error;    // of the row behind them
  };

  Tested test(Chunk input, const Demand& demand) {
    const std::int64_t first = input_.position() - input.rows();
    if (made_and_tested_ == nullptr) {
      Function::Outcome outcome = call_rows(stage(), *predicate_, input, first, epoch());
      return {input, input, std::move(outcome.out), std::move(outcome.error)};
    }
    Function::Outcome outcome =
        call_rows(stage(), *made_and_tested_, input, first, epoch(), &demand);
    const Chunk& both = outcome.out;
    Tested out{std::move(input), {}, {}, std::move(outcome.error)};
    if (both.rows() == 0) return out;
    std::vector<Column> columns = both.columns();
    std::vector<Column> verdict{std::move(columns.back())};
    columns.pop_back();
    out.rows = Chunk(structure_, both.rows(), std::move(columns), both.origins());
    out.verdicts = Chunk(predicate_->output(), both.rows(), std::move(verdict), both.origins());
    return out;
  }

  Input input_;
  const FunctionPtr predicate_;
  const StructurePtr structure_;
  FunctionPtr made_and_tested_;  // what the map below makes, and the verdict; null: only tests
  Status error_;
};

constexpr ParamDef kParams[] = {
    {"predicate", ParamType::kFunction, "", "element -> boolean scalar"},
};

}  // namespace

extern constexpr OperatorDef filter_operator{
    .name = "filter",
    .summary = "Keeps the elements for which `predicate` is true.",
    .example =
        ">>> list(sw.Dataset.range(5).filter(lambda x: x % 2 == 0).as_numpy_iterator())\n"
        "[np.int64(0), np.int64(2), np.int64(4)]",
    .params = kParams,
    .effects = Effects::kUserCode,
    .fallible = true,
    .functions_only = true,
    .infer = infer,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      SW_ASSIGN(IteratorPtr input, context.open_input(0));
      return IteratorPtr(std::make_unique<FilterIterator>(context, std::move(input)));
    }};

}  // namespace spillway
