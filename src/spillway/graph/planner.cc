#include <algorithm>
#include <unordered_map>

#include "spillway/graph/infer_outputs.h"
#include "spillway/graph/memory_plan.h"
#include "spillway/graph/paired.h"
#include "spillway/graph/plan.h"
#include "spillway/graph/row_roles.h"
#include "spillway/graph/rows.h"
#include "spillway/graph/run_op.h"

namespace spillway::graph {
namespace {

constexpr std::size_t kAlign = 64;
constexpr std::size_t kSmall = 64 * 1024;

std::size_t bytes_of(const Spec& spec) {
  return static_cast<std::size_t>(spec.shape.count()) * size_of(spec.dtype);
}

}  // namespace

// Builds a plan in three passes: values and folding, the schedule with its groups, places.
class Planner {
 public:
  Planner(const GraphPtr& graph, AccountPtr account)
      : plan_(new Plan()), account_(std::move(account)) {
    plan_->graph_ = graph;
  }

  // False: not possible for fixed shapes.
  Result<bool> build(std::span<const Spec> rows, std::size_t shared) {
    const Graph& graph = *plan_->graph_;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const int v = add(rows[i], i + shared < rows.size());
      value(v).place = Plan::Place::kParameter;
      value(v).index = static_cast<int>(i);
      ids_[{graph.parameters()[i].get(), 0}] = v;
    }
    has_parameters_ = !rows.empty();
    for (const auto& [node, operands] : graph.order()) {
      SW_ASSIGN(const bool fixed, enter(node, operands));
      if (!fixed) return false;
    }
    for (const Operand& result : graph.results()) plan_->results_.push_back(id_of(result));
    for (const Pending& pending : pending_) schedule(pending);
    while (!open_.empty()) close(open_.front());
    SW_RETURN_IF_ERROR(make_steps());
    place();
    plan_->scratch_ = (plan_->scratch_ + kAlign - 1) / kAlign * kAlign;
    return true;
  }
  std::unique_ptr<Plan> take() { return std::move(plan_); }

 private:
  struct Pending {
    NodePtr node;
    std::vector<int> in;
    std::vector<int> out;
  };
  struct Group {
    std::vector<const Pending*> members;
    const Pending* fold = nullptr;
  };

  Plan::Value& value(int v) { return plan_->values_[static_cast<std::size_t>(v)]; }
  int add(Spec spec, bool batched) {
    Plan::Value v;
    v.spec = std::move(spec);
    v.batched = batched;
    plan_->values_.push_back(std::move(v));
    return static_cast<int>(plan_->values_.size()) - 1;
  }
  int constant(Tensor tensor) {
    const int v = add({tensor.dtype(), tensor.shape()}, false);
    value(v).place = Plan::Place::kConstant;
    value(v).constant = std::move(tensor);
    return v;
  }
  int id_of(const Operand& operand) {
    const std::pair<const Node*, int> key{operand.node.get(), operand.output};
    if (const auto found = ids_.find(key); found != ids_.end()) return found->second;
    const int v = constant(*operand.value());
    ids_[key] = v;
    return v;
  }
  int root(int v) {
    while (value(v).base >= 0) v = value(v).base;
    return v;
  }

  // ---- Values
  // ------------------------------------------------------------------------------------

