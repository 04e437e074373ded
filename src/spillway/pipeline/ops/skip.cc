#include <algorithm>

#include "spillway/base/bytes.h"
#include "spillway/pipeline/access.h"

namespace spillway {
namespace {

// A negative count skips everything; of an endless input TensorFlow still says "infinite".
Result<Inferred> infer(const Node& node) {
  const Node& input = *node.inputs()[0];
  const std::int64_t count = node.int_param("count");
  std::int64_t cardinality = input.cardinality();
  if (cardinality >= 0) {
    cardinality = count < 0 ? 0 : std::max<std::int64_t>(0, cardinality - count);
  }
  return Inferred{input.structure(), cardinality};
}

class SkipIterator final : public Iterator {
 public:
  SkipIterator(const OpenContext& context, IteratorPtr input)
      : Iterator(context.stage(), context.epoch()),
        input_(std::move(input)),
        count_(context.node().int_param("count")) {}

  Next pull(const Demand& demand) override {
    if (count_ < 0) return end_of_data();
    while (skipped_ < count_) {
      Next next = input_->next({count_ - skipped_, kMiB, demand.time_ns});
      if (!next.ok()) {
        // TensorFlow forgets how far it was when an element to be skipped fails.
        if (is_position(next.error())) skipped_ = 0;
        return next;
      }
      if (!next.value()) return next;
      skipped_ += next.value()->rows();
      leave_out(next.value()->amount());
    }
    return input_->next(demand);
  }

  Status save(StateWriter& out) const override {
    out.put(skipped_);
    return input_->save(out);
  }
  Status restore(StateReader& in) override {
    SW_RETURN_IF_ERROR(in.get_count(skipped_));
    return input_->restore(in);
  }

 private:
  const IteratorPtr input_;
  const std::int64_t count_;
  std::int64_t skipped_ = 0;
};

class SkipIndexed final : public Indexed {
 public:
  SkipIndexed(const OpenContext& context, IndexedPtr input)
      : Indexed(context), input_(std::move(input)), count_(node().int_param("count")) {}

 protected:
  Result<Chunk> fetch(std::span<const std::int64_t> indices) override {
    std::vector<std::int64_t> shifted(indices.begin(), indices.end());
    for (std::int64_t& index : shifted) index += count_;
    return input_->at(shifted);
  }

 private:
  const IndexedPtr input_;
  const std::int64_t count_;
};

constexpr ParamDef kParams[] = {
    {"count", ParamType::kInt, "", "elements to leave out at the start; negative: all"},
};

}  // namespace

extern constexpr OperatorDef skip_operator{
    .name = "skip",
    .summary = "Leaves out the first `count` elements.",
    .example =
        ">>> list(sw.Dataset.range(5).skip(3).as_numpy_iterator())\n"
        "[np.int64(3), np.int64(4)]",
    .params = kParams,
    .passes_rows = true,
    .infer = infer,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      SW_ASSIGN(IteratorPtr input, context.open_input(0));
      return IteratorPtr(std::make_unique<SkipIterator>(context, std::move(input)));
    },
    .index = [](const OpenContext& context) -> Result<IndexedPtr> {
      SW_RETURN_IF_ERROR(must_be_counted(context.node(), context.node()));
      SW_ASSIGN(IndexedPtr input, context.index_input(0));
      return IndexedPtr(std::make_unique<SkipIndexed>(context, std::move(input)));
    }};

}  // namespace spillway
