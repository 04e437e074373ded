#include "spillway/graph/run_op.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>

#include "spillway/base/few.h"
#include "spillway/base/interrupt.h"
#include "spillway/base/mutex.h"
#include "spillway/base/workers.h"
#include "spillway/graph/fold.h"
#include "spillway/graph/fused.h"
#include "spillway/graph/infer_outputs.h"
#include "spillway/graph/transposition.h"

namespace spillway::graph {
namespace {

constexpr std::size_t kOnStack = 32 * 1024;
constexpr std::size_t kMostDirect = 4;  // operands of a loop that is run as it is
constexpr std::size_t kFewInputs = 4;

// Scratch that small ops need not allocate.
class Scratch {
 public:
  // Larger ones are charged like any other bytes.
  Status reserve(std::size_t bytes, const AccountPtr& account, Buffer::Ask ask) {
    if (bytes <= stack_.size()) return {};
    SW_ASSIGN(heap_, Buffer::allocate(account, bytes, ask));
    return {};
  }
  std::byte* data() { return heap_ ? heap_->data() : stack_.data(); }

 private:
  alignas(64) std::array<std::byte, kOnStack> stack_;  // not cleared: scratch
  std::optional<Buffer> heap_;
};

// How an operand of a loop lies in a block of so many items.
std::size_t block_bytes(const Tensor& input, std::int64_t items) {
  const std::size_t bytes = static_cast<std::size_t>(items) * size_of(input.dtype());
  return (bytes + Buffer::kAlignment - 1) / Buffer::kAlignment * Buffer::kAlignment;
}

// Whether each operand has an item for each of the result's, or one for all of them, which then
// lies there as often as a block has items.
bool is_direct(std::span<const Tensor> inputs, const Tensor& out) {
  if (inputs.size() > kMostDirect) return false;
  std::size_t repeated = 0;
  for (const Tensor& input : inputs) {
    if (input.count() == out.count()) continue;
    if (input.count() != 1) return false;
    repeated += block_bytes(input, std::min(Fused::kBlock, out.count()));
  }
  return repeated <= kOnStack;
}

void repeat(const Tensor& item, std::size_t bytes, std::byte* to) {
  std::size_t have = size_of(item.dtype());
  std::memcpy(to, item.data(), have);
  for (; have < bytes; have *= 2) std::memcpy(to + have, to, std::min(have, bytes - have));
}

Status run_direct(const Loop& loop, std::span<const Tensor> inputs, Tensor& out, const Call& call) {
  alignas(Buffer::kAlignment) std::array<std::byte, kOnStack> room;  // not cleared
  std::size_t used = 0;
  std::array<const std::byte*, kMostDirect> in{};
  std::array<std::size_t, kMostDirect> step{};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].count() == out.count()) {
      in[i] = inputs[i].data();
      step[i] = size_of(inputs[i].dtype());
    } else {
      const std::size_t bytes = block_bytes(inputs[i], std::min(Fused::kBlock, out.count()));
      repeat(inputs[i], bytes, room.data() + used);
      in[i] = room.data() + used;
      used += bytes;
    }
  }
  std::byte* to = out.mutable_data();
  for (std::int64_t first = 0; first < out.count(); first += Fused::kBlock) {
    const std::int64_t n = std::min(Fused::kBlock, out.count() - first);
    const auto failed = loop.fn({in.data(), to, n, first, loop.data.get(), &call});
    if (failed >= 0) return bad_data(Code::kInvalidArgument, loop.failure);
    for (std::size_t i = 0; i < inputs.size(); ++i) in[i] += static_cast<std::size_t>(n) * step[i];
    to += static_cast<std::size_t>(n) * size_of(out.dtype());
  }
  return {};
}

// Who pays for what an op needs beside its outputs.
struct Payer {
  const AccountPtr& account;
  Buffer::Ask ask;
};

