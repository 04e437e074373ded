#include "spillway/pipeline/call.h"
#include "spillway/pipeline/input.h"

namespace spillway {
namespace {

Result<Inferred> infer(const Node& node) {
  const StructurePtr out = node.function_param("map_func")->output();
  if (out == nullptr) return Inferred{nullptr, kUnknownCount};
  if (out->kind() != Structure::Kind::kDataset || out->shape().rank() != 0) {
    Status status = invalid_argument("The `map_func` argument must return a `Dataset` object. Got ",
                                     out->to_string(), ".");
    status.edit().type = "TypeError";
    return status;
  }
  return Inferred{out->children()[0], kUnknownCount};
}

// One inner pass at a time; its rows go through as they come.
class FlatMapIterator final : public Iterator {
 public:
  FlatMapIterator(const OpenContext& context, IteratorPtr outer)
      : Iterator(context.stage(), context.epoch()),
        context_(context),
        outer_(std::move(outer)),
        function_(context.node().function_param("map_func")),
        overpull_(may_overpull(*context.node().inputs()[0])) {}

  Next pull(const Demand& demand) override {
    for (;;) {
      if (inner_ != nullptr) {
        Next next = inner_->next(demand);
        if (!next.ok()) return next;
        if (next.value()) return fitted(std::move(*next.value()));
        inner_ = nullptr;
      }
      Next next = outer_.next(overpull_ ? demand : Demand::one());
      if (!next.ok() || !next.value()) return next;
      SW_RETURN_IF_ERROR(enter(*next.value()));
    }
  }

  // The outer element is named by its position and the function called again: nothing of an
  // inner dataset's making is stored.
  Status save(StateWriter& out) const override {
    out.put(inner_ != nullptr ? 1 : 0);
    SW_RETURN_IF_ERROR(outer_.save(out, outer_.position() - (inner_ != nullptr ? 1 : 0)));
    return inner_ != nullptr ? inner_->save(out) : Status();
  }
  Status restore(StateReader& in) override {
    std::int64_t inside = 0;
    SW_RETURN_IF_ERROR(in.get(inside));
    SW_RETURN_IF_ERROR(outer_.restore(in));
    if (inside == 0) return {};
    SW_ASSIGN(std::optional<Chunk> row, outer_.next(Demand::one()));
    if (!row) return invalid_argument("checkpoint: flat_map: the element in progress is gone");
    SW_RETURN_IF_ERROR(enter(*row));
    return inner_->restore(in);
  }

 private:
  // Opens the dataset made from the first of `rows`; the others go back.
  Status enter(const Chunk& rows) {
    if (rows.rows() > 1) outer_.unread(rows.slice(1, rows.rows()));
    const Chunk row = rows.slice(0, 1);
    auto outcome = call_rows(stage(), *function_, row, outer_.position() - 1, epoch());
    if (!outcome.error.ok()) return outer_.pass(std::move(outcome.error), row);
    auto dataset = dataset_result(outcome.out.columns()[0].row(0), "map_func");
    if (!dataset.ok()) return of_row(std::move(dataset).status(), row, 0);
    auto inner = context_.open_nested(dataset.value(), row.origins().at(0));
    if (!inner.ok()) return outer_.pass(of_row(std::move(inner).status(), row, 0), row);
    inner_ = std::move(inner).value();
    use(row.amount());
    return {};
  }

  Next fitted(Chunk rows) const {
    const StructurePtr& structure = stage().node().structure();
    if (structure == nullptr || structure == rows.structure()) {
      return std::optional<Chunk>(std::move(rows));
    }
    return std::optional<Chunk>(rows.with_structure(structure));
  }

  const OpenContext context_;
  Input outer_;
  const FunctionPtr function_;
  const bool overpull_;
  IteratorPtr inner_;
};

constexpr ParamDef kParams[] = {
    {"map_func", ParamType::kFunction, "", "element -> dataset"},
};

}  // namespace

extern constexpr OperatorDef flat_map_operator{
    .name = "flat_map",
    .summary = "Makes a dataset of each element and walks them one after the other.",
    .example =
        ">>> ds = sw.Dataset.from_tensor_slices([[1, 2], [3, 4]])\n"
        ">>> list(ds.flat_map(sw.Dataset.from_tensor_slices).as_numpy_iterator())\n"
        "[np.int32(1), np.int32(2), np.int32(3), np.int32(4)]",
    .params = kParams,
    .effects = Effects::kUserCode,
    .fallible = true,
    .infer = infer,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      SW_ASSIGN(IteratorPtr outer, context.open_input(0));
      return IteratorPtr(std::make_unique<FlatMapIterator>(context, std::move(outer)));
    }};

}  // namespace spillway
