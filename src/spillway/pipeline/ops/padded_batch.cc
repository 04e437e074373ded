#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include "spillway/base/bytes.h"
#include "spillway/memory/filling.h"
#include "spillway/pipeline/dropped_rows.h"
#include "spillway/pipeline/input.h"
#include "spillway/pipeline/row_gatherer.h"
#include "spillway/pipeline/waiting_rows.h"

namespace spillway {
namespace {

Status refused(std::string_view type, Status status) {
  status.edit().type = type;
  return status;
}

bool has_none(const Structure& structure) {
  if (structure.is_component()) return false;
  return structure.kind() == Structure::Kind::kNone ||
         std::ranges::any_of(structure.children(), [](const auto& c) { return has_none(*c); });
}

Status check_elements(const Structure& structure) {
  for (const Structure* leaf : structure.leaves()) {
    if (leaf->kind() == Structure::Kind::kTensor) continue;
    return refused("TypeError",
                   invalid_argument("`padded_batch` is not supported for datasets of datasets"));
  }
  if (has_none(structure)) {
    return refused(
        "TypeError",
        invalid_argument("`padded_batch` is only supported for datasets that produce "
                         "tensor elements but type spec of elements in the input "
                         "dataset is not a subclass of TensorSpec: `NoneTensorSpec()`."));
  }
  return {};
}

// The shape every row of component `c` is padded to; -1: the largest of its batch.
Result<Shape> target_of(const Node& node, const Structure& leaf, std::size_t c) {
  const StructurePtr given = node.signature_param("padded_shapes");
  if (given == nullptr) {
    if (leaf.shape().has_rank()) return leaf.shape();
    return refused("ValueError",
                   invalid_argument("You must provide `padded_shapes` argument because component ",
                                    c, " has unknown rank."));
  }
  const Shape& shape = given->leaves()[c]->shape();
  if (!shape.has_rank() && leaf.shape().has_rank()) {
    return Shape(std::span<const std::int64_t>(
        std::vector<std::int64_t>(static_cast<std::size_t>(leaf.shape().rank()), kUnknownDim)));
  }
  bool fits = !leaf.shape().has_rank() || leaf.shape().rank() == shape.rank();
  for (int i = 0; fits && leaf.shape().has_rank() && i < shape.rank(); ++i) {
    fits = shape[i] < 0 || shape[i] >= leaf.shape()[i];
  }
  if (fits) return shape;
  return refused(
      "ValueError",
      invalid_argument("The padded shape ", shape.to_string(), " is not compatible with the shape ",
                       leaf.shape().to_string(), " of the corresponding input component."));
}

// What component `c` of `components` is padded with; no value: zeros or empty strings.
// The parameter is None, an element with a scalar for each component, one scalar for all of them,
// or a list with such an element or None for each.
Tensor padding_of(const Node& node, std::size_t c) {
  const Value& value = node.param("padding_values");
  if (const ElementPtr all = node.element_param("padding_values")) {
    return all->values[all->values.size() == 1 ? 0 : c];
  }
  if (const auto* list = std::get_if<std::shared_ptr<const ValueList>>(&value)) {
    const auto& items = (*list)->items;
    const auto* one = c < items.size() ? std::get_if<ElementPtr>(&items[c]) : nullptr;
    if (one != nullptr && *one != nullptr && !(*one)->values.empty()) return (*one)->values[0];
  }
  return {};
}

Status check_padding(const Tensor& padding, DType dtype) {
  if (!padding.has_value()) return {};
  if (padding.shape().rank() != 0) {
    return refused("ValueError", invalid_argument("Invalid `padding_values`. `padding_values` "
                                                  "values should be scalars, but got ",
                                                  padding.shape().to_string(), "."));
  }
  if (padding.dtype() != dtype) {
    return refused("TypeError",
                   invalid_argument("Invalid `padding_values`. `padding_values` values type "
                                    "<dtype: '",
                                    name_of(padding.dtype()), "'> does not match type <dtype: '",
                                    name_of(dtype), "'> of the corresponding input component."));
  }
  return {};
}

Status check_counts(const Node& node, std::size_t components) {
  const StructurePtr shapes = node.signature_param("padded_shapes");
  const ElementPtr values = node.element_param("padding_values");
  const auto* list = std::get_if<std::shared_ptr<const ValueList>>(&node.param("padding_values"));
  const bool fits =
      (shapes == nullptr || shapes->components() == components) &&
      (values == nullptr || values->values.size() == 1 || values->values.size() == components) &&
      (list == nullptr || (*list)->items.size() == components);
  if (fits) return {};
  return refused("ValueError",
                 invalid_argument("padded_batch: `padded_shapes` and `padding_values` must have "
                                  "the structure of the elements, with components: ",
                                  components));
}

// Everything that is decided before the first row: target shapes and paddings.
struct Plan {
  std::vector<Shape> targets;
  std::vector<Tensor> paddings;
  StructurePtr structure;
};

Result<Plan> plan_for(const Node& node, const StructurePtr& elements) {
  SW_RETURN_IF_ERROR(check_elements(*elements));
  SW_RETURN_IF_ERROR(check_counts(node, elements->components()));
  Plan plan;
  std::size_t c = 0;
  for (const Structure* leaf : elements->leaves()) {
    SW_ASSIGN(Shape target, target_of(node, *leaf, c));
    plan.targets.push_back(std::move(target));
    plan.paddings.push_back(padding_of(node, c));
    SW_RETURN_IF_ERROR(check_padding(plan.paddings.back(), leaf->dtype()));
    ++c;
  }
  c = 0;
  const StructurePtr padded = elements->map_leaves(
      [&](const Structure& leaf) { return Structure::tensor(leaf.dtype(), plan.targets[c++]); });
  plan.structure = batched_structure(
      padded, node.bool_param("drop_remainder") ? node.int_param("batch_size") : kUnknownDim);
  return plan;
}

Result<Inferred> infer(const Node& node) {
  const std::int64_t size = node.int_param("batch_size");
  if (size <= 0) return invalid_argument("Batch size must be greater than zero.");
  const Node& input = *node.inputs()[0];
  const std::int64_t count =
      batched_count(input.cardinality(), size, node.bool_param("drop_remainder"));
  if (input.structure() == nullptr) return Inferred{nullptr, count};
  SW_ASSIGN(Plan plan, plan_for(node, input.structure()));
  return Inferred{plan.structure, count};
}

// Calls copy(from, to, count) for each contiguous run of a `from`-shaped block inside a `to`-shaped
// one; offsets in items.
template <class Copy>
void each_run(const Shape& from, const Shape& to, int dim, std::int64_t at, std::int64_t goes,
              const Copy& copy) {
  if (dim >= from.rank() - 1) {
    copy(at, goes, from.rank() == 0 ? 1 : from[dim]);
    return;
  }
  std::int64_t from_step = 1;
  std::int64_t to_step = 1;
  for (int i = dim + 1; i < from.rank(); ++i) {
    from_step *= from[i];
    to_step *= to[i];
  }
  for (std::int64_t i = 0; i < from[dim]; ++i) {
    each_run(from, to, dim + 1, at + i * from_step, goes + i * to_step, copy);
  }
}

// `target` with its unknown dimensions as large as the largest row.
Result<Shape> grown(const Shape& target, std::span<const Tensor> rows, std::size_t c) {
  if (!target.has_rank()) return grown(rows[0].shape(), rows, c);
  std::vector<std::int64_t> dims(target.dims().begin(), target.dims().end());
  for (std::int64_t& dim : dims) dim = std::max<std::int64_t>(dim, 0);
  for (const Tensor& row : rows) {
    if (row.shape().rank() != target.rank()) {
      return bad_data(Code::kInvalidArgument,
                      "All elements in a batch must have the same rank as the padded shape for "
                      "component",
                      c, ": expected rank ", target.rank(), " but got element with rank ",
                      row.shape().rank());
    }
    for (int i = 0; i < target.rank(); ++i) {
      auto& dim = dims[static_cast<std::size_t>(i)];
      if (target[i] >= 0 && row.shape()[i] > dim) {
        return bad_data(Code::kDataLoss,
                        "Attempted to pad to a smaller size than the input element.");
      }
      dim = std::max(dim, row.shape()[i]);
    }
  }
  return Shape(std::span<const std::int64_t>(dims));
}

Result<Tensor> padded_strings(const AccountPtr& account, std::span<const Tensor> rows,
                              const Shape& target, const Tensor& padding) {
  const std::int64_t each = target.count();
  std::vector<std::string_view> items(rows.size() * static_cast<std::size_t>(each),
                                      padding.has_value() ? padding.string_at(0) : "");
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (rows[r].count() == 0) continue;
    std::string_view* out = items.data() + r * static_cast<std::size_t>(each);
    each_run(rows[r].shape(), target, 0, 0, 0,
             [&](std::int64_t from, std::int64_t to, std::int64_t n) {
               for (std::int64_t i = 0; i < n; ++i) out[to + i] = rows[r].string_at(from + i);
             });
  }
  return make_strings(account, target.with_leading(static_cast<std::int64_t>(rows.size())), items);
}

void fill(std::byte* out, std::size_t bytes, const Tensor& padding) {
  if (!padding.has_value()) {
    std::memset(out, 0, bytes);
    return;
  }
  const std::size_t item = padding.bytes();
  for (std::size_t at = 0; at < bytes; at += item) std::memcpy(out + at, padding.data(), item);
}

// Row `r` of the batch `out`, and what it is padded with.
void put_row(std::byte* out, std::size_t r, const Tensor& row, const Shape& target,
             const Tensor& padding) {
  const std::size_t item = size_of(row.dtype());
  const std::size_t each = static_cast<std::size_t>(target.count()) * item;
  std::byte* to_row = out + r * each;
  if (row.shape() == target) {
    if (each > 0) std::memcpy(to_row, row.data(), each);
    return;
  }
  fill(to_row, each, padding);
  if (row.count() == 0) return;
  each_run(row.shape(), target, 0, 0, 0,
           [&](std::int64_t from, std::int64_t to, std::int64_t count) {
             std::memcpy(to_row + static_cast<std::size_t>(to) * item,
                         row.data() + static_cast<std::size_t>(from) * item,
                         static_cast<std::size_t>(count) * item);
           });
}

// The rows of one batch on their way into it. A large batch is charged as it is filled, and a row
// goes when it has been copied: together they need the memory of one batch and one row. What could
// not be finished for want of memory goes on where it was.
class Joining {
 public:
  // Component by component; an error is of the elements.
  static Result<Joining> begin(const Plan& plan, std::span<const Chunk> pieces, std::int64_t rows) {
    Joining out;
    for (std::size_t c = 0; c < plan.targets.size(); ++c) {
      std::vector<Tensor> column;
      column.reserve(static_cast<std::size_t>(rows));
      for (const Chunk& piece : pieces) {
        for (std::int64_t i = 0; i < piece.rows(); ++i) {
          column.push_back(piece.columns()[c].row(i));
        }
      }
      SW_ASSIGN(Shape target, grown(plan.targets[c], column, c));
      out.targets_.push_back(std::move(target));
      out.columns_.push_back(std::move(column));
    }
    return out;
  }

