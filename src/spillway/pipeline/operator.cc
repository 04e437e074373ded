#include "spillway/pipeline/operator.h"

#include <algorithm>
#include <new>

#include "spillway/base/clock.h"
#include "spillway/base/interrupt.h"
#include "spillway/memory/room.h"
#include "spillway/memory/slab_pool.h"
#include "spillway/pipeline/run.h"
#include "spillway/pipeline/stage_clock.h"

namespace spillway {
namespace {

// Time spent in the stages below, so that each stage counts only its own.
thread_local std::int64_t below_ns = 0;

Result<StagePtr> nested_stage(const Stage& outer, const NodePtr& inner, bool aside = false) {
  std::string name = outer.name() + "/" + std::string(inner->op().name);
  StageStats& stats = outer.run().nested_stats(name, *inner, aside || outer.stats().aside);
  auto stage = std::make_shared<Stage>(outer.run(), inner, std::move(name), outer.account(), stats);
  SW_RETURN_IF_ERROR(stage->set_own_policy());
  return stage;
}

// Before any row is there to be lost.
template <class T>
Result<T> of_no_row(Result<T> opened) {
  if (!opened.ok()) return losing(std::move(opened).status(), {});
  return opened;
}

}  // namespace

void waited_for_input(std::int64_t ns) { below_ns += ns; }

bool is_position(const Status& error) {
  if (error.code() == Code::kCancelled) return false;
  // What the user's own code found too much was called for this element.
  if (error.kind() != ErrorKind::kResource || error.info().cause != nullptr) return true;
  const std::string& type = error.info().type;
  return type != "BudgetError" && type != "FloorTooHigh";
}

Next Iterator::next(const Demand& demand) {
  Next next = advance(demand);
  if (!next.ok() || !next.value()) return next;
  const Amount rows = next.value()->amount();
  stage_->stats().out.add(rows);
  if (reader_ != nullptr) reader_->stats().in.add({rows.rows, weighs_ ? rows.weight : 0});
  return next;
}

namespace {

// The allocator may say no to anybody at the container's limit: that is no reason to end the
// process.
template <typename Pull>
Next without_bad_alloc(const Pull& pull) {
  try {
    return pull();
  } catch (const std::bad_alloc&) {
    return container_is_full();
  }
}

}  // namespace

Next Iterator::advance(const Demand& demand) {
  if (ended_) return end_of_data();
  SW_RETURN_IF_ERROR(stage_->guarantee());
  const std::int64_t outer_below = std::exchange(below_ns, 0);
  const std::int64_t start = now_ns();
  StageStats& stats = stage_->stats();
  for (;;) {
    if (stage_->run().stop() || interrupted(start)) {
      below_ns = outer_below;
      return cancelled();
    }
    Next next = without_bad_alloc([&] { return pull(demand); });
    if (next.ok()) {
      if (!next.value()) {
        ended_ = true;
      } else {
        const Chunk& chunk = *next.value();
        const std::size_t bytes = chunk.footprint();
        stats.bytes += static_cast<std::int64_t>(bytes);
        stage_->note_row(bytes / static_cast<std::size_t>(chunk.rows()));
        if (bytes >= SlabPool::kLeast) stage_->settle(chunk);
      }
    } else {
      stage_->stamp(next.error(), epoch_);
      if (stage_->settle(next.error())) continue;
    }
    const std::int64_t total = now_ns() - start;
    stats.busy_ns += total - below_ns;
    stats.wait_ns += below_ns;
    below_ns = outer_below + total;
    return next;
  }
}

FunctionPtr Iterator::merge_into(Function& /*outer*/) { return nullptr; }

// Rows that were handed on by the pass this one continues: not handed on again.
Status Iterator::skip(std::int64_t rows) {
  while (rows > 0) {
    Next next = advance(Demand{rows, 1 << 20, 1'000'000});
    if (!next.ok()) {
      // That rows are others than they were is no row's error: nothing may be passed over for it.
      const bool others = next.error().info().type == "GeneratorNotReplayable";
      if (others || !is_position(next.error())) return std::move(next).status();
      --rows;  // an error is a position
      continue;
    }
    if (!next.value()) return {};
    if (stage_->node().op().ratio == Ratio::kOneToOne) use(next.value()->amount());
    rows -= next.value()->rows();
  }
  return {};
}

void Iterator::drop(const std::optional<Chunk>& rows, std::string_view why) const {
  if (!rows || rows->rows() == 0) return;
  stage_->drop(rows->amount(), why, rows->origins().describe(0));
}

Result<StagePtr> OpenContext::input_stage(std::size_t i) const {
  const NodePtr& input = node().inputs()[i];
  if (StagePtr below = run().stage_of(*input)) return below;
  // Inside a nested dataset the stages are made as they are opened and share one account.
  return nested_stage(*stage_, input);
}

Result<IteratorPtr> OpenContext::open_input(std::size_t i, std::int64_t epoch,
                                            std::int64_t bound) const {
  SW_ASSIGN(StagePtr below, input_stage(i));
  const OperatorDef& op = below->node().op();
  SW_ASSIGN(IteratorPtr it,
            of_no_row(op.open(OpenContext(std::move(below), epoch, outer_, bound))));
  const Weighs weighs = node().op().weighs;
  it->set_reader(stage_, weighs == Weighs::kAll || (weighs == Weighs::kFirst) == (i == 0));
  return it;
}

Result<IteratorPtr> OpenContext::open_nested(const NodePtr& inner, const Origin& outer) const {
  SW_ASSIGN(StagePtr below, nested_stage(*stage_, inner));
  SW_ASSIGN(IteratorPtr it,
            of_no_row(inner->op().open(OpenContext(std::move(below), epoch_, outer))));
  it->set_reader(stage_, true);
  return it;
}

Result<IteratorPtr> OpenContext::open_aside(const NodePtr& own) const {
  SW_ASSIGN(StagePtr below, nested_stage(*stage_, own, true));
  return own->op().open(OpenContext(std::move(below), epoch_, {}));
}

ScopePtr OpenContext::source_scope(std::string file) const {
  return std::make_shared<OriginScope>(
      OriginScope{stage_->name(), epoch_, std::move(file), outer_});
}

namespace {

// Whether every function of a node may be called unseen; and none of them fails.
template <class Holds>
bool all_functions(const Node& node, Holds holds) {
  for (const ParamDef& param : node.op().params.own()) {
    if (param.type != ParamType::kFunction) continue;
    const FunctionPtr function = node.function_param(param.name);
    if (function != nullptr && !holds(*function)) return false;
  }
  return true;
}

}  // namespace

Effects effects_of(const Node& node) {
  const Effects own = node.op().effects;
  if (own != Effects::kUserCode || node.op().functions_only == false) return own;
  return all_functions(node, [](const Function& f) { return f.pure(); }) ? Effects::kNone : own;
}

bool is_fallible(const Node& node) {
  if (!node.op().fallible || !node.op().functions_only) return node.op().fallible;
  return !all_functions(node, [](const Function& f) { return !f.fallible(); });
}

bool is_pure(const Node& node) { return node.pure(); }

bool may_overpull(const Node& node) { return node.overpullable(); }

namespace {

std::vector<std::shared_ptr<SharedState>> shared_states(const Node& root) {
  std::vector<std::shared_ptr<SharedState>> out;
  for (const Node* node : inputs_first(root)) {
    if (node->op().shared == nullptr) continue;
    if (auto state = node->op().shared(*node)) out.push_back(std::move(state));
  }
  return out;
}

}  // namespace

void save_shared(const Node& node, StateWriter& out) {
  for (const auto& state : shared_states(node)) state->save(out);
}

Status restore_shared(const Node& node, StateReader& in) {
  for (const auto& state : shared_states(node)) SW_RETURN_IF_ERROR(state->restore(in));
  return {};
}

Result<Inferred> infer_same(const Node& node) {
  const Node& input = *node.inputs()[0];
  return Inferred{input.structure(), input.cardinality()};
}

}  // namespace spillway
