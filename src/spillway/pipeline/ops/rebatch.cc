#include <algorithm>
#include <optional>
#include <utility>

#include "spillway/pipeline/element_rows.h"
#include "spillway/pipeline/row_gatherer.h"

namespace spillway {
namespace {

Status value_error(Status status) {
  status.edit().type = "ValueError";
  return status;
}

// The one size all batches have for sure, or -1: sizes that differ, or a remainder is possible.
std::int64_t static_size(const std::vector<std::int64_t>& sizes, bool drop, std::int64_t leading) {
  if (!std::ranges::all_of(sizes, [&](std::int64_t s) { return s == sizes[0]; })) return -1;
  if (drop) return sizes[0];
  return leading >= 0 && sizes[0] > 0 && leading % sizes[0] == 0 ? sizes[0] : -1;
}

Result<Inferred> infer(const Node& node) {
  const std::vector<std::int64_t> sizes = node.ints_param("batch_size");
  if (sizes.empty() || std::ranges::any_of(sizes, [](std::int64_t s) { return s < 0; })) {
    return invalid_argument("rebatch: batch_size must be one or several sizes of at least zero");
  }
  const StructurePtr& structure = node.inputs()[0]->structure();
  if (structure == nullptr) return Inferred{nullptr, kUnknownCount};
  const std::int64_t leading = leading_dimension(*structure);
  // TensorFlow compares with the input only where that decides the batches' static size.
  const bool one_size = !node.bool_param("drop_remainder") &&
                        std::ranges::all_of(sizes, [&](std::int64_t s) { return s == sizes[0]; });
  std::size_t component = 0;
  for (const Structure* leaf : structure->leaves()) {
    if (leaf->shape().rank() == 0) {
      return value_error(invalid_argument(
          "Invalid `batch_sizes`. Expected dataset with rank of >= 1 but found a dataset with "
          "scalar elements. Fix the issue by adding the `batch` transformation to the dataset."));
    }
    if (one_size && leaf->shape().has_rank() && leaf->shape()[0] >= 0 &&
        leaf->shape()[0] != leading) {
      return value_error(invalid_argument(
          "Invalid `input_dataset`. The batch dimension of component 0 is ", leading,
          ", while the batch dimension of component ", component, " is ", leaf->shape()[0], "."));
    }
    ++component;
  }
  const std::int64_t size = static_size(sizes, node.bool_param("drop_remainder"), leading);
  return Inferred{batched_structure(unbatched_structure(structure), size), kUnknownCount};
}

class RebatchIterator final : public Iterator {
 public:
  RebatchIterator(const OpenContext& context, IteratorPtr input)
      : Iterator(context.stage(), context.epoch()),
        rows_(std::move(input), *context.node().inputs()[0],
              unbatched_structure(context.node().inputs()[0]->structure()), context.stage()->name(),
              context.epoch()),
        sizes_(context.node().ints_param("batch_size")),
        drop_(context.node().bool_param("drop_remainder")),
        structure_(context.node().structure()) {}

  Next pull(const Demand& demand) override {
    if (done_ != 0 && !batch_) return end_of_data();
    if (!batch_) batch_.emplace(account(), sizes_[static_cast<std::size_t>(turn_)], -1);
    Next next = gather(demand, *batch_);
    // Without memory the batch stays as it is, and is made another time.
    if (!next.ok() && !is_position(next.error())) return next;
    batch_.reset();
    rows_.done();
    return next;
  }

  Status save(StateWriter& out) const override {
    out.put(turn_);
    out.put(batch_ ? 0 : done_);  // a batch under way is gathered anew
    return rows_.save(out);
  }
  Status restore(StateReader& in) override {
    SW_RETURN_IF_ERROR(in.get(turn_));
    SW_RETURN_IF_ERROR(in.get(done_));
    if (turn_ < 0 || turn_ >= static_cast<std::int64_t>(sizes_.size())) {
      return invalid_argument("checkpoint: rebatch: bad position");
    }
    return rows_.restore(in);
  }