  Result<bool> enter(const NodePtr& node, const std::vector<Operand>& operands) {
    std::vector<int> in;
    std::vector<Spec> specs;
    std::vector<const Tensor*> constants;
    std::vector<std::optional<Shape>> shapes;
    bool batched = false;
    bool known = true;
    for (const Operand& operand : operands) {
      const int v = id_of(operand);
      in.push_back(v);
    }
    for (const int v : in) {
      const Plan::Value& input = value(v);
      const bool is_constant = input.place == Plan::Place::kConstant;
      specs.push_back(input.spec);
      constants.push_back(is_constant ? &input.constant : nullptr);
      shapes.push_back(is_constant && is_integer(input.spec.dtype) ? shape_from(input.constant)
                                                                   : std::nullopt);
      // What is computed from shared parameters alone is computed for every row all the same.
      batched |= input.batched || value(root(v)).place == Plan::Place::kParameter;
      known &= is_constant;
    }
    const OpDef& op = node->op();
    Infer infer(specs, constants, shapes, node->attrs());
    if (Status status = infer_outputs(op, infer); !status.ok()) {
      return std::move(status).at(op.name);
    }
    for (const Spec& spec : infer.outputs()) {
      if (!spec.shape.fully_known()) return false;
    }
    // What every row draws anew is no constant, though nothing goes in.
    const bool varies =
        node->attrs().get_or("per_row", false) || node->attrs().get_or(kSliced, false);
    if (op.of_shape ||
        (known && !varies && op.effect != Effect::kState && folds(infer.outputs()))) {
      SW_RETURN_IF_ERROR(fold(node, specs, in));
      return true;
    }
    Pending pending{node, std::move(in), {}};
    for (std::size_t i = 0; i < infer.outputs().size(); ++i) {
      const int v = add(infer.outputs()[i], batched || !has_parameters_ ||
                                                op.effect == Effect::kState || known || varies);
      ids_[{node.get(), static_cast<int>(i)}] = v;
      pending.out.push_back(v);
    }
    if (op.view) {
      value(pending.out[0]).base = pending.in[0];
      value(pending.out[0]).batched = value(pending.in[0]).batched;
    } else {
      pending_.push_back(std::move(pending));
    }
    return true;
  }

  // Constants of functions are computed once; those of a plain expression only where they are
  // small.
  bool folds(const std::vector<Spec>& outputs) const {
    if (has_parameters_) return true;
    std::size_t bytes = 0;
    for (const Spec& spec : outputs) bytes += bytes_of(spec);
    return bytes <= kSmall;
  }