  Result<std::vector<Tensor>> finish(const AccountPtr& account, const Plan& plan) {
    while (done_.size() < columns_.size()) {
      const std::size_t c = done_.size();
      SW_ASSIGN(Tensor value, joined(account, columns_[c], targets_[c], plan.paddings[c]));
      done_.push_back(std::move(value));
      columns_[c].clear();
    }
    return std::move(done_);
  }

 private:
  Result<Tensor> joined(const AccountPtr& account, std::vector<Tensor>& rows, const Shape& target,
                        const Tensor& padding) {
    const DType dtype = dtype_ ? *dtype_ : rows[0].dtype();
    if (dtype == DType::kString) {
      const bool alike =
          std::ranges::all_of(rows, [&](const Tensor& row) { return row.shape() == target; });
      return alike ? stack(account, rows) : padded_strings(account, rows, target, padding);
    }
    const Shape shape = target.with_leading(std::ssize(rows));
    const std::size_t each = static_cast<std::size_t>(target.count()) * size_of(dtype);
    const std::size_t bytes = each * rows.size();
    if (bytes < Filling::kLeast) {
      SW_ASSIGN(Tensor out, make_tensor(account, dtype, shape));
      for (std::size_t r = 0; r < rows.size(); ++r) {
        put_row(out.mutable_data(), r, rows[r], target, padding);
      }
      out.buffer()->touch();
      return out;
    }
    if (filling_ == nullptr) {
      SW_ASSIGN(filling_, Filling::begin(account, bytes, Filling::Comes::kAll));
      dtype_ = dtype;
    }
    for (; copied_ < rows.size(); ++copied_) {
      SW_RETURN_IF_ERROR(filling_->extend((copied_ + 1) * each));
      put_row(filling_->buffer()->data(), copied_, rows[copied_], target, padding);
      filling_->touch((copied_ + 1) * each);
      rows[copied_] = Tensor();
    }
    filling_->end(bytes);
    Tensor out(dtype, shape, filling_->buffer());
    filling_.reset();
    dtype_.reset();
    copied_ = 0;
    return out;
  }

