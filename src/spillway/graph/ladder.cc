#include "spillway/graph/ladder.h"

#include <algorithm>
#include <set>

#include "spillway/graph/refusal.h"
#include "spillway/graph/run_op.h"
#include "spillway/graph/spilled.h"
#include "spillway/memory/slab_pool.h"

namespace spillway::graph {
namespace {

constexpr std::size_t kSmall = 64 * 1024;
constexpr std::size_t kFitsAnywhere = std::size_t{1} << 20U;

// Bytes of ours that the computation works on: they stay while it runs.
std::size_t pinned(std::span<const Scheduled> order) {
  std::set<const Buffer*> seen;
  std::size_t bytes = 0;
  for (const Scheduled& each : order) {
    for (const Operand& input : each.inputs) {
      const Tensor* value = input.value();
      if (value == nullptr || !is_plain(value->dtype())) continue;
      const BufferPtr& buffer = value->buffer();
      if (buffer != nullptr && seen.insert(buffer.get()).second) bytes += buffer->charged();
    }
  }
  return bytes;
}

// In parts, within what is free now.
Result<std::unique_ptr<Fit>> fit_now(const Decision& of, std::size_t most,
                                     const AccountPtr& account, Fit::Into into) {
  const std::size_t free = std::min(within_reach(Budget::process()), most);
  return Fit::make(of.roots, of.order, free, account, into);
}

// If that is too little, within what others could give up.
Result<std::unique_ptr<Fit>> make_fit(const Decision& of, std::size_t most,
                                      const AccountPtr& account, Fit::Into into) {
  SW_ASSIGN(std::unique_ptr<Fit> fit, fit_now(of, most, account, into));
  if (fit->fits() || within_reach(Budget::process()) >= most) return fit;
  return Fit::make(of.roots, of.order, most, account, into);
}

}  // namespace

Result<std::vector<Operand>> pending_roots(std::span<const Operand> roots) {
  std::vector<Operand> pending;
  for (const Operand& root : roots) {
    const Node& node = *root.node;
    if (node.symbolic()) {
      return Status::error(ErrorKind::kUser, Code::kInvalidArgument,
                           "a tensor inside a traced function has no value yet");
    }
    const bool twice = std::any_of(pending.begin(), pending.end(),
                                   [&](const Operand& other) { return other.node == root.node; });
    if (node.evaluated() || twice) continue;
    const int outputs = static_cast<int>(node.outputs().size());
    for (int i = 0; i < outputs; ++i) pending.push_back({root.node, i});
  }
  return pending;
}

Status read_back(std::vector<Scheduled>& order, const AccountPtr& account, Buffer::Ask ask) {
  for (const Scheduled& each : order) {
    if (&each.node->op() != &unspill_op || each.node->evaluated()) continue;
    SW_ASSIGN(std::vector<Tensor> values,
              run_op(each.node->op(), {}, each.node->attrs(), account, ask));
    each.node->set_values(std::move(values));
  }
  std::erase_if(order, [](const Scheduled& each) { return &each.node->op() == &unspill_op; });
  return {};
}

Result<Decision> decide(std::vector<Operand> roots, std::vector<Scheduled> order,
                        const AccountPtr& account, Fit::Into into) {
  Decision out;
  out.roots = std::move(roots);
  out.order = std::move(order);
  Budget& budget = Budget::process();
  out.limit = budget.limit();
  const std::size_t results = bytes_of(out.roots);
  const bool rows = into == Fit::Into::kRows;
  out.needed = results;
  if (!rows) {
    // One small op needs no plan; a large loop is spread over the CPUs by one.
    const bool alone =
        out.order.size() == 1 && (out.order[0].node->op().loop == nullptr || results <= kSmall);
    if (out.order.empty() || (alone && results <= out.limit)) {
      out.op_by_op = true;
      return out;
    }
    if (results > out.limit) return out;
    SW_ASSIGN(out.plan, Plan::make(Graph::make({}, out.roots), {}, account));
    if (out.plan == nullptr) {
      out.op_by_op = true;
      return out;
    }
    out.needed = out.plan->working_bytes();
    for (const Operand& root : out.roots) out.needed += charge_of(bytes_of(root.spec()));
    if (out.needed <= kFitsAnywhere && out.needed <= out.limit) return out;
  }
  const std::size_t most = std::min(out.limit, budget.effective_limit());
  const std::size_t stays = std::min(pinned(out.order), most);
  if (!rows && out.needed <= most - stays) {
    if (out.needed <= within_reach(budget)) return out;
    // What others hold they may not be able to give up: rather in parts than that they are asked.
    SW_ASSIGN(std::unique_ptr<Fit> parts, fit_now(out, most - stays, account, into));
    if (parts->fits() && parts->on_disk() == 0) out.fit = std::move(parts);
    return out;
  }
  SW_ASSIGN(out.fit, make_fit(out, most - stays, account, into));
  if (rows) out.needed = out.fit->needed();
  return out;
}

}  // namespace spillway::graph