Status run_loop(const OpDef& op, const Prepare& prepare, std::span<const Tensor> inputs,
                Tensor& out, const Call& call, const Payer& where) {
  SW_ASSIGN(Loop loop, op.loop(prepare));
  if (loop.fn == nullptr) return internal_bug(op.name, ": no loop for ", name_of(out.dtype()));
  if (is_direct(inputs, out)) return run_direct(loop, inputs, out, call);
  Fused fused(out.shape());
  std::vector<Fused::Ref> refs;
  std::vector<const std::byte*> sources;
  for (const Tensor& input : inputs) {
    refs.push_back(fused.source(input.dtype(), input.shape(), true));
    sources.push_back(input.data());
  }
  fused.step(std::move(loop), refs, out.dtype(), 0);
  fused.finish();
  Scratch scratch;
  SW_RETURN_IF_ERROR(scratch.reserve(fused.scratch(), where.account, where.ask));
  std::byte* to = out.mutable_data();
  const auto failure = fused.run(sources.data(), &to, 0, out.count(), scratch.data(), call);
  if (failure.step >= 0) return bad_data(Code::kInvalidArgument, fused.failure_text(0));
  return {};
}

constexpr std::size_t kMoved =
    std::size_t{128} * 1024;  // bytes of scattered groups brought together at once

// Takes items in another order, some at a time; long runs of them from where they lie.
void take_in_order(const Transposition& order, const std::byte* items, std::size_t item,
                   std::byte* room, FoldRun& run) {
  const std::size_t bytes = order.run_bytes();
  const bool moves = bytes < kMoved / 32;
  const std::int64_t most = moves ? static_cast<std::int64_t>(kMoved / bytes) : 1;
  const auto run_items = static_cast<std::int64_t>(bytes / item);
  for (std::int64_t first = 0; first < order.runs(); first += most) {
    const std::int64_t n = std::min(most, order.runs() - first);
    if (moves) order.run(items, room, first, n);
    run.take(moves ? room : order.place(items, first), first * run_items, n * run_items);
  }
}

Status run_fold(const OpDef& op, const Prepare& prepare, const Tensor& input, Tensor& out,
                const Payer& where) {
  SW_ASSIGN(const Fold fold, op.fold(prepare));
  SW_ASSIGN(const std::vector<int> axes, fold_axes(prepare.attrs, input.shape().rank()));
  const auto side_by_side = fold_shape(input.shape(), axes);
  const FoldShape shape = side_by_side ? *side_by_side : fold_shape_last(input.shape(), axes);
  const std::size_t accumulators = (FoldRun::scratch(fold, shape) + Buffer::kAlignment - 1) /
                                   Buffer::kAlignment * Buffer::kAlignment;
  const std::size_t room = side_by_side ? 0 : std::min(kMoved, input.bytes());
  Scratch scratch;
  SW_RETURN_IF_ERROR(scratch.reserve(accumulators + room, where.account, where.ask));
  const std::size_t item = size_of(input.dtype());
  FoldRun run(fold, shape, item, size_of(out.dtype()), scratch.data(), out.mutable_data());
  if (input.count() == 0) {
    run.empty_groups(shape.inner == 0 ? 0 : out.count() / shape.inner);
  } else if (side_by_side) {
    constexpr std::int64_t kAsked = std::int64_t{1} << 18;  // items between looks
    for (std::int64_t at = 0; at < input.count(); at += kAsked) {
      if (at > 0 && abandoned()) return cancelled();
      run.take(input.data() + static_cast<std::size_t>(at) * item, at,
               std::min(kAsked, input.count() - at));
    }
  } else {
    take_in_order(reduced_last(input.shape(), axes, item), input.data(), item,
                  scratch.data() + accumulators, run);
  }
  return {};
}