  std::vector<std::vector<Tensor>> columns_;
  std::vector<Shape> targets_;
  std::vector<Tensor> done_;
  std::unique_ptr<Filling> filling_;  // of the component under way
  std::optional<DType> dtype_;        // of it: its first rows are gone
  std::size_t copied_ = 0;            // rows of it
};

constexpr std::string_view kWithFailed = "of a batch with one that failed";

// A batch that could not be finished for want of memory, or because we were stopped, stays for the
// next pull(); a checkpoint goes back to its first row, so the only state is the input's.
class PaddedBatchIterator final : public Iterator {
 public:
  PaddedBatchIterator(const OpenContext& context, IteratorPtr input)
      : Iterator(context.stage(), context.epoch()),
        input_(std::move(input), Input::Habit::kHolds),
        size_(context.node().int_param("batch_size")),
        drop_(context.node().bool_param("drop_remainder")) {}

  Next pull(const Demand& demand) override {
    const Demand piece{0, std::max(demand.bytes, 256 * kKiB),
                       std::max<std::int64_t>(demand.time_ns, 1'000'000)};
    if (rows_ == 0) input_.forget_before(input_.position());
    while (!joining_ && rows_ < size_) {
      for (; counted_ < pieces_.size(); ++counted_) count_as_output(pieces_[counted_], account());
      Next next = input_.next(piece.with_rows(size_ - rows_));
      if (!next.ok()) {
        if (!is_position(next.error())) return next;
        const std::int64_t others = rows_;
        drop(done_with(), kWithFailed);
        return naming_dropped(std::move(next).status(), stage(), others,
                              input_.position() - 1 - others, false);
      }
      if (!next.value()) break;
      rows_ += next.value()->rows();
      pieces_.push_back(std::move(*next.value()));
    }
    if (rows_ == 0) return end_of_data();
    if (drop_ && rows_ < size_) {
      drop(done_with(), "of a remainder");
      return end_of_data();
    }
    auto row = combine();
    if (!row.ok()) {
      Status error = std::move(row).status();
      if (!is_position(error)) return error;
      const Amount one{1, first_weight_};
      const Amount others = done_with() - one;
      drop(others, kWithFailed);
      error = naming_dropped(std::move(error), stage(), others.rows,
                             input_.position() - 1 - others.rows, true);
      return losing(std::move(error), one);
    }
    use(done_with());
    return std::optional<Chunk>(Chunk::from_row(plan_->structure, std::move(row).value()));
  }

