#include "spillway/pipeline/operator.h"

namespace spillway {
namespace {

// How many will be left is not known.
Result<Inferred> infer(const Node& node) {
  return Inferred{node.inputs()[0]->structure(), kUnknownCount};
}

// Hands on what comes; the stage settles errors as its policy says, those of the stages before it
// too.
class IgnoreErrorsIterator final : public Iterator {
 public:
  IgnoreErrorsIterator(const OpenContext& context, IteratorPtr input)
      : Iterator(context.stage(), context.epoch()), input_(std::move(input)) {}

  Next pull(const Demand& demand) override { return input_->next(demand); }
  Status save(StateWriter& out) const override { return input_->save(out); }
  Status restore(StateReader& in) override { return input_->restore(in); }

 private:
  const IteratorPtr input_;
};

constexpr ParamDef kParams[] = {
    {"log_warning", ParamType::kBool, "False", "whether the front warns of each one", true},
};

}  // namespace

extern constexpr OperatorDef ignore_errors_operator{
    .name = "ignore_errors",
    .summary = "Leaves out the elements that failed; the audit names each of them.",
    .example =
        ">>> ds = sw.Dataset.range(4).map(lambda x: 12 // x)\n"
        ">>> [int(x) for x in ds.ignore_errors()]\n"
        "[12, 6, 4]",
    .params = ParamList::without_policy(kParams),
    .passes_rows = true,
    .infer = infer,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      OnError policy;
      policy.action = OnError::Action::kSkip;
      policy.early_end = true;  // as in TensorFlow; a warning says it
      policy.warns = context.node().bool_param("log_warning");
      SW_RETURN_IF_ERROR(context.stage()->set_policy(std::move(policy)));
      SW_ASSIGN(IteratorPtr input, context.open_input(0));
      return IteratorPtr(std::make_unique<IgnoreErrorsIterator>(context, std::move(input)));
    }};

}  // namespace spillway
