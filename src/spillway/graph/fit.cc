#include "spillway/graph/fit.h"

#include <algorithm>

#include "spillway/base/workers.h"
#include "spillway/graph/fold.h"
#include "spillway/graph/npy_source.h"
#include "spillway/graph/product_rows.h"
#include "spillway/graph/refusal.h"

namespace spillway::graph {
namespace {

constexpr std::size_t kNear = std::size_t{32} << 20U;   // larger slices leave the caches behind
constexpr std::size_t kRecord = std::size_t{4} << 20U;  // of rows on disk

// Whether making rows again costs little beside reading them: numbers are drawn, items computed.
bool is_light(const Node& node) {
  const OpDef& op = node.op();
  return op.loop != nullptr || op.view || op.name == "fill" || op.name == "broadcast_to" ||
         &op == &load_npy_op;
}

// What a reduction sums in.
Result<std::size_t> fold_bytes(const Scheduled& each) {
  const Spec specs[] = {each.inputs[0].spec()};
  const Tensor* constants[] = {nullptr};
  const Node& node = *each.node;
  SW_ASSIGN(const Fold fold, node.op().fold({specs, node.outputs(), constants, node.attrs()}));
  SW_ASSIGN(const std::vector<int> axes, fold_axes(node.attrs(), specs[0].shape.rank()));
  return charge_of(FoldRun::scratch(fold, *fold_shape(specs[0].shape, axes)));
}

// What an op may need beside its operands and results: scratch of kernels, never declared larger.
std::size_t op_bytes(const Scheduled& each) {
  const bool small = bytes_of(each.inputs) + bytes_of(each.node->outputs()[0]) < kRecord;
  return small || each.node->op().view ? 0 : kRecord * static_cast<std::size_t>(parallel_width());
}

}  // namespace

// ---- What is needed, and as what
// -----------------------------------------------------------------

bool Fit::folds_rows(const Scheduled& each) const {
  if (each.node->op().fold == nullptr || each.inputs.size() != 1) return false;
  const Spec& in = each.inputs[0].spec();
  if (!is_plain(in.dtype) || !in.shape.fully_known() || in.shape.rank() < 1) return false;
  const auto axes = fold_axes(each.node->attrs(), in.shape.rank());
  return axes.ok() && in.shape.count() > 0 && fold_shape(in.shape, axes.value()).has_value();
}

bool Fit::as_panels(const Scheduled& each) const {
  return is_tileable_product(*each.node, each.inputs) && each.inputs[1].value() == nullptr &&
         bytes_of(each.inputs[1].spec()) > room_ / 4;
}

void Fit::demand_inputs(const Scheduled& each, const Node* of, bool again) {
  const auto ask = [&](const Operand& input, bool whole, bool more) {
    if (input.value() != nullptr) return;
    Demand& wanted = demands_[input.node.get()];
    wanted.whole |= whole;
    wanted.again |= !whole && (again || more);
    if (!whole) wanted.of.insert(of);
  };
  if (as_panels(each)) {
    ask(each.inputs[0], false, false);
    ask(each.inputs[1], false, true);
    return;
  }
  const auto roles = row_roles(*each.node, each.inputs);
  const bool folded = !roles && folds_rows(each);
  for (std::size_t i = 0; i < each.inputs.size(); ++i) {
    if (roles && (*roles)[i] == Role::kShape) continue;
    ask(each.inputs[i], !folded && !(roles && (*roles)[i] == Role::kRows), false);
  }
}

std::shared_ptr<Fit::Made> Fit::value_made(const Node& node, bool on_disk) const {
  auto made = std::make_shared<Made>();
  for (std::size_t i = 0; i < node.outputs().size(); ++i) {
    made->values.push_back(std::make_shared<Tensor>());
  }
  if (!on_disk) return made;
  const Spec& spec = node.outputs()[0];
  const std::size_t row = bytes_of(spec) / static_cast<std::size_t>(spec.shape[0]);
  const std::size_t record = std::min(kRecord, room_ / 16);
  made->on_disk = std::make_shared<RowsOnDisk>();
  made->on_disk->block = std::clamp<std::int64_t>(
      static_cast<std::int64_t>(record / std::max<std::size_t>(1, row)), 1, spec.shape[0]);
  return made;
}

// Consumers first: what nobody can make in rows, or would have to make twice, becomes a value.
void Fit::demand(std::span<const Operand> roots, std::span<const Scheduled> order, Into into) {
  for (const Operand& root : roots) {
    Demand& wanted = demands_[root.node.get()];
    if (into == Into::kMemory) wanted.whole = true;
    if (into == Into::kRows) wanted.of.insert(nullptr);
  }
  for (std::size_t i = order.size(); i-- > 0;) {
    const Scheduled& each = order[i];
    const Node* node = each.node.get();
    const auto found = demands_.find(node);
    if (found == demands_.end()) continue;
    const Demand wanted = found->second;
    if (&node->op() == &load_npy_op && !wanted.whole) continue;
    const bool in_rows = as_panels(each) || row_roles(*node, each.inputs).has_value();
    const bool twice = !is_light(*node) && (wanted.again || wanted.of.size() > 1);
    if (wanted.whole || !in_rows || twice) {
      const bool waits = !wanted.whole && in_rows && bytes_of(node->outputs()[0]) > room_ / 4;
      made_[node] = value_made(*node, waits);
      demand_inputs(each, node, false);
    } else {
      for (const Node* of : wanted.of) demand_inputs(each, of, wanted.again);
    }
  }
}

// ---- Rows
// ----------------------------------------------------------------------------------------

Result<RowsPtr> Fit::rows_of(const Operand& operand) {
  if (const Tensor* value = operand.value()) {
    return RowsPtr(
        std::make_shared<KnownRows>(operand.spec(), std::make_shared<const Tensor>(*value)));
  }
  if (const auto found = made_.find(operand.node.get()); found != made_.end()) {
    if (uses_ != nullptr) uses_->insert(step_of_.at(operand.node.get()));
    const Made& made = *found->second;
    if (made.on_disk != nullptr) {
      return RowsPtr(std::make_shared<DiskRows>(operand.spec(), made.on_disk));
    }
    return RowsPtr(std::make_shared<KnownRows>(
        operand.spec(), made.values[static_cast<std::size_t>(operand.output)]));
  }
  return body_of(operand);
}

Result<RowsPtr> Fit::body_of(const Operand& operand) {
  const Scheduled& each = *place_.at(operand.node.get()).second;
  if (&each.node->op() == &load_npy_op) return npy_rows(*each.node);
  if (as_panels(each)) {
    SW_ASSIGN(RowsPtr a, rows_of(each.inputs[0]));
    SW_ASSIGN(RowsPtr b, rows_of(each.inputs[1]));
    return product_rows(*each.node, std::move(a), std::move(b), spare_ / 8);
  }
  SW_ASSIGN(RowSteps steps, row_steps(operand));
  return RowsPtr(std::make_shared<SlicedRows>(std::move(steps), account_));
}

// The steps up to `root` that run in slices, and what they begin with.
Result<RowSteps> Fit::row_steps(const Operand& root) {
  RowSteps out;
  std::vector<const Scheduled*> found = {place_.at(root.node.get()).second};
  std::set<std::pair<const Node*, int>> seen = {{root.node.get(), 0}};
  for (std::size_t next = 0; next < found.size(); ++next) {
    const Scheduled& each = *found[next];
    const auto roles = row_roles(*each.node, each.inputs);
    if (!roles) return internal_bug(each.node->op().name, ": has no rows of its own");
    for (std::size_t i = 0; i < each.inputs.size(); ++i) {
      const Operand& input = each.inputs[i];
      const bool rows = (*roles)[i] == Role::kRows;
      if ((*roles)[i] == Role::kShape || (!rows && input.value() != nullptr)) continue;
      if (!seen.insert({input.node.get(), input.output}).second) continue;
      if (!rows) {
        uses_->insert(step_of_.at(input.node.get()));
        const Made& made = *made_.at(input.node.get());
        out.whole.push_back({input, made.values[static_cast<std::size_t>(input.output)]});
        continue;
      }
      const auto place = place_.find(input.node.get());
      const bool inside = input.value() == nullptr && !made_.contains(input.node.get()) &&
                          &input.node->op() != &load_npy_op && !as_panels(*place->second.second);
      if (inside) {
        found.push_back(place->second.second);
      } else {
        SW_ASSIGN(RowsPtr leaf, rows_of(input));
        out.leaves.push_back({input, std::move(leaf)});
      }
    }
  }
  std::sort(found.begin(), found.end(), [&](const Scheduled* a, const Scheduled* b) {
    return place_.at(a->node.get()).first < place_.at(b->node.get()).first;
  });
  for (const Scheduled* each : found) {
    out.steps.push_back({each->node, each->inputs, *row_roles(*each->node, each->inputs)});
  }
  return out;
}

// ---- Plan
// ----------------------------------------------------------------------------------------

// What a step holds beside its result, with so many rows at a time.
Result<std::size_t> Fit::held(const Step& step, std::int64_t rows) {
  SW_ASSIGN(const std::size_t bytes, step.rows->held(rows));
  // Slices of a value in memory are made in their place; others need one of their own.
  const bool in_place =
      step.kind == Kind::kSlices && step.made != nullptr && step.made->on_disk == nullptr;
  const std::size_t block = static_cast<std::size_t>(rows) * step.rows->row_bytes();
  return std::min(SIZE_MAX / 2, step.beside + bytes + (in_place ? 0 : charge_of(block)));
}

// As few slices as fit; smaller ones where nothing is gained by size and the caches are.
Status Fit::choose_cut(Step& step, std::size_t alive) const {
  const Rows& rows = *step.rows;
  const std::int64_t count = rows.count();
  if (rows.in_memory() && step.kind == Kind::kFold) {  // taken where it lies
    step.cut = {count, 1};
    step.held = step.beside;
    return {};
  }
  const std::size_t room = room_ > alive + step.result ? room_ - alive - step.result : 0;
  const std::int64_t most_parts =
      std::max<std::int64_t>(1, count / std::max<std::int64_t>(1, rows.least()));
  step.cut = {count, most_parts};
  SW_ASSIGN(step.held, held(step, step.cut.most()));
  if (step.held > room) return {};
  const std::int64_t unit = step.cut.most();
  const std::size_t one = step.held;
  const std::int64_t more = std::min(count, 4 * unit);
  if (more == unit) return {};
  SW_ASSIGN(const std::size_t four, held(step, more));
  const double each = std::max(1.0, (static_cast<double>(four) - static_cast<double>(one)) /
                                        static_cast<double>(more - unit));
  const auto rows_within = [&](std::size_t bytes) {
    const double spare = static_cast<double>(bytes) - static_cast<double>(one);
    return unit + static_cast<std::int64_t>(std::max(0.0, spare) / each);
  };
  std::int64_t wanted = std::min(count, rows_within(room));
  if (!rows.wants_many()) wanted = std::min(wanted, std::max(rows.many(), rows_within(kNear)));
  for (std::int64_t n = wanted; n > unit; n = n * 9 / 10) {
    const Cut cut{count, std::min(most_parts, (count + n - 1) / n)};
    SW_ASSIGN(const std::size_t bytes, held(step, cut.most()));
    if (bytes > room) continue;
    step.cut = cut;
    step.held = bytes;
    break;
  }
  return {};
}

Status Fit::add_step(const Scheduled& each, bool rows_only) {
  Step step;
  step.operand = {each.node, 0};
  step.inputs = each.inputs;
  std::set<std::size_t> uses;
  uses_ = &uses;
  if (!rows_only) step.made = made_.at(each.node.get());
  const bool in_rows = &each.node->op() == &load_npy_op || as_panels(each) ||
                       row_roles(*each.node, each.inputs).has_value();
  if (in_rows) {
    step.kind = Kind::kSlices;
    SW_ASSIGN(step.rows, body_of(step.operand));
  } else if (folds_rows(each)) {
    step.kind = Kind::kFold;
    SW_ASSIGN(step.rows, rows_of(each.inputs[0]));
    SW_ASSIGN(step.beside, fold_bytes(each));
  } else {
    step.held = op_bytes(each);
    for (const Operand& input : each.inputs) {
      if (input.value() == nullptr) uses.insert(step_of_.at(input.node.get()));
    }
  }
  uses_ = nullptr;
  for (const Spec& spec : each.node->outputs()) {
    if (rows_only) break;
    (step.made->on_disk == nullptr ? step.result : on_disk_) += charge_of(bytes_of(spec));
  }
  step.ends.assign(uses.begin(), uses.end());  // shortened to last uses by finish_plan
  step_of_[each.node.get()] = steps_.size();
  steps_.push_back(std::move(step));
  return {};
}

Status Fit::finish_plan(std::span<const Operand> roots) {
  std::unordered_map<std::size_t, std::size_t> last;
  for (std::size_t s = 0; s < steps_.size(); ++s) {
    for (const std::size_t used : steps_[s].ends) last[used] = s;
  }
  for (const Operand& root : roots) {
    if (const auto found = step_of_.find(root.node.get()); found != step_of_.end())
      last.erase(found->second);
  }
  std::size_t alive = 0;
  for (std::size_t s = 0; s < steps_.size(); ++s) {
    Step& step = steps_[s];
    std::erase_if(step.ends, [&](std::size_t used) {
      const auto found = last.find(used);
      return found == last.end() || found->second != s;
    });
    if (step.rows != nullptr) SW_RETURN_IF_ERROR(choose_cut(step, alive));
    needed_ = std::max(needed_, std::min(SIZE_MAX / 2, alive + step.result + step.held));
    alive += step.result;
    for (const std::size_t used : step.ends) alive -= steps_[used].result;
  }
  return {};
}

Result<std::unique_ptr<Fit>> Fit::make(std::span<const Operand> roots,
                                       std::span<const Scheduled> order, std::size_t room,
                                       const AccountPtr& account, Into into) {
  std::unique_ptr<Fit> fit(new Fit(room, account));
  fit->roots_.assign(roots.begin(), roots.end());
  fit->order_.assign(order.begin(), order.end());
  for (std::size_t i = 0; i < fit->order_.size(); ++i) {
    fit->place_[fit->order_[i].node.get()] = {i, &fit->order_[i]};
  }
  for (const Scheduled& each : fit->order_) {
    for (const Spec& spec : each.node->outputs()) {
      if (spec.shape.fully_known() && is_plain(spec.dtype)) continue;
      fit->needed_ = SIZE_MAX / 2;  // nobody can say
      return fit;
    }
  }
  const std::size_t results = into == Into::kMemory ? bytes_of(roots) : 0;
  fit->spare_ = room - std::min(room, results);
  fit->demand(roots, fit->order_, into);
  for (const Scheduled& each : fit->order_) {
    const bool root = into == Into::kRows && each.node == roots[0].node;
    const bool made = fit->made_.contains(each.node.get());
    if (made) SW_RETURN_IF_ERROR(fit->add_step(each, false));
    if (root && !made) SW_RETURN_IF_ERROR(fit->add_step(each, true));
  }
  SW_RETURN_IF_ERROR(fit->finish_plan(roots));
  return fit;
}

std::string Fit::how() const {
  std::int64_t parts = 1;
  for (const Step& step : steps_) {
    if (step.rows == nullptr) continue;
    if (step.rows->wants_many() || on_disk_ > 0) return "tiled";
    parts = std::max(parts, step.cut.parts);
  }
  return "micro-batched " + std::to_string(parts);
}

}  // namespace spillway::graph
