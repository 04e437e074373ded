#include <algorithm>

#include "spillway/pipeline/access.h"

namespace spillway {
namespace {

// A negative count takes all; but only -1 is known to (TensorFlow's cardinality does the same).
Result<Inferred> infer(const Node& node) {
  const Node& input = *node.inputs()[0];
  const std::int64_t count = node.int_param("count");
  const std::int64_t n = input.cardinality();
  std::int64_t cardinality = n;
  if (n == kUnknownCount) {
    cardinality = kUnknownCount;
  } else if (n == kInfinite) {
    cardinality = count;
  } else if (count != -1) {
    cardinality = std::min(n, count);
  }
  return Inferred{input.structure(), cardinality};
}

class TakeIterator final : public Iterator {
 public:
  TakeIterator(const OpenContext& context, IteratorPtr input)
      : Iterator(context.stage(), context.epoch()),
        input_(std::move(input)),
        count_(context.node().int_param("count")),
        infallible_(is_pure(*context.node().inputs()[0])) {}

  Next pull(const Demand& demand) override {
    if (count_ < 0) return input_->next(demand);
    if (taken_ >= count_) return end_of_data();
    Next next = input_->next(demand.with_rows(std::min(demand.rows, count_ - taken_)));
    if (next.ok() && next.value()) taken_ += next.value()->rows();
    return next;
  }

  // An error is a position but does not count as taken: only where there are none can the input
  // pass over the rows by itself.
  Status skip(std::int64_t rows) override {
    if (!infallible_) return Iterator::skip(rows);
    const std::int64_t most = count_ < 0 ? rows : std::min(rows, count_ - taken_);
    taken_ += most;
    return input_->skip(most);
  }
  Status save(StateWriter& out) const override {
    out.put(taken_);
    return input_->save(out);
  }
  Status restore(StateReader& in) override {
    SW_RETURN_IF_ERROR(in.get_count(taken_, count_ < 0 ? INT64_MAX : count_));
    return input_->restore(in);
  }

 private:
  const IteratorPtr input_;
  const std::int64_t count_;
  const bool infallible_;
  std::int64_t taken_ = 0;
};

class TakeIndexed final : public Indexed {
 public:
  TakeIndexed(const OpenContext& context, IndexedPtr input)
      : Indexed(context), input_(std::move(input)), count_(node().int_param("count")) {}

 protected:
  Result<Chunk> fetch(std::span<const std::int64_t> indices) override {
    // Of a cache that is not yet filled nobody knew whether so many are there.
    for (const std::int64_t index : indices) {
      if (count_ >= 0 && index >= count_) return out_of_range(index, count_);
    }
    return input_->at(indices);
  }

 private:
  const IndexedPtr input_;
  const std::int64_t count_;
};

constexpr ParamDef kParams[] = {
    {"count", ParamType::kInt, "", "most elements to let through; negative: all"},
};

}  // namespace

extern constexpr OperatorDef take_operator{
    .name = "take",
    .summary = "Ends after `count` elements.",
    .example =
        ">>> list(sw.Dataset.range(10).take(2).as_numpy_iterator())\n"
        "[np.int64(0), np.int64(1)]",
    .params = kParams,
    .passes_rows = true,
    .infer = infer,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      const std::int64_t count = context.node().int_param("count");
      const std::int64_t bound = count < 0             ? context.bound()
                                 : context.bound() < 0 ? count
                                                       : std::min(count, context.bound());
      SW_ASSIGN(IteratorPtr input, context.open_input(0, context.epoch(), bound));
      return IteratorPtr(std::make_unique<TakeIterator>(context, std::move(input)));
    },
    .index = [](const OpenContext& context) -> Result<IndexedPtr> {
      SW_ASSIGN(IndexedPtr input, context.index_input(0));
      return IndexedPtr(std::make_unique<TakeIndexed>(context, std::move(input)));
    }};

}  // namespace spillway
