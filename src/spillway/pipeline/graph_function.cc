#include "spillway/pipeline/graph_function.h"

#include <algorithm>
#include <atomic>

#include "spillway/base/bytes.h"
#include "spillway/base/clock.h"
#include "spillway/base/jitter.h"
#include "spillway/base/mutant.h"
#include "spillway/base/mutex.h"
#include "spillway/base/test_point.h"
#include "spillway/graph/interpret.h"
#include "spillway/graph/plan.h"
#include "spillway/io/other_stores.h"
#include "spillway/pipeline/row_gatherer.h"

namespace spillway {
namespace {

using graph::Plan;
using graph::Spec;
using PlanPtr = std::shared_ptr<const Plan>;

constexpr std::size_t kMostPlans = 8;
// Steps of a function that another one is merged with: beyond them a chain of maps is several
// functions, so that merging, planning and keeping them stays linear in its length.
constexpr std::size_t kMostMerged = 256;
// Rows whose images go through their chains together: the decoder works on a few at a time, and
// the fewer calls there are the less often it has one left alone.
constexpr std::int64_t kImagesTogether = 8;
// What they may hold together beyond one row, which is owed to the budget in any case.
constexpr std::size_t kBytesTogether = 8 * kMiB;

bool reads_a_file(const graph::OpDef& op) {
  return op.name == "read_file" || op.name == "check_file";
}

class GraphFunction final : public Function {
 public:
  GraphFunction(graph::GraphPtr graph, StructurePtr output, std::string code, std::string name,
                std::vector<FunctionPtr> parts = {})
      : graph_(std::move(graph)),
        chains_(*graph_),
        output_(std::move(output)),
        code_(std::move(code)),
        name_(std::move(name)),
        parts_(std::move(parts)),
        reads_files_(std::ranges::any_of(
            graph_->order(), [](const auto& step) { return reads_a_file(step.node->op()); })) {}

  Outcome call(const Chunk& rows, const CallContext& context) override {
    return call_with(rows, {}, context);
  }

  // With values for the graph's last parameters, the same for all rows.
  Outcome call_with(const Chunk& rows, std::span<const Tensor> captured,
                    const CallContext& context) {
    const bool blocks = std::all_of(rows.columns().begin(), rows.columns().end(),
                                    [](const Column& column) { return column.is_block(); });
    if (!blocks || rows.columns().empty()) return one_by_one(rows, captured, context);
    std::vector<Spec> specs;
    std::vector<Tensor> parameters;
    for (const Column& column : rows.columns()) {
      const Tensor& block = column.block();
      specs.push_back({block.dtype(), block.shape().without_leading()});
      parameters.push_back(block);
    }
    for (const Tensor& value : captured) {
      specs.push_back({value.dtype(), value.shape()});
      parameters.push_back(value);
    }
    auto found = plan_for(specs, captured.size(), context.account);
    if (!found.ok()) return {{}, std::move(found).status()};
    if (found.value() == nullptr) {
      return parts_.empty() ? one_by_one(rows, captured, context) : part_by_part(rows, context);
    }
    const Plan& plan = *found.value();
    return at_once(plan, parameters, rows.columns().size(), affordable(plan, rows.rows(), context),
                   context);
  }

  const graph::GraphPtr& graph() const { return graph_; }
  StructurePtr output() const override { return output_; }
  std::string code() const override { return code_; }
  std::string name() const override { return name_; }
  // Other stores are asked through the interpreter, and make a thread wait.
  bool holds_interpreter() const override { return reads_files_ && other_stores_used(); }
  bool pure() const override { return !graph_->stateful(); }
  bool fallible() const override { return graph_->fallible(); }
  // Files are read one by one: calls of their own read several at a time.
  bool row_by_row() const override { return reads_files_ || graph_->shapes_depend_on_values(); }

  // Only where neither can fail or have an effect: then nobody can tell them from one.
  FunctionPtr after(const FunctionPtr& inner) override {
    const auto* first = dynamic_cast<const GraphFunction*>(inner.get());
    if (first == nullptr || !merges() || !first->merges()) return nullptr;
    if (first->output_->components() != graph_->parameters().size()) return nullptr;
    if (first->graph_->order().size() + graph_->order().size() > kMostMerged) return nullptr;
    const MutexLock lock(mutex_);
    if (FunctionPtr known = merged_.first.lock() == inner ? merged_.second : nullptr) return known;
    auto both =
        mutant("merged_without_the_first") ? graph_ : graph::compose(*first->graph_, *graph_);
    if (!both.ok()) return nullptr;  // the stages then say what is wrong, each at its own line
    auto made = std::make_shared<GraphFunction>(
        std::move(both).value(), output_, code_, name_,
        std::vector<FunctionPtr>{inner,
                                 std::make_shared<GraphFunction>(graph_, output_, code_, name_)});
    merged_ = {inner, made};
    return made;
  }

