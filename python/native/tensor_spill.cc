#include <algorithm>

#include "spillway/graph/spilled.h"
#include "tensors.h"

namespace spillway::python {
namespace {

constexpr std::size_t kWorthIt = 64 * 1024;  // smaller values stay: a record on disk costs as much

// All tensors, under the GIL.
NativeTensor* oldest = nullptr;
NativeTensor* newest = nullptr;

// What would become free with the tensor's value: nothing while anybody else refers to it.
std::size_t can_give(const graph::Operand& operand) {
  if (operand.node.use_count() != 1 || operand.node->outputs().size() != 1) return 0;
  const Tensor* value = operand.value();
  if (value == nullptr || !is_plain(value->dtype()) || value->bytes() < kWorthIt) return 0;
  const BufferPtr& buffer = value->buffer();
  return buffer.use_count() == 1 && !buffer->adopted() ? buffer->charged() : 0;
}

}  // namespace

NativeTensor::NativeTensor(graph::Operand of) : value(std::move(of)), before_(newest) {
  if (const graph::Node& node = *value.node; !node.symbolic()) {
    const graph::Site* site = node.site().get();
    line_ = site == nullptr ? ElementLine::current() : line_of(*site);
    if (line_ != nullptr) note_made(*line_);
  }
  (before_ == nullptr ? oldest : before_->after_) = this;
  newest = this;
}

NativeTensor::~NativeTensor() {
  if (line_ != nullptr) --line_->live;
  (before_ == nullptr ? oldest : before_->after_) = after_;
  (after_ == nullptr ? newest : after_->before_) = before_;
}

const NativeTensor* NativeTensor::first() { return oldest; }

std::size_t spill_tensors(std::size_t wanted) {
  Budget& budget = Budget::process();
  const std::size_t used = budget.used();
  const std::size_t limit = budget.effective_limit();
  // Debts come first, and some room for what comes next: asking again would mean waiting again.
  wanted = std::max(wanted, limit / 8) + (used > limit ? used - limit : 0);
  std::size_t freed = 0;
  for (NativeTensor* each = oldest; each != nullptr && freed < wanted; each = each->after_) {
    const std::size_t bytes = can_give(each->value);
    if (bytes == 0) continue;
    auto on_disk = graph::spill(each->value);
    if (!on_disk.ok()) break;  // a full disk: what asked for memory is told that there is none
    each->value = {std::move(on_disk).value(), 0};
    freed += bytes;
  }
  return freed;
}

}  // namespace spillway::python