  Status save(StateWriter& out) const override {
    return input_.save(out, input_.position() - rows_);
  }
  Status restore(StateReader& in) override { return input_.restore(in); }

 private:
  // Lets the rows of this batch go; how many they were.
  Amount done_with() {
    Amount all = amount_;
    for (const Chunk& piece : pieces_) all = all + piece.amount();
    pieces_.clear();
    counted_ = 0;
    joining_.reset();
    amount_ = Amount{};
    rows_ = 0;
    return all;
  }

  Result<Row> combine() {
    if (!joining_) {
      first_weight_ = pieces_[0].amount(1).weight;
      if (!plan_) {
        const StructurePtr& known = stage().node().inputs()[0]->structure();
        SW_ASSIGN(plan_, plan_for(stage().node(), known != nullptr ? known : loose(pieces_[0])));
      }
      SW_ASSIGN(joining_, Joining::begin(*plan_, pieces_, rows_));
      origin_ = pieces_[0].origins().at(0);
      for (const Chunk& piece : pieces_) amount_ = amount_ + piece.amount();
      origin_.weight = amount_.weight;
      pieces_.clear();
      counted_ = 0;
    }
    SW_ASSIGN(std::vector<Tensor> values, joining_->finish(account(), *plan_));
    return Row{std::move(values), origin_};
  }