// On as many threads as it has parts for and the process may use.
Status run_kernel(const Kernel& kernel, const std::byte* const* in, std::byte* const* out,
                  const Payer& where) {
  const std::int64_t parts = kernel.parts();
  const int width = parts == 1 ? 1 : parallel_width();
  Scratch scratch;
  if (width == 1) {
    SW_RETURN_IF_ERROR(scratch.reserve(kernel.scratch(), where.account, where.ask));
    SW_RETURN_IF_ERROR(kernel.run(in, out, scratch.data()));
    return given_up() ? cancelled() : Status();
  }
  const std::size_t each =
      (kernel.scratch() + Buffer::kAlignment - 1) / Buffer::kAlignment * Buffer::kAlignment;
  SW_RETURN_IF_ERROR(
      scratch.reserve(each * static_cast<std::size_t>(width), where.account, where.ask));
  Mutex mutex;
  Status error;
  parallel_ranges(parts, [&](std::int64_t part, int slot) {
    std::byte* own = scratch.data() + each * static_cast<std::size_t>(slot);
    Status status = kernel.run_part(part, in, out, own);
    const MutexLock lock(mutex);
    if (error.ok()) error = std::move(status);
  });
  return error.ok() && given_up() ? cancelled() : error;
}

}  // namespace

Result<std::vector<Tensor>> run_op(const OpDef& op, std::span<const Tensor> inputs,
                                   const Attrs& attrs, const AccountPtr& account, Buffer::Ask ask,
                                   const Call& call, std::span<const Spec> known) {
  if (op.compute != nullptr) {
    Compute compute{inputs, attrs, account, ask, call, {}};
    SW_RETURN_IF_ERROR(op.compute(compute));
    if (given_up()) return cancelled();
    return std::move(compute.outputs);
  }
  Few<Spec, kFewInputs> specs(inputs.size());
  Few<const Tensor*, kFewInputs> constants(inputs.size());
  std::vector<Spec> inferred;
  for (const Tensor& input : inputs) {
    specs.emplace_back(input.dtype(), input.shape());
    constants.emplace_back(&input);
  }
  if (known.empty()) {
    std::vector<std::optional<Shape>> shapes;
    shapes.reserve(inputs.size());
    for (const Tensor& input : inputs) shapes.push_back(shape_from(input));
    Infer infer(specs, constants, shapes, attrs);
    SW_RETURN_IF_ERROR(infer_outputs(op, infer));
    inferred = std::move(infer.outputs());
    known = inferred;
  }
  for (const Spec& spec : known) {
    if (spec.shape.fully_known()) continue;
    // All values are known: what is unknown still comes from an operand of the wrong kind.
    return invalid_argument("no shape follows from operands of these types and ranks");
  }
  if (op.view) return std::vector<Tensor>{inputs[0].reshaped(known[0].shape)};
  std::vector<Tensor> outputs;
  outputs.reserve(known.size());
  for (const Spec& spec : known) {
    SW_ASSIGN(Tensor out, make_tensor(account, spec.dtype, spec.shape, ask));
    outputs.push_back(std::move(out));
  }
  const Prepare prepare{specs, known, constants, attrs};
  if (op.loop != nullptr) {
    SW_RETURN_IF_ERROR(run_loop(op, prepare, inputs, outputs[0], call, {account, ask}));
  } else if (op.fold != nullptr) {
    SW_RETURN_IF_ERROR(run_fold(op, prepare, inputs[0], outputs[0], {account, ask}));
  } else {
    SW_ASSIGN(const KernelPtr kernel, op.prepare(prepare));
    Few<const std::byte*, kFewInputs> in(inputs.size());
    Few<std::byte*, kFewInputs> out(outputs.size());
    for (const Tensor& input : inputs)
      in.emplace_back(is_plain(input.dtype()) ? input.data() : nullptr);
    for (Tensor& output : outputs) out.emplace_back(output.mutable_data());
    SW_RETURN_IF_ERROR(run_kernel(*kernel, in.data(), out.data(), {account, ask}));
  }
  for (const Tensor& output : outputs) output.buffer()->touch();
  return outputs;
}

}  // namespace spillway::graph