  FunctionPtr beside(const StructurePtr& input) override {
    if (!merges() || input == nullptr) return nullptr;
    if (input->components() != graph_->parameters().size()) return nullptr;
    const MutexLock lock(mutex_);
    if (beside_ == nullptr) {
      std::vector<graph::Operand> results;
      for (const graph::NodePtr& parameter : graph_->parameters())
        results.push_back({parameter, 0});
      results.insert(results.end(), graph_->results().begin(), graph_->results().end());
      beside_ = std::make_shared<GraphFunction>(
          graph::Graph::make(graph_->parameters(), std::move(results)),
          Structure::tuple({input, output_}), code_, name_);
    }
    return beside_;
  }

 private:
  bool merges() const { return pure() && !fallible(); }

  // Where a shape depends on values in one part, the others still run on whole chunks.
  Outcome part_by_part(const Chunk& rows, const CallContext& context) const {
    Outcome outcome{rows, {}};
    for (const FunctionPtr& part : parts_) {
      outcome = part->call(outcome.out, context);
      if (!outcome.error.ok()) return {{}, std::move(outcome.error)};
    }
    return outcome;
  }

  // The first `rows` rows as blocks; one that fails ends them. All before it are made: an error
  // says by their number which row it is of.
  Outcome at_once(const Plan& plan, std::vector<Tensor> parameters, std::size_t own,
                  std::int64_t rows, const CallContext& context) {
    for (Tensor& parameter : std::span(parameters).first(own)) {
      if (parameter.shape()[0] != rows) parameter = parameter.slice(0, rows);
    }
    const std::int64_t begin = now_ns();
    Plan::Outcome done = plan.run({parameters,
                                   rows,
                                   {context.first_index, context.epoch},
                                   context.account,
                                   Buffer::Ask::kPressing,
                                   places(plan, rows, context.batch)});
    note_time(now_ns() - begin, rows);
    if (!done.error.ok()) {
      Outcome outcome;
      SW_TEST_POINT("graph_function.failed");
      jitter();
      std::vector<Tensor> row;
      row.reserve(parameters.size());
      for (std::size_t i = 0; i < parameters.size(); ++i) {
        row.push_back(i < own ? parameters[i].row(done.failed) : parameters[i]);
      }
      Status error = with_file(std::move(done.error), row,
                               {context.first_index + done.failed, context.epoch}, context);
      if (done.failed > 0) {
        outcome = at_once(plan, std::move(parameters), own, done.failed, context);
      }
      if (outcome.error.ok()) outcome.error = std::move(error);
      return outcome;
    }
    done.results.resize(output_->components());
    std::vector<Column> columns;
    columns.reserve(done.results.size());
    for (Tensor& result : done.results) columns.emplace_back(std::move(result));
    return {Chunk(output_, rows, std::move(columns), Origins()), {}};
  }

  // A plan does not know which file the bytes it found damaged are of. Run again op by op, the row
  // tells; one that does not fail any more keeps its error as it was.
  Status with_file(Status error, std::span<const Tensor> row, const graph::Call& call,
                   const CallContext& context) const {
    if (!reads_files_ || !pure() || error.kind() != ErrorKind::kData ||
        !error.info().file.empty()) {
      return error;
    }
    auto again = graph::interpret(*graph_, row, context.account, Buffer::Ask::kPressing, call);
    if (again.ok() || again.error().kind() != ErrorKind::kData) return error;
    return std::move(again).status();
  }

  // Where the batch wants them; empty: anywhere.
  std::vector<Tensor> places(const Plan& plan, std::int64_t rows, RowGatherer* batch) const {
    if (batch == nullptr) return {};
    auto found = batch->claim(std::span(plan.results()).first(output_->components()), rows);
    const bool all = std::ranges::all_of(found, [](const Tensor& t) { return t.has_value(); });
    return all ? std::move(found) : std::vector<Tensor>();
  }