  // Of elements not known before: their ranks are, their sizes may differ.
  static StructurePtr loose(const Chunk& rows) {
    std::size_t c = 0;
    return rows.structure()->map_leaves([&](const Structure& leaf) -> StructurePtr {
      const Shape seen = rows.columns()[c++].row(0).shape();
      if (leaf.kind() != Structure::Kind::kTensor) return Structure::dataset(nullptr, seen);
      const std::vector<std::int64_t> dims(static_cast<std::size_t>(seen.rank()), kUnknownDim);
      return Structure::tensor(leaf.dtype(), Shape(std::span<const std::int64_t>(dims)));
    });
  }

  Input input_;
  const std::int64_t size_;
  const bool drop_;
  std::optional<Plan> plan_;
  // Of this batch: kept until the largest is known, then on their way into it.
  std::vector<Chunk> pieces_;
  std::size_t counted_ = 0;  // of them as output
  std::optional<Joining> joining_;
  std::int64_t rows_ = 0;
  Amount amount_;                  // of what is in joining_
  std::int64_t first_weight_ = 0;  // of the first row
  Origin origin_;
};

constexpr ParamDef kParams[] = {
    {"batch_size", ParamType::kInt, "", "consecutive elements in a batch"},
    {"padded_shapes", ParamType::kShapes, "None",
     "shape to pad each component to; None or -1: the largest of the batch"},
    {"padding_values", ParamType::kElement, "None",
     "scalar to pad each component with; None: zero or an empty string"},
    {"drop_remainder", ParamType::kBool, "False", "leave out a last batch that is not full"},
};

}  // namespace

extern constexpr OperatorDef padded_batch_operator{
    .name = "padded_batch",
    .summary = "Stacks `batch_size` consecutive elements, padded to one shape.",
    .example =
        ">>> ds = sw.Dataset.range(1, 4).map(lambda n: np.full(int(n), n),\n"
        "...     output_signature=sw.TensorSpec((None,), 'int64'))\n"
        ">>> list(ds.padded_batch(3))\n"
        "[array([[1, 0, 0],\n"
        "       [2, 2, 0],\n"
        "       [3, 3, 3]])]",
    .params = kParams,
    .fallible = true,
    .ratio = Ratio::kCounted,
    .infer = infer,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      SW_ASSIGN(IteratorPtr input, context.open_input(0));
      return IteratorPtr(std::make_unique<PaddedBatchIterator>(context, std::move(input)));
    }};

}  // namespace spillway
