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
        predicate_(context.node().function_param("predicate")) {}

  Next pull(const Demand& demand) override {
    for (;;) {
      if (!error_.ok()) return std::exchange(error_, Status());
      Next next = input_.next(demand);
      if (!next.ok() || !next.value()) return next;
      const Chunk& rows = *next.value();
      const std::int64_t first = input_.position() - rows.rows();
      Function::Outcome outcome = call_rows(stage(), *predicate_, rows, first, epoch());
      std::int64_t tested = 0;
      std::vector<std::int64_t> kept;
      if (const bool* verdicts = bool_results(outcome.out)) {
        kept.reserve(static_cast<std::size_t>(outcome.out.rows()));
        for (; tested < outcome.out.rows(); ++tested) {
          if (verdicts[tested]) kept.push_back(tested);
        }
      }
      for (; tested < outcome.out.rows(); ++tested) {
        auto keep = bool_result(outcome.out, tested, "predicate");
        if (!keep.ok()) {
          outcome.error = std::move(keep).status();
          break;
        }
        if (keep.value()) kept.push_back(tested);
      }
      if (!outcome.error.ok()) {
        error_ = std::move(outcome.error);
        if (tested + 1 < rows.rows()) input_.unread(rows.slice(tested + 1, rows.rows()));
      }
      stats().used += static_cast<std::int64_t>(kept.size());
      stats().filtered += tested - static_cast<std::int64_t>(kept.size());
      if (kept.empty()) continue;
      if (static_cast<std::int64_t>(kept.size()) == rows.rows()) return next;
      return std::optional<Chunk>(select_rows(account(), rows, kept));
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
  Input input_;
  const FunctionPtr predicate_;
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
    .ratio = Ratio::kCounted,
    .infer = infer,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      SW_ASSIGN(IteratorPtr input, context.open_input(0));
      return IteratorPtr(std::make_unique<FilterIterator>(context, std::move(input)));
    }};

}  // namespace spillway
