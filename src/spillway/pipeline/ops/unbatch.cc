#include <algorithm>

#include "spillway/pipeline/access.h"
#include "spillway/pipeline/element_rows.h"

namespace spillway {
namespace {

Status value_error(Status status) {
  status.edit().type = "ValueError";
  return status;
}

Result<Inferred> infer(const Node& node) {
  const Node& input = *node.inputs()[0];
  const std::int64_t n = input.cardinality();
  const StructurePtr& structure = input.structure();
  if (structure == nullptr) return Inferred{nullptr, n == kInfinite ? n : kUnknownCount};
  const std::int64_t rows = leading_dimension(*structure);
  for (const Structure* leaf : structure->leaves()) {
    if (leaf->shape().rank() == 0) {
      return value_error(invalid_argument("Cannot unbatch an input with scalar components."));
    }
    if (!leaf->shape().has_rank() || leaf->shape()[0] < 0 || leaf->shape()[0] == rows) continue;
    return value_error(invalid_argument(
        "`unbatch()` is only supported for datasets of elements whose components have a matching "
        "leading dimension. Encountered both ",
        rows, " and ", leaf->shape()[0], "."));
  }
  std::int64_t cardinality = n;
  if (n >= 0 && (rows <= 0 || __builtin_mul_overflow(n, rows, &cardinality))) {
    cardinality = kUnknownCount;
  }
  return Inferred{unbatched_structure(structure), cardinality};
}

class UnbatchIterator final : public Iterator {
 public:
  UnbatchIterator(const OpenContext& context, IteratorPtr input)
      : Iterator(context.stage(), context.epoch()),
        rows_(std::move(input), *context.node().inputs()[0], context.node().structure(),
              context.stage()->name(), context.epoch()) {}

  Next pull(const Demand& demand) override {
    Next next = rows_.next(demand.rows, demand);
    rows_.done();
    use(rows_.take_used());
    return next;
  }
  Status save(StateWriter& out) const override { return rows_.save(out); }
  Status restore(StateReader& in) override { return rows_.restore(in); }

 private:
  ElementRows rows_;
};

// Where all elements are stated to have the same number of rows.
class UnbatchIndexed final : public Indexed {
 public:
  UnbatchIndexed(const OpenContext& context, IndexedPtr input)
      : Indexed(context),
        input_(std::move(input)),
        rows_(leading_dimension(*node().inputs()[0]->structure())) {}

 protected:
  Result<Chunk> fetch(std::span<const std::int64_t> indices) override {
    std::vector<Chunk> parts;
    Chunk element;
    ScopePtr scope;
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const std::int64_t at = indices[i] / rows_;
      if (i == 0 || at != indices[i - 1] / rows_) {
        SW_ASSIGN(element, input_->at(at));
        SW_RETURN_IF_ERROR(check(element, at));
        scope = std::make_shared<OriginScope>(
            OriginScope{stage().name(), epoch(), "", element.origins().at(0)});
      }
      const std::int64_t row = indices[i] % rows_;
      std::vector<Column> columns;
      for (const Column& column : element.columns()) {
        columns.emplace_back(column.row(0).slice(row, row + 1));
      }
      const std::int64_t weight = std::max<std::int64_t>(1, scope->outer.weight / rows_);
      parts.emplace_back(node().structure(), 1, std::move(columns),
                         Origins::regular(scope, row, 1, weight));
    }
    return join_rows(node().structure(), parts);
  }

 private:
  Status check(const Chunk& element, std::int64_t index) const {
    for (const Column& column : element.columns()) {
      const Shape shape = column.row(0).shape();
      if (shape.rank() > 0 && shape[0] == rows_) continue;
      Status error = bad_data(Code::kInvalidArgument, "Input element must have ", rows_,
                              " rows in each component: ", shape.bracketed());
      error.edit().index = index;
      error.edit().origin = element.origins().describe(0);
      return error;
    }
    return {};
  }

  const IndexedPtr input_;
  const std::int64_t rows_;
};

}  // namespace

extern constexpr OperatorDef unbatch_operator{
    .name = "unbatch",
    .summary = "Takes elements apart along their first dimension.",
    .example =
        ">>> list(sw.Dataset.range(3).batch(2).unbatch().as_numpy_iterator())\n"
        "[np.int64(0), np.int64(1), np.int64(2)]",
    .params = {},
    .fallible = true,
    .ratio = Ratio::kCounted,
    .passes_rows = true,
    .infer = infer,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      SW_ASSIGN(IteratorPtr input, context.open_input(0));
      return IteratorPtr(std::make_unique<UnbatchIterator>(context, std::move(input)));
    },
    .index = [](const OpenContext& context) -> Result<IndexedPtr> {
      SW_RETURN_IF_ERROR(must_be_counted(context.node(), context.node()));
      SW_ASSIGN(IndexedPtr input, context.index_input(0));
      return IndexedPtr(std::make_unique<UnbatchIndexed>(context, std::move(input)));
    }};

}  // namespace spillway
