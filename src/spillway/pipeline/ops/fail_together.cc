#include "spillway/base/bytes.h"
#include "spillway/pipeline/operator.h"

namespace spillway {
namespace {

Result<Inferred> infer(const Node& node) {
  if (node.int_param("size") <= 0) return invalid_argument("Batch size must be greater than zero.");
  return infer_same(node);
}

// Elements belong to groups of `size` by their positions. The first error of a group stands for
// all that follow in it: they are dropped, and further errors among them are in the audit only.
class FailTogetherIterator final : public Iterator {
 public:
  FailTogetherIterator(const OpenContext& context, IteratorPtr input)
      : Iterator(context.stage(), context.epoch()),
        input_(std::move(input)),
        size_(context.node().int_param("size")) {}

  Next pull(const Demand& demand) override {
    while (passing_ > 0) {
      Next next = input_->next({passing_, kMiB, demand.time_ns});
      if (next.ok() ? !next.value() : !is_position(next.error())) return next;
      if (next.ok()) drop(next.value()->amount(), "of a batch with one that failed");
      passing_ -= next.ok() ? next.value()->rows() : 1;
    }
    Next next = input_->next(demand);
    if (next.ok() && next.value()) {
      place_ = (place_ + next.value()->rows()) % size_;
    } else if (!next.ok() && is_position(next.error())) {
      passing_ = size_ - 1 - std::exchange(place_, 0);
    }
    return next;
  }

  Status save(StateWriter& out) const override {
    out.put(place_);
    out.put(passing_);
    return input_->save(out);
  }
  Status restore(StateReader& in) override {
    SW_RETURN_IF_ERROR(in.get_count(place_, size_ - 1));
    SW_RETURN_IF_ERROR(in.get_count(passing_, size_ - 1));
    return input_->restore(in);
  }

 private:
  const IteratorPtr input_;
  const std::int64_t size_;
  std::int64_t place_ = 0;    // of the next element in its group
  std::int64_t passing_ = 0;  // positions left of a group that failed
};

constexpr ParamDef kParams[] = {
    {"size", ParamType::kInt, "", "elements of a group"},
};

}  // namespace

// What makes a map and the batch behind it fail as one, a batch at a time.
extern constexpr OperatorDef fail_together_operator{
    .name = "fail_together",
    .summary = "Drops what follows an element that failed within its group of `size`.",
    .example = "",
    .params = kParams,
    .passes_rows = true,
    .hidden = true,
    .infer = infer,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      SW_ASSIGN(IteratorPtr input, context.open_input(0));
      return IteratorPtr(std::make_unique<FailTogetherIterator>(context, std::move(input)));
    }};

}  // namespace spillway
