#include <algorithm>
#include <numeric>

#include "spillway/base/bytes.h"
#include "spillway/memory/slab_pool.h"
#include "spillway/pipeline/access.h"
#include "spillway/pipeline/dropped_rows.h"
#include "spillway/pipeline/input.h"
#include "spillway/pipeline/row_gatherer.h"

namespace spillway {
namespace {

// The rows of a batch are needed whatever was demanded: ask for them in pieces of this size.
constexpr std::size_t kPiece = 256 * kKiB;
constexpr std::size_t kMostAtOnce = 64 * kMiB;  // of a batch whose rows are of any size
constexpr std::int64_t kPieceTime = 1'000'000;
constexpr std::string_view kWithFailed = "of a batch with one that failed";

Result<Inferred> infer(const Node& node) {
  const std::int64_t size = node.int_param("batch_size");
  const bool drop = node.bool_param("drop_remainder");
  if (size <= 0) return invalid_argument("Batch size must be greater than zero.");
  const Node& input = *node.inputs()[0];
  return Inferred{batched_structure(input.structure(), drop ? size : kUnknownDim),
                  batched_count(input.cardinality(), size, drop)};
}

// In TensorFlow's words, and in those it has for a map and a batch that it runs as one.
Status different_shapes(const RowGatherer::Mismatch& m) {
  return bad_data(Code::kInvalidArgument,
                  "Cannot batch tensors with different shapes in component ", m.component,
                  ". First element had shape ", m.first.bracketed(), " and element ", m.row,
                  " had shape ", m.shape.bracketed(), ". Cannot add tensor to the batch: number ",
                  "of elements does not match. Shapes are: [tensor]: ", m.shape.bracketed(),
                  ", [batch]: ", m.first.bracketed());
}

bool all_blocks(const Chunk& rows) {
  return std::ranges::all_of(rows.columns(), [](const Column& c) { return c.is_block(); });
}

// The first `batches` * `size` rows as batches, sharing their blocks.
Chunk view_batches(const Chunk& rows, std::int64_t batches, std::int64_t size,
                   StructurePtr structure) {
  std::vector<Column> columns;
  columns.reserve(rows.columns().size());
  for (const Column& column : rows.columns()) {
    const Tensor block = column.block().slice(0, batches * size);
    const Shape row = block.shape().without_leading();
    columns.emplace_back(block.reshaped(row.with_leading(size).with_leading(batches)));
  }
  return {std::move(structure), batches, std::move(columns),
          rows.origins().grouped(batches * size, size)};
}

// A batch that could not be finished for want of memory, or because we were stopped, stays for the
// next pull(); a checkpoint goes back to its first row, so the only state is the input's.
class BatchIterator final : public Iterator {
 public:
  BatchIterator(const OpenContext& context, IteratorPtr input)
      : Iterator(context.stage(), context.epoch()),
        input_(std::move(input), Input::Habit::kHolds),
        size_(context.node().int_param("batch_size")),
        drop_(context.node().bool_param("drop_remainder")),
        structure_(context.node().structure()),
        available_(context.node().inputs()[0]->cardinality()),
        overpull_(may_overpull(*context.node().inputs()[0])) {
    const StructurePtr& row = context.node().inputs()[0]->structure();
    row_bytes_ = row == nullptr ? -1 : row->static_bytes();
  }

  Next pull(const Demand& demand) override {
    if (!batch_) {
      input_.forget_before(input_.position());
      const std::int64_t left = available_ < 0 ? -1 : available_ - input_.position();
      batch_.emplace(account(), size_, left);
      input_.below().make_into(&*batch_);
    }
    Next next = gather(demand, *batch_);
    if (next.ok() && next.value()) note_size(*next.value());
    if (next.ok() || is_position(next.error())) {
      input_.below().make_into(nullptr);
      batch_.reset();
    }
    return next;
  }

  Status save(StateWriter& out) const override {
    return input_.save(out, input_.position() - (batch_ ? batch_->rows() : 0));
  }
  Status restore(StateReader& in) override { return input_.restore(in); }

 private:
  Next gather(const Demand& demand, RowGatherer& batch) {
    for (;;) {
      if (batch.rows() == size_) return finish(batch);
      batch.count_waiting();
      Next next = input_.next(wish(demand, batch.rows()));
      if (!next.ok()) {
        if (!is_position(next.error())) return next;
        drop(batch.amount(), kWithFailed);
        return naming_dropped(std::move(next).status(), stage(), batch.rows(),
                              input_.position() - 1 - batch.rows(), false);
      }
      if (!next.value()) return remainder(batch);
      const Chunk& rows = *next.value();
      if (structure_ == nullptr) {
        structure_ = batched_structure(rows.structure(), drop_ ? size_ : kUnknownDim);
      }
      if (batch.rows() == 0 && rows.rows() >= size_) return whole_batches(rows);
      const std::int64_t fit = std::min(rows.rows(), size_ - batch.rows());
      if (Status added = batch.add(rows.slice(0, fit)); !added.ok()) {
        const std::int64_t lost = is_position(added) ? fit : 0;
        if (lost < rows.rows()) input_.unread(rows.slice(lost, rows.rows()));
        if (lost == 0) return added;
        return failed(std::move(added), batch.amount() + rows.amount(lost),
                      rows.origins().weight(0));
      }
      if (fit < rows.rows()) input_.unread(rows.slice(fit, rows.rows()));
    }
  }

