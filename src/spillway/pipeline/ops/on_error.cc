#include "spillway/pipeline/operator.h"
#include "spillway/pipeline/run.h"

namespace spillway {
namespace {

Result<Inferred> infer(const Node& node) {
  SW_ASSIGN(const OnError policy, OnError::of(node, "action"));
  const Node& input = *node.inputs()[0];
  return Inferred{input.structure(), policy.skips() ? kUnknownCount : input.cardinality()};
}

// Hands on what comes; the stage settles errors as its policy says, those of the stages before it
// too.
class OnErrorIterator final : public Iterator {
 public:
  OnErrorIterator(const OpenContext& context, IteratorPtr input)
      : Iterator(context.stage(), context.epoch()), input_(std::move(input)) {}

  Next pull(const Demand& demand) override { return input_->next(demand); }
  Status save(StateWriter& out) const override { return input_->save(out); }
  Status restore(StateReader& in) override { return input_->restore(in); }

 private:
  const IteratorPtr input_;
};

// Only the stage that calls a function can call it again: stages before this one that have no
// policy of their own learn how often to try.
void teach_retries(const Run& run, const Node& node, const OnError& policy) {
  for (const NodePtr& input : node.inputs()) {
    if (input->op().name == "on_error") continue;
    if (const StagePtr stage = run.stage_of(*input);
        stage != nullptr && stage->policy().action == OnError::Action::kRaise &&
        stage->policy().retries == 0) {
      stage->set_retries(policy);
    }
    teach_retries(run, *input, policy);
  }
}

constexpr ParamDef kParams[] = {
    {"action", ParamType::kString, "", "'raise', 'skip', 'retry' or 'quarantine'"},
    {"retries", ParamType::kInt, "None", "further attempts for an element that fails", true},
    {"backoff", ParamType::kFloat, "None", "seconds before the first retry, doubled each time",
     true},
    {"max_errors", ParamType::kInt, "None", "then TooManyErrors", true},
    {"max_error_rate", ParamType::kFloat, "None", "share of elements, from the 100th on", true},
    {"quarantine", ParamType::kString, "None", "file for action='quarantine'", true},
    {"early_end", ParamType::kBool, "None",
     "True: a source that fails and gives no more may be skipped, too", true},
};

}  // namespace

extern constexpr OperatorDef on_error_operator{
    .name = "on_error",
    .summary = "Says what becomes of elements that failed in any stage before.",
    .example =
        ">>> ds = sw.Dataset.range(4).map(lambda x: 12 // x)\n"
        ">>> [int(x) for x in ds.on_error('skip')]\n"
        "[12, 6, 4]",
    .params = ParamList::without_policy(kParams),
    .passes_rows = true,
    .infer = infer,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      SW_ASSIGN(const OnError policy, OnError::of(context.node(), "action"));
      SW_RETURN_IF_ERROR(context.stage()->set_policy(policy));
      SW_ASSIGN(IteratorPtr input, context.open_input(0));
      if (policy.retries > 0) teach_retries(context.run(), context.node(), policy);
      return IteratorPtr(std::make_unique<OnErrorIterator>(context, std::move(input)));
    }};

}  // namespace spillway