  // Rows of different shapes, or shapes that depend on values.
  Outcome one_by_one(const Chunk& rows, std::span<const Tensor> captured,
                     const CallContext& context) {
    Outcome outcome;
    std::vector<Row> made;
    std::size_t bytes = 0;
    while (outcome.error.ok() && std::ssize(made) < rows.rows()) {
      if (!made.empty() && (bytes >= context.bytes || now_ns() >= context.deadline_ns)) break;
      auto some = some_rows(rows, std::ssize(made), captured, context);
      outcome.error = std::move(some.error);
      for (std::vector<Tensor>& row : some.rows) {
        row.resize(output_->components());
        for (const Tensor& value : row) bytes += value.footprint();
        made.push_back(Row{std::move(row), {}});
      }
    }
    if (!made.empty()) outcome.out = Chunk::from_rows(output_, std::move(made));
    return outcome;
  }

  // Rows from `first` on: one by its plan, or some op by op.
  graph::RowsOutcome some_rows(const Chunk& rows, std::int64_t first,
                               std::span<const Tensor> captured, const CallContext& context) {
    const graph::Call call{context.first_index + first, context.epoch};
    std::vector<std::vector<Tensor>> parameters;
    const std::int64_t end = std::min(rows.rows(), first + rows_together(context));
    for (std::int64_t i = first; i < end; ++i) {
      parameters.push_back(rows.row(i).values);
      parameters.back().insert(parameters.back().end(), captured.begin(), captured.end());
    }
    std::vector<Spec> specs;
    for (const Tensor& value : parameters[0]) specs.push_back({value.dtype(), value.shape()});
    auto plan = plan_for(specs, captured.size(), context.account);
    if (!plan.ok()) return {{}, std::move(plan).status()};
    if (plan.value() != nullptr) {
      return one(*plan.value(), parameters[0], captured, call, context);
    }
    const std::vector<Tensor> into = places(end - first, context.batch);
    graph::RowsOutcome done = graph::interpret_rows(
        {*graph_, chains_, parameters, context.account, Buffer::Ask::kPressing, call, into});
    if (!done.rows.empty()) note(done);
    return done;
  }

  // One until it is known what a row holds. Where rows are handed on as they are made, half as
  // many.
  std::int64_t rows_together(const CallContext& context) const {
    const std::size_t each = together_bytes_.load(std::memory_order_relaxed);
    if (each == 0) return 1;
    const std::size_t most = context.bytes == SIZE_MAX ? kBytesTogether : kBytesTogether / 2;
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(most / each), 1, kImagesTogether);
  }

  graph::RowsOutcome one(const Plan& plan, std::span<const Tensor> values,
                         std::span<const Tensor> captured, const graph::Call& call,
                         const CallContext& context) {
    std::vector<Tensor> blocks;
    blocks.reserve(values.size());
    for (const Tensor& value : values.first(values.size() - captured.size())) {
      blocks.push_back(value.reshaped(value.shape().with_leading(1)));
    }
    blocks.insert(blocks.end(), captured.begin(), captured.end());
    Plan::Outcome done = plan.run(
        {blocks, 1, call, context.account, Buffer::Ask::kPressing, places(plan, 1, context.batch)});
    if (!done.error.ok()) {
      return {{}, with_file(std::move(done.error), values, call, context)};
    }
    std::vector<Tensor> out;
    out.reserve(done.results.size());
    for (const Tensor& result : done.results) {
      out.push_back(result.reshaped(result.shape().without_leading()));
    }
    return {{std::move(out)}, {}};
  }

  // Where rows whose shapes are not known yet may be made: those like the row before them.
  std::vector<Tensor> places(std::int64_t rows, RowGatherer* batch) {
    if (batch == nullptr) return {};
    std::vector<Spec> likely;
    {
      const MutexLock lock(mutex_);
      likely = latest_;
    }
    return likely.empty() ? std::vector<Tensor>() : batch->claim(likely, rows);
  }
  void note(const graph::RowsOutcome& done) {
    if (chains_.empty()) return;
    together_bytes_.store(done.row_bytes, std::memory_order_relaxed);
    const MutexLock lock(mutex_);
    latest_.clear();
    for (const Tensor& value : std::span(done.rows.back()).first(output_->components())) {
      latest_.push_back({value.dtype(), value.shape()});
    }
  }

  Result<PlanPtr> plan_for(const std::vector<Spec>& specs, std::size_t shared,
                           const AccountPtr& account) {
    {
      const MutexLock lock(mutex_);
      for (auto at = plans_.begin(); at != plans_.end(); ++at) {
        if (!same(at->specs, specs)) continue;
        std::rotate(plans_.begin(), at, at + 1);
        return plans_.front().plan;
      }
    }
    SW_ASSIGN(PlanPtr plan, Plan::make(graph_, specs, account, shared));
    const MutexLock lock(mutex_);
    plans_.insert(plans_.begin(), Kept{specs, plan});
    if (plans_.size() > kMostPlans) plans_.pop_back();
    return plan;
  }

