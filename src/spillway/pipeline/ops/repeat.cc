#include <limits>
#include <utility>

#include "spillway/pipeline/access.h"

namespace spillway {
namespace {

// None and every negative count mean forever. Zero epochs and an empty input are known to be empty
// whatever else is not; a product that does not fit says "more than can be counted to".
Result<Inferred> infer(const Node& node) {
  const Node& input = *node.inputs()[0];
  const std::int64_t count = node.int_param("count", -1);
  const std::int64_t n = input.cardinality();
  std::int64_t cardinality = n;
  if (count == 0 || n == 0) {
    cardinality = 0;
  } else if (count < 0) {
    cardinality = kInfinite;
  } else if (n > 0 && __builtin_mul_overflow(n, count, &cardinality)) {
    cardinality = std::numeric_limits<std::int64_t>::max();
  }
  return Inferred{input.structure(), cardinality};
}

class RepeatIterator final : public Iterator {
 public:
  explicit RepeatIterator(const OpenContext& context)
      : Iterator(context.stage(), context.epoch()),
        context_(context),
        count_(context.node().int_param("count", -1)) {}

  // As TensorFlow does, and with it what is drawn below: the first epoch is opened at once, and a
  // finite repeat opens another when one has ended, even after the last.
  Status open() { return count_ != 0 ? open_epoch() : Status(); }

  Next pull(const Demand& demand) override {
    while (count_ < 0 || done_ < count_) {
      if (stage().run().stop()) return cancelled();
      if (input_ == nullptr) SW_RETURN_IF_ERROR(open_epoch());
      Next next = input_->next(demand);
      if (!next.ok()) return next;
      if (next.value()) {
        productive_ = true;
        return next;
      }
      // Forever over nothing would never return.
      if (count_ < 0 && !productive_) return end_of_data();
      input_.reset();
      productive_ = false;
      ++done_;
      if (count_ > 0) SW_RETURN_IF_ERROR(open_epoch());
    }
    input_.reset();
    return end_of_data();
  }

  Status save(StateWriter& out) const override {
    out.put(done_);
    out.put(productive_ ? 1 : 0);
    out.put(input_ == nullptr ? 0 : 1);
    if (input_ != nullptr) return input_->save(out);
    save_shared(*context_.node().inputs()[0], out);
    return {};
  }
  Status restore(StateReader& in) override {
    std::int64_t productive = 0;
    std::int64_t opened = 0;
    SW_RETURN_IF_ERROR(in.get_count(done_, count_ < 0 ? INT64_MAX : count_));
    SW_RETURN_IF_ERROR(in.get(productive));
    SW_RETURN_IF_ERROR(in.get(opened));
    productive_ = productive != 0;
    input_.reset();
    if (opened == 0) return restore_shared(*context_.node().inputs()[0], in);
    SW_RETURN_IF_ERROR(open_epoch());
    return input_->restore(in);
  }

 private:
  // Every epoch is a fresh pass: a shuffle below draws anew, a generator is called again.
  Status open_epoch() {
    std::int64_t number = epoch();
    if (count_ > 0) number *= count_;
    SW_ASSIGN(input_, context_.open_input(0, number + done_));
    return {};
  }

  const OpenContext context_;
  const std::int64_t count_;
  IteratorPtr input_;
  std::int64_t done_ = 0;    // epochs
  bool productive_ = false;  // this epoch had a row
};

// Every epoch is the first one again.
class RepeatIndexed final : public Indexed {
 public:
  RepeatIndexed(const OpenContext& context, IndexedPtr input)
      : Indexed(context), input_(std::move(input)), rows_(node().inputs()[0]->cardinality()) {}

 protected:
  Result<Chunk> fetch(std::span<const std::int64_t> indices) override {
    std::vector<std::int64_t> inner(indices.begin(), indices.end());
    for (std::int64_t& index : inner) index %= rows_;
    return input_->at(inner);
  }

 private:
  const IndexedPtr input_;
  const std::int64_t rows_;  // not 0: then there is no index
};

constexpr ParamDef kParams[] = {
    {"count", ParamType::kInt, "None", "epochs; None or negative: without end"},
};

}  // namespace

extern constexpr OperatorDef repeat_operator{
    .name = "repeat",
    .summary = "Goes through the dataset `count` times.",
    .example =
        ">>> list(sw.Dataset.range(2).repeat(2).as_numpy_iterator())\n"
        "[np.int64(0), np.int64(1), np.int64(0), np.int64(1)]",
    .params = kParams,
    .passes_rows = true,
    .infer = infer,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      auto it = std::make_unique<RepeatIterator>(context);
      SW_RETURN_IF_ERROR(it->open());
      return IteratorPtr(std::move(it));
    },
    .index = [](const OpenContext& context) -> Result<IndexedPtr> {
      SW_RETURN_IF_ERROR(must_be_counted(context.node(), context.node()));
      SW_ASSIGN(IndexedPtr input, context.index_input(0));
      return IndexedPtr(std::make_unique<RepeatIndexed>(context, std::move(input)));
    }};

}  // namespace spillway
