#include "spillway/pipeline/call.h"
#include "spillway/pipeline/input.h"
#include "spillway/pipeline/run.h"

namespace spillway {
namespace {

// The new state must have the initial state's components and types; its shapes may change.
Status check_result(const Structure& initial, const Structure& out) {
  if (initial.components() != out.components()) {
    return invalid_argument(
        "The number of components of the initial state and the reduce function output does not "
        "match. (initial_state=",
        initial.components(), ", output=", out.components(), ").");
  }
  const auto want = initial.leaves();
  const auto got = out.leaves();
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (want[i]->dtype() == got[i]->dtype()) continue;
    Status status = invalid_argument(
        "The element types for the new state must match the initial state. Expected <dtype: '",
        name_of(want[i]->dtype()), "'> but got <dtype: '", name_of(got[i]->dtype()), "'>.");
    status.edit().type = "TypeError";
    return status;
  }
  return {};
}

Result<Inferred> infer(const Node& node) {
  const StructurePtr& initial = node.element_param("initial_state")->structure;
  const StructurePtr out = node.function_param("reduce_func")->output();
  if (out == nullptr) return Inferred{nullptr, 1};
  SW_RETURN_IF_ERROR(check_result(*initial, *out));
  // The nest is the initial state's; shapes are those that fit every call.
  const auto leaves = out->leaves();
  std::size_t at = 0;
  StructurePtr state = initial->map_leaves([&](const Structure& leaf) -> StructurePtr {
    const Structure& other = *leaves[at++];
    if (leaf.kind() != Structure::Kind::kTensor) {
      return leaf.kind() == Structure::Kind::kDataset
                 ? Structure::dataset(leaf.children()[0], leaf.shape())
                 : Structure::optional(leaf.children()[0], leaf.shape());
    }
    return Structure::tensor(leaf.dtype(), leaf.shape().common(other.shape()));
  });
  return Inferred{std::move(state), 1};
}

// One element: the state after the last call. An error is handed on; whoever asks again gets the
// state without the element that failed.
class ReduceIterator final : public Iterator {
 public:
  ReduceIterator(const OpenContext& context, IteratorPtr input)
      : Iterator(context.stage(), context.epoch()),
        input_(std::move(input)),
        function_(context.node().function_param("reduce_func")),
        initial_(context.node().element_param("initial_state")),
        overpull_(may_overpull(*context.node().inputs()[0])),
        state_(initial_->values) {}

  Next pull(const Demand&) override {
    if (done_) return end_of_data();
    for (;;) {
      if (stage().run().stop()) return cancelled();
      Next next = input_.next(overpull_ ? Demand{256} : Demand::one());
      if (!next.ok()) return next;
      if (!next.value()) break;
      const Chunk& rows = *next.value();
      const std::int64_t first = input_.position() - rows.rows();
      for (std::int64_t i = 0; i < rows.rows(); ++i) {
        Status status = step(rows.row(i), rows.structure(), first + i);
        if (status.ok()) continue;
        use(rows.amount(i));
        const std::int64_t passed = i + (is_position(status) ? 1 : 0);
        if (passed < rows.rows()) input_.unread(rows.slice(passed, rows.rows()));
        return status;
      }
      use(rows.amount());
    }
    done_ = true;
    const StructurePtr& known = stage().node().structure();
    const StructurePtr structure =
        known != nullptr ? known : observed(*initial_->structure, state_);
    return std::optional<Chunk>(Chunk::from_row(structure, Row{state_, origin_}));
  }

  Status save(StateWriter& out) const override {
    out.put(done_ ? 1 : 0);
    out.put_values(state_);
    SW_RETURN_IF_ERROR(out.status());
    return input_.save(out);
  }
  Status restore(StateReader& in) override {
    std::int64_t done = 0;
    SW_RETURN_IF_ERROR(in.get(done));
    done_ = done != 0;
    SW_ASSIGN(state_, in.get_values(account()));
    return input_.restore(in);
  }

 private:
  Status step(Row row, const StructurePtr& element, std::int64_t index) {
    std::vector<Tensor> values = state_;
    for (Tensor& value : row.values) values.push_back(std::move(value));
    const StructurePtr both = Structure::tuple({observed(*initial_->structure, state_), element});
    StructurePtr out_structure;
    SW_ASSIGN(Row out, call_row(stage(), *function_, both, std::move(values), row.origin, index,
                                epoch(), &out_structure));
    if (Status wrong = check_result(*initial_->structure, *out_structure); !wrong.ok()) {
      return losing(std::move(wrong), {1, row.origin.weight});
    }
    state_ = std::move(out.values);
    const std::int64_t weight = origin_.scope == nullptr ? 0 : origin_.weight;
    if (origin_.scope == nullptr) origin_ = row.origin;
    origin_.weight = weight + row.origin.weight;
    return {};
  }

  Input input_;
  const FunctionPtr function_;
  const ElementPtr initial_;
  const bool overpull_;
  std::vector<Tensor> state_;
  Origin origin_;  // the first element's, with the weight of all
  bool done_ = false;
};

constexpr ParamDef kParams[] = {
    {"initial_state", ParamType::kElement, "", "state of the first call"},
    {"reduce_func", ParamType::kFunction, "", "(state, element) -> new state"},
};

}  // namespace

extern constexpr OperatorDef reduce_operator{
    .name = "reduce",
    .summary = "Combines all elements into one.",
    .example =
        ">>> int(sw.Dataset.range(5).reduce(np.int64(0), lambda state, x: state + x))\n"
        "10",
    .params = kParams,
    .effects = Effects::kUserCode,
    .fallible = true,
    .ratio = Ratio::kCounted,
    .infer = infer,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      SW_ASSIGN(IteratorPtr input, context.open_input(0));
      return IteratorPtr(std::make_unique<ReduceIterator>(context, std::move(input)));
    }};

}  // namespace spillway