  static bool same(const std::vector<Spec>& a, const std::vector<Spec>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Spec& x, const Spec& y) {
      return x.dtype == y.dtype && x.shape == y.shape;
    });
  }

  // How many rows fit into the demanded bytes and time; at least one.
  std::int64_t affordable(const Plan& plan, std::int64_t rows, const CallContext& context) const {
    if (const std::size_t each = plan.result_bytes(); each > 0) {
      rows = std::min(rows, static_cast<std::int64_t>(std::min<std::size_t>(
                                context.bytes / each, std::size_t{1} << 40U)));
    }
    const std::int64_t each_ps = row_ps_.load(std::memory_order_relaxed);
    if (context.deadline_ns != INT64_MAX && each_ps > 0) {
      const std::int64_t left = std::max<std::int64_t>(0, context.deadline_ns - now_ns());
      rows = std::min(rows, left * 1000 / each_ps);
    }
    return std::max<std::int64_t>(1, rows);
  }
  // The lesser of two: a call that lost its CPU for a while says nothing about the next.
  void note_time(std::int64_t ns, std::int64_t rows) {
    if (rows <= 0) return;
    const std::int64_t now = std::max<std::int64_t>(1, ns * 1000 / rows);
    const std::int64_t before = last_ps_.exchange(now, std::memory_order_relaxed);
    row_ps_.store(before > 0 ? std::min(before, now) : now, std::memory_order_relaxed);
  }

  struct Kept {
    std::vector<Spec> specs;
    PlanPtr plan;
  };
  const graph::GraphPtr graph_;
  const graph::RowChains chains_;
  const StructurePtr output_;
  const std::string code_;
  const std::string name_;
  const std::vector<FunctionPtr> parts_;  // of a merged function, the first one first
  const bool reads_files_;
  Mutex mutex_;
  // The one function made of this and the latest other; an epoch asks for it again.
  std::pair<std::weak_ptr<Function>, FunctionPtr> merged_ SW_GUARDED_BY(mutex_);
  FunctionPtr beside_ SW_GUARDED_BY(mutex_);
  std::vector<Kept> plans_ SW_GUARDED_BY(mutex_);   // the latest first
  std::vector<Spec> latest_ SW_GUARDED_BY(mutex_);  // of the row made last, if a chain makes some
  std::atomic<std::size_t> together_bytes_{0};      // RowsOutcome::row_bytes, the latest; a hint
  // Picoseconds a row took in the last call, and in the better of the last two; a hint.
  std::atomic<std::int64_t> last_ps_{0};
  std::atomic<std::int64_t> row_ps_{0};
};

// A graph function with the values it took from outside.
class BoundFunction final : public Function {
 public:
  BoundFunction(std::shared_ptr<GraphFunction> of, std::vector<Tensor> captured)
      : of_(std::move(of)), captured_(std::move(captured)) {}

  Outcome call(const Chunk& rows, const CallContext& context) override {
    return of_->call_with(rows, captured_, context);
  }
  StructurePtr output() const override { return of_->output(); }
  std::string code() const override { return of_->code(); }
  std::string name() const override { return of_->name(); }
  bool holds_interpreter() const override { return of_->holds_interpreter(); }
  bool pure() const override { return of_->pure(); }
  bool fallible() const override { return of_->fallible(); }
  GraphFunctionParts parts() const { return {of_->graph(), captured_}; }

 private:
  const std::shared_ptr<GraphFunction> of_;
  const std::vector<Tensor> captured_;
};

}  // namespace

FunctionPtr bind_captured(const FunctionPtr& function, std::vector<Tensor> captured) {
  auto graph = std::dynamic_pointer_cast<GraphFunction>(function);
  if (graph == nullptr) return nullptr;
  return std::make_shared<BoundFunction>(std::move(graph), std::move(captured));
}

GraphFunctionParts graph_parts(const Function& function) {
  if (const auto* graph = dynamic_cast<const GraphFunction*>(&function))
    return {graph->graph(), {}};
  const auto* bound = dynamic_cast<const BoundFunction*>(&function);
  return bound == nullptr ? GraphFunctionParts{} : bound->parts();
}

FunctionPtr make_graph_function(graph::GraphPtr graph, StructurePtr output, std::string code,
                                std::string name) {
  return std::make_shared<GraphFunction>(std::move(graph), std::move(output), std::move(code),
                                         std::move(name));
}

}  // namespace spillway
