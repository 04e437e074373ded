#include <algorithm>

#include "spillway/pipeline/access.h"

namespace spillway {
namespace {

Status value_error(Status status) {
  status.edit().type = "ValueError";
  return status;
}

// Every component has the same number of rows, which is the cardinality.
Result<Inferred> infer(const Node& node) {
  const ElementPtr element = node.element_param("tensors");
  if (element == nullptr || element->values.empty()) {
    return value_error(invalid_argument("Invalid `element`. `element` should not be empty."));
  }
  for (const Tensor& value : element->values) {
    if (value.shape().rank() > 0) continue;
    return value_error(
        value.dtype() == DType::kVariant
            ? invalid_argument("Slicing dataset elements is not supported for rank 0.")
            : invalid_argument("Unbatching a tensor is only supported for rank >= 1"));
  }
  const std::int64_t rows = element->values[0].shape()[0];
  for (const Tensor& value : element->values) {
    if (value.shape()[0] == rows) continue;
    return value_error(
        invalid_argument("Dimensions ", rows, " and ", value.shape()[0], " are not compatible"));
  }
  std::vector<Tensor> first;
  for (const Tensor& value : element->values) {
    // The shape of a row; there may be none to look at.
    first.push_back(value.reshaped(value.shape().without_leading()));
  }
  return Inferred{observed(*element->structure, first), rows};
}

class SlicesIterator final : public Iterator {
 public:
  explicit SlicesIterator(const OpenContext& context)
      : Iterator(context.stage(), context.epoch()),
        element_(context.node().element_param("tensors")),
        scope_(context.source_scope()),
        rows_(context.node().cardinality()) {
    std::size_t bytes = 0;
    for (const Tensor& value : element_->values) bytes += value.footprint();
    row_bytes_ = rows_ == 0 ? 1 : std::max<std::size_t>(1, bytes / static_cast<std::size_t>(rows_));
  }

  // Views: nothing is copied. Bounded by the demand all the same, because whoever works on the
  // rows next makes something of their size.
  Next pull(const Demand& demand) override {
    if (at_ >= rows_) return end_of_data();
    const auto fit =
        std::max<std::int64_t>(1, static_cast<std::int64_t>(demand.bytes / row_bytes_));
    const std::int64_t rows = std::min({demand.rows, fit, rows_ - at_});
    std::vector<Column> columns;
    columns.reserve(element_->values.size());
    for (const Tensor& value : element_->values) columns.emplace_back(value.slice(at_, at_ + rows));
    Chunk chunk(stage().node().structure(), rows, std::move(columns),
                Origins::regular(scope_, at_));
    at_ += rows;
    return std::optional<Chunk>(std::move(chunk));
  }

  Status skip(std::int64_t rows) override {
    at_ += std::min(rows, rows_ - at_);
    return {};
  }
  Status save(StateWriter& out) const override {
    out.put(at_);
    return {};
  }
  Status restore(StateReader& in) override { return in.get_count(at_, rows_); }

 private:
  const ElementPtr element_;
  const ScopePtr scope_;
  const std::int64_t rows_;
  std::size_t row_bytes_ = 1;
  std::int64_t at_ = 0;
};

class SlicesIndexed final : public Indexed {
 public:
  explicit SlicesIndexed(const OpenContext& context)
      : Indexed(context),
        element_(node().element_param("tensors")),
        scope_(context.source_scope()) {}

 protected:
  Result<Chunk> fetch(std::span<const std::int64_t> indices) override {
    std::vector<Column> columns;
    columns.reserve(element_->values.size());
    for (const Tensor& value : element_->values) {
      SW_ASSIGN(Tensor block, gather_rows(account(), value, indices));
      columns.emplace_back(std::move(block));
    }
    return Chunk(node().structure(), static_cast<std::int64_t>(indices.size()), std::move(columns),
                 Origins::scattered(scope_, {indices.begin(), indices.end()}));
  }

 private:
  const ElementPtr element_;
  const ScopePtr scope_;
};

constexpr ParamDef kParams[] = {
    {"tensors", ParamType::kSlices, "",
     "arrays, or tuples and dicts of them, with the same first dimension"},
};

}  // namespace

extern constexpr OperatorDef from_tensor_slices_operator{
    .name = "from_tensor_slices",
    .summary = "One element for each index of the tensors' first dimension.",
    .example =
        ">>> list(sw.Dataset.from_tensor_slices([1, 2, 3]).as_numpy_iterator())\n"
        "[np.int32(1), np.int32(2), np.int32(3)]",
    .params = kParams,
    .inputs = 0,
    .ratio = Ratio::kSource,
    .infer = infer,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      return IteratorPtr(std::make_unique<SlicesIterator>(context));
    },
    .index = [](const OpenContext& context) -> Result<IndexedPtr> {
      return IndexedPtr(std::make_unique<SlicesIndexed>(context));
    }};

}  // namespace spillway