  Status fold(const NodePtr& node, const std::vector<Spec>& specs, const std::vector<int>& in) {
    std::vector<Tensor> inputs;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const Plan::Value& input = value(in[i]);
      if (input.place == Plan::Place::kConstant) {
        inputs.push_back(input.constant);
      } else {  // of_shape: nobody looks at the items
        static const auto& nothing =
            *new BufferPtr(std::make_shared<Buffer>(Buffer::adopt(nullptr, 0, nullptr)));
        inputs.push_back(is_plain(specs[i].dtype)
                             ? Tensor(specs[i].dtype, specs[i].shape, nothing)
                             : Tensor::of_strings(specs[i].shape, {nothing, nothing}));
      }
    }
    auto folded = run_op(node->op(), inputs, node->attrs(), account_, Buffer::Ask::kRequired);
    if (!folded.ok()) return std::move(folded).status();
    for (std::size_t i = 0; i < folded.value().size(); ++i) {
      ids_[{node.get(), static_cast<int>(i)}] = constant(std::move(folded.value()[i]));
    }
    return {};
  }

  // ---- Schedule
  // ----------------------------------------------------------------------------------

  void schedule(const Pending& pending) {
    for (const int v : pending.out) made_by_[v] = -1;
    const bool loop = pending.node->op().loop != nullptr;
    const Shape& shape = value(pending.out[0]).spec.shape;
    int joined = -1;
    if (loop) {
      for (const int g : open_) {
        const Group& group = groups_[static_cast<std::size_t>(g)];
        if (value(group.members[0]->out[0]).spec.shape == shape) joined = g;
      }
    }
    // Whoever is read from outside its group is complete now.
    int feeding = -1;
    for (const int v : pending.in) {
      const int g = open_group_of(root(v));
      if (g < 0 || (g == joined && root(v) == v)) continue;
      if (pending.node->op().fold != nullptr && feeding < 0 && can_feed(g, v, pending)) {
        feeding = g;
        continue;
      }
      if (g == joined) joined = -1;
      close(g);
    }
    if (feeding >= 0) {
      groups_[static_cast<std::size_t>(feeding)].fold = &pending;
      close(feeding);
      return;
    }
    if (!loop) {
      groups_.push_back({{&pending}, nullptr});
      scheduled_.push_back(static_cast<int>(groups_.size()) - 1);
      return;
    }
    if (joined < 0) {
      groups_.push_back({});
      joined = static_cast<int>(groups_.size()) - 1;
      open_.push_back(joined);
    }
    groups_[static_cast<std::size_t>(joined)].members.push_back(&pending);
    for (const int v : pending.out) made_by_[v] = joined;
  }

  int open_group_of(int v) const {
    const auto found = made_by_.find(v);
    if (found == made_by_.end() || found->second < 0) return -1;
    const bool open = std::find(open_.begin(), open_.end(), found->second) != open_.end();
    return open ? found->second : -1;
  }

  // A reduction takes the blocks of a group as they come when nobody else wants the value.
  bool can_feed(int g, int v, const Pending& fold) {
    const Group& group = groups_[static_cast<std::size_t>(g)];
    if (group.members.back()->out[0] != v) return false;
    int readers = 0;
    for (const Pending& pending : pending_) {
      readers += static_cast<int>(
          std::count_if(pending.in.begin(), pending.in.end(), [&](int u) { return root(u) == v; }));
    }
    const bool result = std::any_of(plan_->results_.begin(), plan_->results_.end(),
                                    [&](int u) { return root(u) == v; });
    if (readers != 1 || result) return false;
    const Shape& shape = value(v).spec.shape;
    const auto axes = fold_axes(fold.node->attrs(), shape.rank());
    return shape.count() > 0 && axes.ok() && fold_shape(shape, axes.value()).has_value();
  }

  void close(int g) {
    open_.erase(std::find(open_.begin(), open_.end(), g));
    scheduled_.push_back(g);
  }

  // ---- Steps
  // -------------------------------------------------------------------------------------

  Status make_steps() {
    for (const int g : scheduled_) {
      const Group& group = groups_[static_cast<std::size_t>(g)];
      if (group.members[0]->node->op().loop != nullptr) {
        SW_RETURN_IF_ERROR(fused_step(group));
      } else {
        SW_RETURN_IF_ERROR(single_step(*group.members[0]));
      }
    }
    return {};
  }

  struct Ready {
    std::vector<Spec> in;
    std::vector<Spec> out;
    std::vector<const Tensor*> constants;
  };
  Ready ready(const Pending& pending) {
    Ready r;
    for (const int v : pending.in) {
      r.in.push_back(value(v).spec);
      r.constants.push_back(value(v).place == Plan::Place::kConstant ? &value(v).constant
                                                                     : nullptr);
    }
    for (const int v : pending.out) r.out.push_back(value(v).spec);
    return r;
  }

  bool read_outside(int v, const Group& group) {
    for (const int r : plan_->results_) {
      if (root(r) == v) return true;
    }
    for (const Pending& pending : pending_) {
      const bool reads =
          std::any_of(pending.in.begin(), pending.in.end(), [&](int u) { return root(u) == v; });
      if (!reads || &pending == group.fold) continue;
      // A view of it within the group still needs it in memory.
      const bool member =
          std::find(group.members.begin(), group.members.end(), &pending) != group.members.end();
      if (!member || std::find(pending.in.begin(), pending.in.end(), v) == pending.in.end()) {
        return true;
      }
    }
    return false;
  }

  // Whether the member's result is the next one's first operand and goes to nobody else.
  bool feeds_only_next(const Group& group, std::size_t m) {
    if (m + 1 >= group.members.size()) return false;
    const int between = group.members[m]->out[0];
    const std::vector<int>& operands = group.members[m + 1]->in;
    if (operands.empty() || operands[0] != between) return false;
    const auto reads = [&](const Pending* member) {
      return std::count(member->in.begin(), member->in.end(), between);
    };
    std::ptrdiff_t readers = 0;
    for (const Pending* member : group.members) readers += reads(member);
    if (group.fold != nullptr) readers += reads(group.fold);
    return readers == 1 && !read_outside(between, group);
  }

  Result<Loop> loop_of(const Pending& member) {
    const Ready r = ready(member);
    const OpDef& op = member.node->op();
    SW_ASSIGN(Loop loop, op.loop({r.in, r.out, r.constants, member.node->attrs()}));
    if (loop.fn == nullptr) return internal_bug(op.name, ": no loop");
    return loop;
  }

  // What one loop does of a group, a member or several, and its operands.
  struct Stretch {
    std::size_t members = 1;
    std::vector<int> in;
    Loop loop;
  };
  Result<Stretch> stretch(const Group& group, std::size_t m) {
    const Pending& first = *group.members[m];
    Stretch out{1, first.in, {}};
    SW_ASSIGN(out.loop, loop_of(first));
    if (!feeds_only_next(group, m) || group.members[m + 1]->in.size() != 2) return out;
    const Pending& second = *group.members[m + 1];
    const auto names = std::pair(first.node->op().name, second.node->op().name);
    const DType dtype = value(first.out[0]).spec.dtype;
    const LoopFn both = paired_loop(names.first, names.second, dtype);
    if (both == nullptr) return out;
    out.members = 2;
    out.in.push_back(second.in[1]);
    out.loop = {both, nullptr, ""};
    if (!feeds_only_next(group, m + 1)) return out;
    const Pending& third = *group.members[m + 2];
    if (third.node->op().name != "clip_by_value") return out;
    SW_ASSIGN(const Loop clip, loop_of(third));
    if (clip.data == nullptr) return out;
    out.members = 3;
    out.loop = {bounded_pair_loop(names.first, names.second, dtype), clip.data, ""};
    return out;
  }

  Status fused_step(const Group& group) {
    Plan::Step step;
    step.kind = group.fold == nullptr ? Plan::Kind::kFused : Plan::Kind::kFold;
    auto fused = std::make_shared<Fused>(value(group.members[0]->out[0]).spec.shape);
    std::unordered_map<int, Fused::Ref> refs;
    const auto operand = [&](int v) {
      auto found = refs.find(v);
      if (found == refs.end()) {
        const Plan::Value& source = value(v);
        found = refs.emplace(v, fused->source(source.spec.dtype, source.spec.shape,
                                              value(root(v)).batched))
                    .first;
        step.in.push_back(v);
      }
      return found->second;
    };
    for (std::size_t m = 0; m < group.members.size();) {
      SW_ASSIGN(Stretch next, stretch(group, m));
      m += next.members;
      std::vector<Fused::Ref> in;
      in.reserve(next.in.size());
      for (const int v : next.in) in.push_back(operand(v));
      const int out = group.members[m - 1]->out[0];
      int stored = -1;
      if (read_outside(out, group)) {
        stored = static_cast<int>(step.out.size());
        step.out.push_back(out);
      }
      refs[out] = fused->step(std::move(next.loop), in, value(out).spec.dtype, stored);
    }
    fused->finish();
    plan_->scratch_ = std::max(plan_->scratch_, fused->scratch());
    step.fused = std::move(fused);
    if (group.fold != nullptr) SW_RETURN_IF_ERROR(add_fold(step, *group.fold));
    plan_->steps_.push_back(std::move(step));
    return {};
  }

  Status add_fold(Plan::Step& step, const Pending& pending) {
    const Ready r = ready(pending);
    SW_ASSIGN(step.fold,
              pending.node->op().fold({r.in, r.out, r.constants, pending.node->attrs()}));
    SW_ASSIGN(const auto axes, fold_axes(pending.node->attrs(), r.in[0].shape.rank()));
    const auto shape = fold_shape(r.in[0].shape, axes);
    if (!shape) return internal_bug("a fold of scattered axes was scheduled");
    step.fold_shape = *shape;
    step.fold_item = size_of(r.in[0].dtype);
    step.node = pending.node;
    step.out.push_back(pending.out[0]);  // the last output is the fold's
    const std::size_t fused = (step.fused == nullptr ? 0 : step.fused->scratch());
    plan_->scratch_ = std::max(plan_->scratch_, (fused + kAlign - 1) / kAlign * kAlign +
                                                    FoldRun::scratch(step.fold, step.fold_shape));
    return {};
  }

  Status single_step(const Pending& pending) {
    const OpDef& op = pending.node->op();
    Plan::Step step;
    step.node = pending.node;
    step.in = pending.in;
    if (op.fold != nullptr) {
      const Shape& shape = value(pending.in[0]).spec.shape;
      SW_ASSIGN(const auto axes, fold_axes(pending.node->attrs(), shape.rank()));
      if (shape.count() > 0 && fold_shape(shape, axes)) {
        step.kind = Plan::Kind::kFold;
        SW_RETURN_IF_ERROR(add_fold(step, pending));
        plan_->steps_.push_back(std::move(step));
        return {};
      }
    }
    step.out = pending.out;
    if (op.prepare != nullptr) {
      const Ready r = ready(pending);
      step.kind = Plan::Kind::kKernel;
      SW_ASSIGN(step.kernel, op.prepare({r.in, r.out, r.constants, pending.node->attrs()}));
      plan_->scratch_ = std::max(plan_->scratch_, step.kernel->scratch());
    } else {
      step.kind = Plan::Kind::kCompute;
      std::size_t copies = 0;  // of what lies in the arena, see Running::tensor
      for (const int v : step.in)
        copies += is_plain(value(v).spec.dtype) ? charge_of(bytes_of(value(v).spec)) : 0;
      plan_->copies_ = std::max(plan_->copies_, copies);
      for (const int v : step.out) {
        const Spec& spec = value(v).spec;
        if (is_plain(spec.dtype)) plan_->tensor_bytes_ += charge_of(bytes_of(spec));
        value(v).place = Plan::Place::kTensor;
        value(v).index = plan_->tensors_++;
      }
    }
    plan_->steps_.push_back(std::move(step));
    return {};
  }

  // ---- Places
  // ------------------------------------------------------------------------------------

  void place() {
    for (std::size_t i = 0; i < plan_->results_.size(); ++i) {
      const int r = plan_->results_[i];
      plan_->result_specs_.push_back(value(r).spec);
      plan_->result_bytes_ += is_plain(value(r).spec.dtype) ? bytes_of(value(r).spec) : 0;
      Plan::Value& base = value(root(r));
      if (base.place == Plan::Place::kArena) {
        base.place = Plan::Place::kResult;
        base.index = static_cast<int>(i);
      }
    }
    std::unordered_map<int, std::size_t> at;  // of a value in `lives`
    std::vector<int> owners;
    std::vector<Lifetime> lives;
    for (std::size_t s = 0; s < plan_->steps_.size(); ++s) {
      const int now = static_cast<int>(s);
      for (const int v : plan_->steps_[s].out) {
        const Plan::Value& out = value(v);
        if (out.place != Plan::Place::kArena) continue;
        at[v] = lives.size();
        owners.push_back(v);
        lives.push_back({(bytes_of(out.spec) + kAlign - 1) / kAlign * kAlign, now, now});
      }
      for (const int v : plan_->steps_[s].in) {
        if (const auto found = at.find(root(v)); found != at.end()) lives[found->second].dies = now;
      }
    }
    const MemoryPlan memory = graph::place(lives);
    for (std::size_t i = 0; i < lives.size(); ++i) value(owners[i]).offset = memory.offsets[i];
    plan_->arena_row_ = memory.bytes;
    plan_->most_live_ = most_live(lives);
  }

  struct Hash {
    std::size_t operator()(const std::pair<const Node*, int>& key) const {
      return std::hash<const void*>()(key.first) * 31 + static_cast<std::size_t>(key.second);
    }
  };
  std::unique_ptr<Plan> plan_;
  AccountPtr account_;
  bool has_parameters_ = false;
  std::unordered_map<std::pair<const Node*, int>, int, Hash> ids_;
  std::vector<Pending> pending_;
  std::vector<Group> groups_;
  std::vector<int> open_;
  std::vector<int> scheduled_;
  std::unordered_map<int, int> made_by_;
};

Result<std::shared_ptr<const Plan>> Plan::make(const GraphPtr& graph, std::span<const Spec> rows,
                                               const AccountPtr& account, std::size_t shared) {
  Planner planner(graph, account);
  SW_ASSIGN(const bool fixed, planner.build(rows, shared));
  if (!fixed) return std::shared_ptr<const Plan>();
  return std::shared_ptr<const Plan>(planner.take());
}

}  // namespace spillway::graph
