#include "spillway/pipeline/access.h"
#include "spillway/pipeline/ahead.h"

namespace spillway {
namespace {

constexpr std::int64_t kAutotune = -1;

Result<Inferred> infer(const Node& node) {
  if (node.int_param("buffer_size", kAutotune) < kAutotune) {
    return invalid_argument("buffer_size must be >= 0 or set buffer_size to be ", kAutotune,
                            " for auto-tuning");
  }
  return infer_same(node);
}

class PrefetchIterator final : public Iterator {
 public:
  PrefetchIterator(const OpenContext& context, IteratorPtr input)
      : Iterator(context.stage(), context.epoch()),
        ahead_(stage(), std::make_unique<Input>(std::move(input), Input::Habit::kHolds),
               limits_for(context)) {}

  Next pull(const Demand& demand) override { return ahead_.next(demand); }
  Status save(StateWriter& out) const override { return ahead_.save(out); }
  Status restore(StateReader& in) override { return ahead_.restore(in); }

 private:
  // Where user code runs below, look ahead by exactly the rows asked for, one at a time.
  static Ahead::Limits limits_for(const OpenContext& context) {
    const std::int64_t rows = context.node().int_param("buffer_size", kAutotune);
    const bool pure = may_overpull(*context.node().inputs()[0]);
    return {.rows = rows, .rows_a_pull = pure ? 256 : 1};
  }

  Ahead ahead_;
};

class PassThrough final : public Iterator {
 public:
  PassThrough(const OpenContext& context, IteratorPtr input)
      : Iterator(context.stage(), context.epoch()), input_(std::move(input)) {}
  Next pull(const Demand& demand) override { return input_->next(demand); }
  Status skip(std::int64_t rows) override { return input_->skip(rows); }
  Status save(StateWriter& out) const override { return input_->save(out); }
  Status restore(StateReader& in) override { return input_->restore(in); }

 private:
  const IteratorPtr input_;
};

constexpr ParamDef kParams[] = {
    {"buffer_size", ParamType::kInt, "None",
     "elements made before they are asked for; None or AUTOTUNE: as many as help and fit", true},
};

}  // namespace

extern constexpr OperatorDef prefetch_operator{
    .name = "prefetch",
    .summary = "Makes the next elements while the consumer works, as many as the memory allows.",
    .example =
        ">>> list(sw.Dataset.range(3).prefetch(2).as_numpy_iterator())\n"
        "[np.int64(0), np.int64(1), np.int64(2)]",
    .params = kParams,
    .passes_rows = true,
    .infer = infer,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      SW_ASSIGN(IteratorPtr input, context.open_input(0, context.epoch(), context.bound()));
      if (context.node().int_param("buffer_size", kAutotune) == 0) {
        return IteratorPtr(std::make_unique<PassThrough>(context, std::move(input)));
      }
      return IteratorPtr(std::make_unique<PrefetchIterator>(context, std::move(input)));
    },
    .index = [](const OpenContext& context) { return context.index_input(0); }};

}  // namespace spillway