  // As many whole batches as the demand has room for, at least the rest of this one. What is too
  // much goes back to the input.
  Demand wish(const Demand& demand, std::int64_t have) const {
    Demand out{size_ - have, std::max(demand.bytes, kPiece), std::max(demand.time_ns, kPieceTime)};
    if (is_tight()) {
      // Rows that come together go together: one by one they need the room of one row.
      out.rows = 1;
      return out;
    }
    if (batch_bytes_ >= kPiece) {
      // Strings that come in one piece need not be joined, and a surplus would have to be.
      out.bytes = std::max(out.bytes, batch_bytes_ + batch_bytes_ / 8);
      return out;
    }
    // A filter gives fewer rows than asked: where nobody sees the surplus, ask for more.
    if (have > 0 && !overpull_) return out;
    std::int64_t batches = std::max<std::int64_t>(1, demand.rows);
    std::int64_t batch_bytes = 0;
    if (row_bytes_ > 0 && !__builtin_mul_overflow(row_bytes_, size_, &batch_bytes)) {
      const auto room = static_cast<std::int64_t>(demand.bytes) / batch_bytes;
      batches = std::clamp<std::int64_t>(room, 1, batches);
    }
    if (__builtin_mul_overflow(batches, size_, &out.rows)) out.rows = size_;
    return out;
  }

  // Whether a second batch would not fit now: where rows are large that is looked at.
  bool is_tight() const {
    const std::size_t bytes = std::max(batch_bytes_, stage().largest_row());
    return bytes >= kPiece && within_reach(account()->budget()) / 2 < bytes;
  }

  // What a batch of rows of unknown size takes: the largest lately.
  void note_size(const Chunk& batches) {
    if (row_bytes_ >= 0) return;
    const std::size_t each = batches.footprint() / static_cast<std::size_t>(batches.rows());
    batch_bytes_ = std::min(std::max(each, batch_bytes_ - batch_bytes_ / 16), kMostAtOnce);
  }

  // At least one batch lies in `rows`.
  Next whole_batches(const Chunk& rows) {
    std::int64_t batches = rows.rows() / size_;
    std::optional<Chunk> out;
    Status error;
    if (all_blocks(rows)) {
      out = view_batches(rows, batches, size_, structure_);
    } else {
      std::vector<Row> made;
      for (std::int64_t i = 0; i < batches && error.ok(); ++i) {
        auto row = one_of(rows.slice(i * size_, (i + 1) * size_));
        if (row.ok()) {
          made.push_back(std::move(row).value());
        } else {
          error = std::move(row).status();
        }
      }
      // A bad batch behind good ones is met again, alone.
      batches = std::max<std::int64_t>(1, static_cast<std::int64_t>(made.size()));
      if (!made.empty()) out = Chunk::from_rows(structure_, std::move(made));
    }
    const bool again = !out && !is_position(error);
    const std::int64_t used = again ? 0 : batches * size_;
    if (used < rows.rows()) input_.unread(rows.slice(used, rows.rows()));
    if (again) return error;
    if (!out) {
      if (error.info().index >= 0) error.edit().index += input_.position() - size_;
      const std::int64_t weight = failed_row(error).lost.weight;
      return failed(std::move(error), rows.amount(size_), weight);
    }
    use(rows.amount(used));
    return out;
  }

  // One batch out of exactly its rows; an error's index counts from the first of them.
  Result<Row> one_of(const Chunk& rows) {
    RowGatherer batch(account(), size_, size_);
    SW_RETURN_IF_ERROR(batch.add(rows));
    if (const auto* mismatch = batch.mismatch()) {
      Status error = different_shapes(*mismatch);
      error.edit().index = mismatch->row;
      error.edit().origin = mismatch->origin;
      return losing(std::move(error), {1, mismatch->weight});
    }
    return batch.finish();
  }

  Next finish(RowGatherer& batch) {
    if (const auto* mismatch = batch.mismatch()) {
      Status error = different_shapes(*mismatch);
      error.edit().index = input_.position() - batch.rows() + mismatch->row;
      error.edit().origin = mismatch->origin;
      return failed(std::move(error), batch.amount(), mismatch->weight);
    }
    SW_ASSIGN(Row row, batch.finish());
    use(batch.amount());
    return std::optional<Chunk>(Chunk::from_row(structure_, std::move(row)));
  }

