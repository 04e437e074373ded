#include "spillway/base/clock.h"
#include "spillway/pipeline/call.h"
#include "spillway/pipeline/input.h"

namespace spillway {
namespace {

Status type_error(Status status) {
  status.edit().type = "TypeError";
  return status;
}

// What `scan_func` returns must be (state, output), the state of the initial state's types; its
// shapes may change from call to call.
Status check_result(const Structure& initial, const Structure& out) {
  if (out.kind() != Structure::Kind::kTuple || out.children().size() != 2) {
    return type_error(invalid_argument(
        "Invalid `scan_func`. `scan_func` should return a pair consisting of new state and the "
        "output value but its return type is ",
        out.to_string(), "."));
  }
  const Structure& state = *out.children()[0];
  if (!initial.same_nest(state)) {
    return type_error(invalid_argument(
        "Invalid `scan_func`. The element classes for the new state must match the initial "
        "state. Expected ",
        initial.to_string(), ", got ", state.to_string(), "."));
  }
  const auto want = initial.leaves();
  const auto got = state.leaves();
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (want[i]->dtype() == got[i]->dtype()) continue;
    return type_error(invalid_argument(
        "Invalid `scan_func`. The element types for the new state must match the initial state. "
        "Expected <dtype: '",
        name_of(want[i]->dtype()), "'>, got <dtype: '", name_of(got[i]->dtype()), "'>."));
  }
  return {};
}

Result<Inferred> infer(const Node& node) {
  const Node& input = *node.inputs()[0];
  const StructurePtr out = node.function_param("scan_func")->output();
  if (out == nullptr) return Inferred{nullptr, input.cardinality()};
  SW_RETURN_IF_ERROR(check_result(*node.element_param("initial_state")->structure, *out));
  return Inferred{out->children()[1], input.cardinality()};
}

// One call after the other: each needs the state the one before left. An element that fails
// leaves the state as it was.
class ScanIterator final : public Iterator {
 public:
  ScanIterator(const OpenContext& context, IteratorPtr input)
      : Iterator(context.stage(), context.epoch()),
        input_(std::move(input)),
        function_(context.node().function_param("scan_func")),
        initial_(context.node().element_param("initial_state")),
        overpull_(may_overpull(*context.node().inputs()[0])),
        state_(initial_->values) {}

  Next pull(const Demand& demand) override {
    if (!error_.ok()) return std::exchange(error_, Status());
    Next next = input_.next(overpull_ ? demand : Demand::one());
    if (!next.ok() || !next.value()) return next;
    const Chunk& rows = *next.value();
    const std::int64_t first = input_.position() - rows.rows();
    const std::int64_t until = now_ns() + demand.time_ns;
    std::vector<Row> made;
    StructurePtr structure = stage().node().structure();
    std::int64_t i = 0;
    while (i < rows.rows() && error_.ok()) {
      auto row = step(rows.row(i), rows.structure(), first + i, structure);
      if (!row.ok() && !is_position(row.error())) {
        input_.unread(rows.slice(i, rows.rows()));
        if (made.empty()) return std::move(row).status();
        return std::optional<Chunk>(Chunk::from_rows(structure, std::move(made)));
      }
      ++i;
      if (row.ok()) {
        made.push_back(std::move(row).value());
      } else {
        error_ = std::move(row).status();
      }
      // Finished rows are not held back for a slow function.
      if (now_ns() > until) break;
    }
    if (i < rows.rows()) input_.unread(rows.slice(i, rows.rows()));
    if (made.empty()) return std::exchange(error_, Status());
    return std::optional<Chunk>(Chunk::from_rows(structure, std::move(made)));
  }

  // A pending error is met again when its element is: it left no trace in the state.
  Status save(StateWriter& out) const override {
    out.put_values(state_);
    SW_RETURN_IF_ERROR(out.status());
    return input_.save(out, input_.position() - (error_.ok() ? 0 : 1));
  }
  Status restore(StateReader& in) override {
    SW_ASSIGN(state_, in.get_values(account()));
    return input_.restore(in);
  }

 private:
  Result<Row> step(Row row, const StructurePtr& element, std::int64_t index,
                   StructurePtr& structure) {
    std::vector<Tensor> values = state_;
    for (Tensor& value : row.values) values.push_back(std::move(value));
    const StructurePtr both = Structure::tuple({observed(*initial_->structure, state_), element});
    StructurePtr out_structure;
    SW_ASSIGN(Row out, call_row(stage(), *function_, both, std::move(values), row.origin, index,
                                epoch(), &out_structure));
    if (Status wrong = check_result(*initial_->structure, *out_structure); !wrong.ok()) {
      return losing(std::move(wrong), {1, row.origin.weight});
    }
    if (structure == nullptr) structure = out_structure->children()[1];
    const auto middle = out.values.begin() + static_cast<std::ptrdiff_t>(state_.size());
    state_.assign(std::make_move_iterator(out.values.begin()), std::make_move_iterator(middle));
    out.values.erase(out.values.begin(), middle);
    out.origin = std::move(row.origin);
    return out;
  }

  Input input_;
  const FunctionPtr function_;
  const ElementPtr initial_;
  const bool overpull_;
  std::vector<Tensor> state_;
  Status error_;
};

constexpr ParamDef kParams[] = {
    {"initial_state", ParamType::kElement, "", "state of the first call"},
    {"scan_func", ParamType::kFunction, "", "(state, element) -> (new state, output)"},
};

}  // namespace

extern constexpr OperatorDef scan_operator{
    .name = "scan",
    .summary = "Applies a function that carries a state from element to element.",
    .example =
        ">>> ds = sw.Dataset.range(4).scan(np.int64(0), lambda state, x: (state + x, state))\n"
        ">>> [int(x) for x in ds.as_numpy_iterator()]\n"
        "[0, 0, 1, 3]",
    .params = kParams,
    .effects = Effects::kUserCode,
    .fallible = true,
    .infer = infer,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      SW_ASSIGN(IteratorPtr input, context.open_input(0, context.epoch(), context.bound()));
      return IteratorPtr(std::make_unique<ScanIterator>(context, std::move(input)));
    }};

}  // namespace spillway
