#include <utility>

#include "spillway/base/interrupt.h"
#include "spillway/graph/fit.h"
#include "spillway/graph/fold.h"
#include "spillway/graph/run_op.h"
#include "spillway/memory/slab_pool.h"

namespace spillway::graph {

Tensor Fit::value_of(const Operand& operand) const {
  if (const Tensor* value = operand.value()) return *value;
  return *made_.at(operand.node.get())->values[static_cast<std::size_t>(operand.output)];
}

Status Fit::run_slices(Step& step, const Paying& paying, const Take& take) {
  Rows& rows = *step.rows;
  SW_RETURN_IF_ERROR(rows.begin(step.cut.most(), paying));
  if (rows.in_memory() && take != nullptr) return take(0, rows.count(), rows.at(0));
  const bool in_place = take == nullptr;
  std::optional<Buffer> block;
  if (!in_place) {
    SW_ASSIGN(block, Buffer::allocate(paying.account,
                                      static_cast<std::size_t>(step.cut.most()) * rows.row_bytes(),
                                      paying.ask));
  }
  std::int64_t last = step.cut.most();
  for (std::int64_t i = 0; i < step.cut.parts; ++i) {
    if (interrupted()) return cancelled();
    const std::int64_t first = step.cut.begin(i);
    const std::int64_t n = step.cut.begin(i + 1) - first;
    if (n != std::exchange(last, n)) SlabPool::process().drop_idle(SIZE_MAX);  // of larger slices
    std::byte* to = in_place ? step.made->values[0]->mutable_data() +
                                   static_cast<std::size_t>(first) * rows.row_bytes()
                             : block->data();
    SW_RETURN_IF_ERROR(rows.make(first, n, to));
    if (given_up()) return cancelled();
    if (block) {
      block->touch();
    } else {
      step.made->values[0]->buffer()->touch(static_cast<std::size_t>(first + n) * rows.row_bytes());
    }
    if (take != nullptr) SW_RETURN_IF_ERROR(take(first, n, to));
  }
  return {};
}

Status Fit::run_fold(Step& step, const Paying& paying) {
  const Node& node = *step.operand.node;
  const Spec& in = step.inputs[0].spec();
  const Spec& out = node.outputs()[0];
  const Spec specs[] = {in};
  const Tensor* constants[] = {nullptr};
  SW_ASSIGN(const Fold fold, node.op().fold({specs, node.outputs(), constants, node.attrs()}));
  SW_ASSIGN(const std::vector<int> axes, fold_axes(node.attrs(), in.shape.rank()));
  const FoldShape shape = *fold_shape(in.shape, axes);
  SW_ASSIGN(Buffer accumulators,
            Buffer::allocate(paying.account, FoldRun::scratch(fold, shape), paying.ask));
  SW_ASSIGN(Tensor result, make_tensor(paying.account, out.dtype, out.shape, paying.ask));
  FoldRun run(fold, shape, size_of(in.dtype), size_of(out.dtype), accumulators.data(),
              result.mutable_data());
  const std::int64_t items = in.shape.without_leading().count();
  SW_RETURN_IF_ERROR(
      run_slices(step, paying, [&](std::int64_t first, std::int64_t n, const std::byte* rows) {
        run.take(rows, first * items, n * items);
        return Status();
      }));
  result.buffer()->touch();
  *step.made->values[0] = std::move(result);
  return {};
}

Status Fit::run_op_step(Step& step, const Paying& paying) {
  std::vector<Tensor> inputs;
  inputs.reserve(step.inputs.size());
  for (const Operand& input : step.inputs) inputs.push_back(value_of(input));
  const Node& node = *step.operand.node;
  SW_ASSIGN(std::vector<Tensor> outputs,
            run_op(node.op(), inputs, node.attrs(), paying.account, paying.ask));
  for (std::size_t i = 0; i < outputs.size(); ++i) *step.made->values[i] = std::move(outputs[i]);
  return {};
}

Status Fit::run_step(Step& step, const Paying& paying) {
  if (step.kind == Kind::kOp) return run_op_step(step, paying);
  if (step.kind == Kind::kFold) return run_fold(step, paying);
  Made& made = *step.made;
  if (made.on_disk == nullptr) {
    const Spec& spec = step.operand.spec();
    SW_ASSIGN(*made.values[0], make_tensor(paying.account, spec.dtype, spec.shape, paying.ask));
    SW_RETURN_IF_ERROR(run_slices(step, paying, nullptr));
    made.values[0]->buffer()->touch();
    return {};
  }
  SW_ASSIGN(made.on_disk->file, SpillFile::create());
  return run_slices(step, paying,
                    [&](std::int64_t first, std::int64_t n, const std::byte* rows) -> Status {
                      return made.on_disk->append(first, n, rows, step.rows->row_bytes());
                    });
}

Status Fit::run_steps(std::size_t begin, std::size_t end, const Paying& paying) {
  for (std::size_t s = begin; s < end; ++s) {
    Step& step = steps_[s];
    Status status = run_step(step, paying);
    if (step.rows != nullptr) step.rows->end();
    // The next step has other sizes: what this one leaves idle would stay beside it.
    SlabPool::process().drop_idle(SIZE_MAX);
    if (!status.ok()) {
      if (ErrorInfo& info = status.edit(); info.line.empty()) info.line = step.operand.node->line();
      return status;
    }
    for (const std::size_t used : step.ends) {
      for (const auto& value : steps_[used].made->values) *value = Tensor();
      if (const auto& on_disk = steps_[used].made->on_disk) on_disk->file.reset();
    }
  }
  return {};
}

Result<std::vector<Tensor>> Fit::run(const Paying& paying) {
  SW_RETURN_IF_ERROR(run_steps(0, steps_.size(), paying));
  std::vector<Tensor> values;
  values.reserve(roots_.size());
  for (const Operand& root : roots_) values.push_back(value_of(root));
  return values;
}

Status Fit::run(const Paying& paying, const Take& take) {
  if (steps_.empty() || steps_.back().made != nullptr) {
    SW_ASSIGN(const std::vector<Tensor> values, run(paying));
    const Shape& shape = values[0].shape();
    return take(0, shape.rank() == 0 ? 1 : shape[0], values[0].data());
  }
  SW_RETURN_IF_ERROR(run_steps(0, steps_.size() - 1, paying));
  Status status = run_slices(steps_.back(), paying, take);
  steps_.back().rows->end();
  return status;
}

}  // namespace spillway::graph