  Next remainder(RowGatherer& batch) {
    if (batch.rows() == 0) return end_of_data();
    if (!drop_) return finish(batch);
    drop(batch.amount(), "of a remainder");
    return end_of_data();
  }

  // The error of one row, of `weight`, with which all rows of its batch are lost.
  Status failed(Status error, const Amount& batch, std::int64_t weight) {
    const Amount others = batch - Amount{1, weight};
    drop(others, kWithFailed);
    error = naming_dropped(std::move(error), stage(), others.rows, input_.position() - batch.rows,
                           true);
    return losing(std::move(error), {1, weight});
  }

  Input input_;
  const std::int64_t size_;
  const bool drop_;
  StructurePtr structure_;
  std::optional<RowGatherer> batch_;
  const std::int64_t available_;
  const bool overpull_;  // the input's cardinality
  std::int64_t row_bytes_;
  std::size_t batch_bytes_ = 0;
};

class BatchIndexed final : public Indexed {
 public:
  BatchIndexed(const OpenContext& context, IndexedPtr input)
      : Indexed(context),
        input_(std::move(input)),
        size_(node().int_param("batch_size")),
        drop_(node().bool_param("drop_remainder")),
        available_(node().inputs()[0]->cardinality()) {
    const StructurePtr& row = node().inputs()[0]->structure();
    const std::int64_t bytes = row == nullptr ? -1 : row->static_bytes();
    const auto piece = static_cast<std::int64_t>(kPiece);
    at_a_time_ = bytes < 0 ? 1 : std::clamp<std::int64_t>(piece / (bytes + 1), 1, piece);
  }

 protected:
  Result<Chunk> fetch(std::span<const std::int64_t> indices) override {
    std::vector<Row> made;
    StructurePtr structure = node().structure();
    for (const std::int64_t index : indices) {
      SW_ASSIGN(Row row, one(index, structure));
      made.push_back(std::move(row));
    }
    return Chunk::from_rows(structure, std::move(made));
  }

 private:
  // Rows come in pieces and are copied in (R5): a batch of large ones holds none of them twice.
  Result<Row> one(std::int64_t index, StructurePtr& structure) {
    const std::int64_t begin = index * size_;
    const std::int64_t end = begin + std::min(size_, available_ - begin);
    RowGatherer batch(account(), end - begin, end - begin);
    std::vector<std::int64_t> wanted;
    for (std::int64_t at = begin; at < end; at += std::ssize(wanted)) {
      wanted.resize(static_cast<std::size_t>(std::min(at_a_time_, end - at)));
      std::iota(wanted.begin(), wanted.end(), at);
      SW_ASSIGN(Chunk rows, input_->at(wanted));
      if (structure == nullptr) {
        structure = batched_structure(rows.structure(), drop_ ? size_ : kUnknownDim);
      }
      SW_RETURN_IF_ERROR(batch.add(rows));
    }
    if (const auto* mismatch = batch.mismatch()) {
      Status error = different_shapes(*mismatch);
      error.edit().index = begin + mismatch->row;
      error.edit().origin = mismatch->origin;
      return error;
    }
    return batch.finish();
  }

  const IndexedPtr input_;
  const std::int64_t size_;
  const bool drop_;
  const std::int64_t available_;  // the input's cardinality
  std::int64_t at_a_time_;
};

constexpr ParamDef kParams[] = {
    {"batch_size", ParamType::kInt, "", "consecutive elements in a batch"},
    {"drop_remainder", ParamType::kBool, "False", "leave out a last batch that is not full"},
    {"num_parallel_calls", ParamType::kInt, "None", "batches made at a time; chosen when None",
     true},
    {"deterministic", ParamType::kBool, "None", "batches come in order either way", true},
};

}  // namespace

extern constexpr OperatorDef batch_operator{
    .name = "batch",
    .summary = "Stacks `batch_size` consecutive elements into one.",
    .example =
        ">>> list(sw.Dataset.range(5).batch(2).as_numpy_iterator())\n"
        "[array([0, 1]), array([2, 3]), array([4])]",
    .params = kParams,
    .fallible = true,
    .ratio = Ratio::kCounted,
    .infer = infer,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      SW_ASSIGN(IteratorPtr input, context.open_input(0));
      return IteratorPtr(std::make_unique<BatchIterator>(context, std::move(input)));
    },
    .index = [](const OpenContext& context) -> Result<IndexedPtr> {
      SW_RETURN_IF_ERROR(must_be_counted(context.node(), context.node()));
      SW_ASSIGN(IndexedPtr input, context.index_input(0));
      return IndexedPtr(std::make_unique<BatchIndexed>(context, std::move(input)));
    }};

}  // namespace spillway
