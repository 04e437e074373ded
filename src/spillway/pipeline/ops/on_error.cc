#include "spillway/pipeline/operator.h"
#include "spillway/pipeline/run.h"

namespace spillway {
namespace {

Result<OnError> policy_of(const Node& node) {
  OnError policy;
  SW_ASSIGN(policy.action, OnError::parse(node.string_param("action")));
  const bool retries = policy.action == OnError::Action::kRetry;
  policy.retries = node.int_param("retries", retries ? 2 : 0);
  policy.backoff_s = node.float_param("backoff", 0.1);
  policy.max_errors = node.int_param("max_errors", -1);
  policy.max_error_rate = node.float_param("max_error_rate", -1);
  policy.quarantine = node.string_param("quarantine");
  if (policy.action == OnError::Action::kQuarantine && policy.quarantine.empty()) {
    return invalid_argument("on_error: action='quarantine' must come with quarantine=<file>");
  }
  return policy;
}

Result<Inferred> infer(const Node& node) {
  SW_ASSIGN(const OnError policy, policy_of(node));
  const bool skips =
      policy.action == OnError::Action::kSkip || policy.action == OnError::Action::kQuarantine;
  const Node& input = *node.inputs()[0];
  return Inferred{input.structure(), skips ? kUnknownCount : input.cardinality()};
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
      OnError own = stage->policy();
      own.retries = policy.retries;
      own.backoff_s = policy.backoff_s;
      stage->set_policy(std::move(own), nullptr);
    }
    teach_retries(run, *input, policy);
  }
}

constexpr ParamDef kParams[] = {
    {"action", ParamType::kString, "", "'raise', 'skip', 'retry' or 'quarantine'"},
    {"retries", ParamType::kInt, "None", "further attempts for an element that fails", true},
    {"backoff", ParamType::kFloat, "0.1", "seconds before the first retry, doubled each time",
     true},
    {"max_errors", ParamType::kInt, "None", "then TooManyErrors", true},
    {"max_error_rate", ParamType::kFloat, "None", "share of elements, from the 100th on", true},
    {"quarantine", ParamType::kString, "None", "file for action='quarantine'", true},
};

}  // namespace

extern constexpr OperatorDef on_error_operator{
    .name = "on_error",
    .summary = "Says what becomes of elements that failed in any stage before.",
    .example =
        ">>> ds = sw.Dataset.range(4).map(lambda x: 12 // x)\n"
        ">>> [int(x) for x in ds.on_error('skip')]\n"
        "[12, 6, 4]",
    .params = kParams,
    .passes_rows = true,
    .infer = infer,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      SW_ASSIGN(const OnError policy, policy_of(context.node()));
      std::shared_ptr<Quarantine> quarantine;
      if (policy.action == OnError::Action::kQuarantine) {
        SW_ASSIGN(quarantine, Quarantine::open(policy.quarantine));
      }
      context.stage()->set_policy(policy, std::move(quarantine));
      SW_ASSIGN(IteratorPtr input, context.open_input(0));
      if (policy.retries > 0) teach_retries(context.run(), context.node(), policy);
      return IteratorPtr(std::make_unique<OnErrorIterator>(context, std::move(input)));
    }};

}  // namespace spillway