 private:
  Next gather(const Demand& demand, RowGatherer& batch) {
    const std::int64_t size = sizes_[static_cast<std::size_t>(turn_)];
    while (batch.rows() < size && done_ == 0) {
      batch.count_waiting();
      Next next = rest_ ? Next(std::exchange(rest_, std::nullopt))
                        : rows_.next(size - batch.rows(), demand);
      if (!next.ok()) {  // what was gathered is gone, as in TensorFlow
        if (is_position(next.error())) drop(rows_.take_used(), "of a batch with one that failed");
        return next;
      }
      if (!next.value()) {
        done_ = 1;
        break;
      }
      if (structure_ == nullptr) {
        structure_ = batched_structure(next.value()->structure(), kUnknownDim);
      }
      if (Status added = batch.add(*next.value()); !added.ok()) {
        rest_ = std::move(*next.value());
        return added;
      }
    }
    if (size == 0) return turned(empty_batch());
    if (drop_ && batch.rows() < size) drop(rows_.take_used(), "of a remainder");
    if (batch.rows() == 0 || (drop_ && batch.rows() < size)) {
      use(rows_.take_used());
      return end_of_data();
    }
    if (const auto* mismatch = batch.mismatch()) return turned(different_shapes(*mismatch));
    SW_ASSIGN(Row row, batch.finish());
    use(rows_.take_used());
    return turned(std::optional<Chunk>(Chunk::from_row(structure_, std::move(row))));
  }

  // The next batch has the next size.
  Next turned(Next batch) {
    if (batch.ok() || is_position(batch.error())) {
      turn_ = (turn_ + 1) % static_cast<std::int64_t>(sizes_.size());
    }
    return batch;
  }

  Status different_shapes(const RowGatherer::Mismatch& mismatch) {
    Status error = bad_data(
        Code::kFailedPrecondition, "Cannot rebatch rows with different shapes in component ",
        mismatch.component, ". First row had shape ", mismatch.first.bracketed(), " and row ",
        mismatch.row, " had shape ", mismatch.shape.bracketed(), ".");
    error.edit().origin = mismatch.origin;
    return losing(std::move(error), rows_.take_used());
  }

  // Made without reading: what is not known of its shape is zero.
  Next empty_batch() {
    if (structure_ == nullptr) {
      return Status::error(ErrorKind::kUser, Code::kFailedPrecondition,
                           "rebatch: a batch of size 0 needs to know its elements' types");
    }
    Row row;
    for (const Structure* leaf : structure_->leaves()) {
      std::vector<std::int64_t> dims{0};
      if (leaf->shape().has_rank())
        dims.assign(leaf->shape().dims().begin(), leaf->shape().dims().end());
      dims[0] = 0;
      for (std::int64_t& dim : dims) dim = std::max<std::int64_t>(0, dim);
      const Shape shape{std::span<const std::int64_t>(dims)};
      if (leaf->dtype() == DType::kString) {
        SW_ASSIGN(Tensor none, make_strings(account(), shape, {}));
        row.values.push_back(std::move(none));
      } else if (leaf->dtype() == DType::kVariant) {
        row.values.push_back(
            Tensor::of_variants(shape, std::make_shared<std::vector<VariantPtr>>()));
      } else {
        SW_ASSIGN(Tensor none, make_tensor(account(), leaf->dtype(), shape));
        row.values.push_back(std::move(none));
      }
    }
    row.origin.weight = 0;
    return std::optional<Chunk>(Chunk::from_row(structure_, std::move(row)));
  }

  ElementRows rows_;
  std::optional<RowGatherer> batch_;  // being gathered
  std::optional<Chunk> rest_;         // rows that found no room in it
  const std::vector<std::int64_t> sizes_;
  const bool drop_;
  StructurePtr structure_;
  std::int64_t turn_ = 0;  // in sizes_
  std::int64_t done_ = 0;  // the input has ended
};

constexpr ParamDef kParams[] = {
    {"batch_size", ParamType::kInts, "", "rows in a batch; several sizes take turns"},
    {"drop_remainder", ParamType::kBool, "False", "leave out a last batch that is not full"},
};

}  // namespace

extern constexpr OperatorDef rebatch_operator{
    .name = "rebatch",
    .summary = "Cuts batches into batches of another size.",
    .example =
        ">>> list(sw.Dataset.range(6).batch(2).rebatch(3).as_numpy_iterator())\n"
        "[array([0, 1, 2]), array([3, 4, 5])]",
    .params = kParams,
    .fallible = true,
    .ratio = Ratio::kCounted,
    .infer = infer,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      SW_ASSIGN(IteratorPtr input, context.open_input(0));
      return IteratorPtr(std::make_unique<RebatchIterator>(context, std::move(input)));
    }};

}  // namespace spillway
