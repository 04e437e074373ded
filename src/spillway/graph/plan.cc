#include "spillway/graph/plan.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "spillway/base/clock.h"
#include "spillway/base/interrupt.h"
#include "spillway/base/mutex.h"
#include "spillway/base/workers.h"
#include "spillway/graph/run_op.h"
#include "spillway/memory/slab_pool.h"

namespace spillway::graph {
namespace {

constexpr std::size_t kSmallRoom = 32 * 1024;   // bytes
constexpr std::size_t kTileBytes = 512 * 1024;  // what passes between steps stays in L2
// Work on fewer items than this is not worth a second thread; more is handed out in such pieces.
constexpr std::int64_t kPiece = std::int64_t{1} << 16;
constexpr std::int64_t kWorthIt = 2 * kPiece;
// Where the time is known: waking a thread and moving the data to its cache costs tens of
// microseconds, of which a shorter step gets too little back.
constexpr std::int64_t kSharedNs = 200'000;
constexpr std::int64_t kAsked = std::int64_t{1} << 18;  // items between looks at abandoned()
constexpr std::int64_t kTimed = 4096;  // items: reading the clock costs as much as some hundreds

std::size_t bytes_of(const Spec& spec) {
  return static_cast<std::size_t>(spec.shape.count()) * size_of(spec.dtype);
}

class FoldSink final : public Fused::Sink {
 public:
  explicit FoldSink(FoldRun& run) : run_(run) {}
  void take(const std::byte* items, std::int64_t first, std::int64_t n) override {
    run_.take(items, first, n);
  }

 private:
  FoldRun& run_;
};

// The same for one segment's accumulator.
class SegmentSink final : public Fused::Sink {
 public:
  SegmentSink(const Fold::Way& way, std::byte* acc) : way_(way), acc_(acc) {}
  void take(const std::byte* items, std::int64_t first, std::int64_t n) override {
    way_.take(acc_, items, n, first);
  }

 private:
  const Fold::Way& way_;
  std::byte* const acc_;
};

// What a small run passes between its steps lies in memory that its thread keeps, part of the
// process's base: taken from malloc() and given back by the million, between objects that stay, it
// would leave the heap full of holes. Runs may be nested.
struct SmallRoom {
  SmallRoom() = default;
  SmallRoom(const SmallRoom&) = delete;
  SmallRoom& operator=(const SmallRoom&) = delete;
  ~SmallRoom() { std::free(data); }
  std::byte* data = nullptr;
  bool taken = false;
};
thread_local SmallRoom small_room;

Result<Buffer> room_for(const Plan::Request& request, std::size_t bytes) {
  if (bytes > kSmallRoom || small_room.taken) {
    return Buffer::allocate(request.account, bytes, request.ask);
  }
  if (small_room.data == nullptr) {
    small_room.data = static_cast<std::byte*>(std::aligned_alloc(Buffer::kAlignment, kSmallRoom));
    if (small_room.data == nullptr) return out_of_resource("the system refused 32.0 KiB");
  }
  small_room.taken = true;
  const std::shared_ptr<void> given_back(&small_room, [](void*) { small_room.taken = false; });
  return Buffer::adopt(small_room.data, bytes, given_back);
}

}  // namespace

// One call of run(): where every value lies, and the rows being worked on.
struct Plan::Running {
  Running(const Plan& of, const Request& with) : plan(of), request(with) {}

  const Plan& plan;
  const Request& request;
  std::vector<Tensor> results;
  std::vector<Tensor> tensors;  // values computed as tensors, of this tile
  std::byte* arena = nullptr;
  std::byte* scratch = nullptr;  // one piece for each thread
  int width = 1;                 // threads
  std::int64_t tile = 1;         // most rows at a time
  std::int64_t first = 0;        // of this tile
  std::int64_t rows = 0;         // of this tile
  Status error;
  std::int64_t failed = -1;

  std::byte* scratch_of(int slot) const {
    return scratch + static_cast<std::size_t>(slot) * plan.scratch_;
  }
  Call call() const { return {request.call.first_row + first, request.call.epoch}; }
  void fail(Status status, std::int64_t row) {
    error = std::move(status);
    failed = first + row;
  }
  // The first of this tile's rows of a plain value; its only one when it is not batched.
  std::byte* data(int v) const {
    const Value& value = plan.base_of(v);
    switch (value.place) {
      case Place::kParameter:
        return const_cast<std::byte*>(
                   request.parameters[static_cast<std::size_t>(value.index)].data()) +
               (value.batched ? static_cast<std::size_t>(first) * bytes_of(value.spec) : 0);
      case Place::kConstant:
        return const_cast<std::byte*>(value.constant.data());
      case Place::kResult:
        return const_cast<std::byte*>(results[static_cast<std::size_t>(value.index)].data()) +
               static_cast<std::size_t>(first) * bytes_of(value.spec);
      case Place::kArena:
        return arena + value.offset * static_cast<std::size_t>(tile);
      case Place::kTensor:
        return const_cast<std::byte*>(tensors[static_cast<std::size_t>(value.index)].data());
    }
    return nullptr;
  }
  // What a step has written is in memory from now on; `room` has the arena and the scratch.
  void touch(const Step& step, Buffer& room) const {
    for (const int v : step.out) {
      const Value& value = plan.base_of(v);
      const std::size_t bytes = is_plain(value.spec.dtype) ? bytes_of(value.spec) : 0;
      if (value.place == Place::kArena) {
        const std::size_t all = plan.scratch_ * static_cast<std::size_t>(width);
        room.touch((value.offset + bytes) * static_cast<std::size_t>(tile) + all);
      } else if (value.place == Place::kResult &&
                 static_cast<std::size_t>(value.index) >= request.places.size()) {
        const BufferPtr& buffer = results[static_cast<std::size_t>(value.index)].buffer();
        if (buffer != nullptr) buffer->touch(static_cast<std::size_t>(first + rows) * bytes);
      }
    }
  }
  std::vector<const std::byte*> inputs(const Step& step) const {
    std::vector<const std::byte*> all;
    all.reserve(step.in.size());
    for (const int v : step.in) all.push_back(data(v));
    return all;
  }
  std::vector<std::byte*> outputs(const Step& step) const {
    std::vector<std::byte*> all;
    all.reserve(step.out.size());
    for (const int v : step.out) all.push_back(data(v));
    return all;
  }
  // This tile's rows as one tensor, shape of `v`; arena values are copied only if they must last.
  Result<Tensor> tensor(int v) const {
    const Value& base = plan.base_of(v);
    const Value& value = plan.values_[static_cast<std::size_t>(v)];
    const Shape shape = base.batched ? value.spec.shape.with_leading(rows) : value.spec.shape;
    switch (base.place) {
      case Place::kParameter: {
        const Tensor& given = request.parameters[static_cast<std::size_t>(base.index)];
        return (base.batched ? given.slice(first, first + rows) : given).reshaped(shape);
      }
      case Place::kConstant:
        return base.constant.reshaped(shape);
      case Place::kTensor:
        return tensors[static_cast<std::size_t>(base.index)].reshaped(shape);
      case Place::kResult:
        return results[static_cast<std::size_t>(base.index)]
            .slice(first, first + rows)
            .reshaped(shape);
      case Place::kArena:
        break;
    }
    SW_ASSIGN(Tensor copy, make_tensor(request.account, value.spec.dtype, shape, request.ask));
    std::memcpy(copy.mutable_data(), data(v), copy.bytes());
    return copy;
  }
};

const Plan::Value& Plan::base_of(int value) const {
  const Value* v = &values_[static_cast<std::size_t>(value)];
  while (v->base >= 0) v = &values_[static_cast<std::size_t>(v->base)];
  return *v;
}

std::size_t Plan::working_bytes() const {
  const auto width = static_cast<std::size_t>(steps_.empty() ? 1 : parallel_width());
  const std::size_t room = arena_row_ + scratch_ * width + 64;
  return (room < SlabPool::kLeast ? room : SlabPool::capacity_for(room)) + tensor_bytes_ + copies_;
}

bool Plan::Pace::worth_sharing(std::int64_t items, std::int64_t steps) const {
  const std::int64_t item_ps = item_ps_.load(std::memory_order_relaxed);
  return item_ps == 0 ? items * steps >= kWorthIt : items * item_ps / 1000 >= kSharedNs;
}

void Plan::Pace::note(std::int64_t ns, std::int64_t items) {
  item_ps_.store(std::max<std::int64_t>(1, ns * 1000 / items), std::memory_order_relaxed);
}

void Plan::run_fused(const Step& step, Running& running) const {
  const std::vector<const std::byte*> in = running.inputs(step);
  const std::vector<std::byte*> out = running.outputs(step);
  const std::int64_t items = running.rows * step.fused->row_items();
  const Call call = running.call();
  Fused::Failure first;
  const auto run = [&](std::int64_t begin, std::int64_t end, std::byte* scratch) {
    const std::int64_t started = end - begin >= kTimed ? thread_cpu_ns() : 0;
    const auto failure = step.fused->run(in.data(), out.data(), begin, end, scratch, call);
    if (started != 0) step.pace->note(thread_cpu_ns() - started, end - begin);
    return failure;
  };
  if (running.width == 1 || !step.pace->worth_sharing(items, step.fused->steps())) {
    for (std::int64_t begin = 0; begin < items && first.step < 0; begin += kAsked) {
      if (begin > 0 && abandoned()) return;
      first = run(begin, std::min(items, begin + kAsked), running.scratch);
    }
  } else {
    const std::int64_t pieces = (items + kPiece - 1) / kPiece;
    Mutex mutex;
    parallel_ranges(pieces, [&](std::int64_t piece, int slot) {
      const std::int64_t begin = piece * kPiece;
      const auto failure = run(begin, std::min(items, begin + kPiece), running.scratch_of(slot));
      const MutexLock lock(mutex);
      if (failure.step >= 0 && (first.step < 0 || failure.item < first.item)) first = failure;
    });
  }
  report(step, first, running);
}

void Plan::report(const Step& step, const Fused::Failure& failure, Running& running) {
  if (failure.step < 0) return;
  running.fail(bad_data(Code::kInvalidArgument, step.fused->failure_text(failure.step)),
               failure.item / std::max<std::int64_t>(1, step.fused->row_items()));
}

// One long run, its segments on several threads; merged in order.
void Plan::run_segments(const Step& step, Running& running) const {
  const Fold::Way& way = step.fold.run;
  const std::int64_t items = step.fold_shape.reduced;
  const std::int64_t segments = (items + FoldRun::kSegment - 1) / FoldRun::kSegment;
  const std::vector<const std::byte*> in = running.inputs(step);
  const std::vector<std::byte*> out = running.outputs(step);
  const Call call = running.call();
  // Segments finish in any order: each waits in its place for those before it.
  std::vector<std::byte> total(way.bytes);
  way.init(total.data(), 1);
  Mutex mutex;
  std::vector<std::vector<std::byte>> waiting(static_cast<std::size_t>(segments));
  std::int64_t merged = 0;
  Fused::Failure first;
  parallel_ranges(segments, [&](std::int64_t segment, int slot) {
    const std::int64_t begin = segment * FoldRun::kSegment;
    const std::int64_t end = std::min(items, begin + FoldRun::kSegment);
    std::vector<std::byte> acc(way.bytes);
    way.init(acc.data(), 1);
    Fused::Failure failure;
    if (step.fused == nullptr) {
      way.take(acc.data(), in[0] + static_cast<std::size_t>(begin) * step.fold_item, end - begin,
               begin);
    } else {
      SegmentSink sink(way, acc.data());
      failure =
          step.fused->run(in.data(), out.data(), begin, end, running.scratch_of(slot), call, &sink);
    }
    const MutexLock lock(mutex);
    if (failure.step >= 0 && (first.step < 0 || failure.item < first.item)) first = failure;
    waiting[static_cast<std::size_t>(segment)] = std::move(acc);
    while (merged < segments && !waiting[static_cast<std::size_t>(merged)].empty()) {
      way.merge(total.data(), waiting[static_cast<std::size_t>(merged)].data(), 1);
      waiting[static_cast<std::size_t>(merged++)] = std::vector<std::byte>(1);
    }
  });
  if (first.step >= 0) return report(step, first, running);
  if (given_up()) return;
  way.finish(total.data(), running.data(step.out.back()), 1, items);
}

void Plan::run_fold(const Step& step, Running& running) const {
  const FoldShape& shape = step.fold_shape;
  if (running.width > 1 && running.rows * shape.outer == 1 && FoldRun::in_segments(shape)) {
    return run_segments(step, running);
  }
  std::byte* accumulators = running.scratch;
  if (step.fused != nullptr) accumulators += (step.fused->scratch() + 63) / 64 * 64;
  const std::size_t out_item =
      size_of(values_[static_cast<std::size_t>(step.out.back())].spec.dtype);
  FoldRun fold(step.fold, step.fold_shape, step.fold_item, out_item, accumulators,
               running.data(step.out.back()));
  const std::int64_t items = running.rows * shape.outer * shape.reduced * shape.inner;
  if (step.fused == nullptr) {
    const std::byte* from = running.data(step.in[0]);
    for (std::int64_t at = 0; at < items; at += kAsked) {
      if (at > 0 && abandoned()) return;
      fold.take(from + static_cast<std::size_t>(at) * step.fold_item, at,
                std::min(kAsked, items - at));
    }
    return;
  }
  const std::vector<const std::byte*> in = running.inputs(step);
  const std::vector<std::byte*> out = running.outputs(step);
  FoldSink sink(fold);
  const Call call = running.call();
  Fused::Failure failure;
  for (std::int64_t at = 0; at < items && failure.step < 0; at += kAsked) {
    if (at > 0 && abandoned()) return;
    failure = step.fused->run(in.data(), out.data(), at, std::min(items, at + kAsked),
                              running.scratch, call, &sink);
  }
  report(step, failure, running);
}

void Plan::run_kernel(const Step& step, Running& running) const {
  std::vector<const std::byte*> in;
  std::vector<std::byte*> out;
  std::vector<std::size_t> in_step;
  std::vector<std::size_t> out_step;
  for (const int v : step.in) {
    const Value& value = values_[static_cast<std::size_t>(v)];
    in.push_back(is_plain(value.spec.dtype) ? running.data(v) : nullptr);
    in_step.push_back(base_of(v).batched ? bytes_of(value.spec) : 0);
  }
  for (const int v : step.out) {
    out.push_back(running.data(v));
    out_step.push_back(bytes_of(values_[static_cast<std::size_t>(v)].spec));
  }
  std::size_t row_bytes = 0;
  for (const std::size_t bytes : out_step) row_bytes += bytes;
  for (const std::size_t bytes : in_step) row_bytes += bytes;
  // Few rows are shared in the parts of each.
  const std::int64_t rows = running.rows;
  const bool few = running.width > 1 && rows < std::int64_t{2} * running.width;
  const std::int64_t parts = few ? step.kernel->parts() : 1;
  const std::int64_t units = rows * parts;
  const auto unit_items = static_cast<std::int64_t>(row_bytes) / (4 * parts) + 1;
  const auto run = [&](std::int64_t begin, std::int64_t end, std::byte* scratch) {
    std::vector<const std::byte*> from(in.size());
    std::vector<std::byte*> to(out.size());
    Looks looks;
    for (std::int64_t unit = begin; unit < end; ++unit) {
      if (looks.abandoned(unit_items)) break;
      const auto row = static_cast<std::size_t>(unit / parts);
      for (std::size_t i = 0; i < in.size(); ++i) from[i] = in[i] + in_step[i] * row;
      for (std::size_t i = 0; i < out.size(); ++i) to[i] = out[i] + out_step[i] * row;
      Status status = parts == 1
                          ? step.kernel->run(from.data(), to.data(), scratch)
                          : step.kernel->run_part(unit % parts, from.data(), to.data(), scratch);
      if (!status.ok()) return std::pair(unit, std::move(status));
    }
    return std::pair(end, Status());
  };
  const bool small = parts == 1 && row_bytes * static_cast<std::size_t>(rows) < kWorthIt;
  if (running.width == 1 || units == 1 || small) {
    auto [unit, status] = run(0, units, running.scratch);
    if (!status.ok()) running.fail(std::move(status), unit / parts);
    return;
  }
  const std::int64_t pieces =
      parts > 1 ? units : std::min<std::int64_t>(units, std::int64_t{4} * running.width);
  Mutex mutex;
  std::int64_t failed = units;
  Status error;
  parallel_ranges(pieces, [&](std::int64_t piece, int slot) {
    auto [unit, status] =
        run(piece * units / pieces, (piece + 1) * units / pieces, running.scratch_of(slot));
    const MutexLock lock(mutex);
    if (status.ok() || unit >= failed) return;
    failed = unit;
    error = std::move(status);
  });
  if (!error.ok()) running.fail(std::move(error), failed / parts);
}

void Plan::run_compute(const Step& step, Running& running) const {
  const OpDef& op = step.node->op();
  std::vector<Tensor> blocks;
  std::vector<bool> batched;
  bool at_once = op.per_item;
  const Shape* shape = nullptr;
  for (const int v : step.in) {
    auto tensor = running.tensor(v);
    if (!tensor.ok()) return running.fail(std::move(tensor).status(), 0);
    blocks.push_back(std::move(tensor).value());
    batched.push_back(base_of(v).batched);
    const Shape& row = values_[static_cast<std::size_t>(v)].spec.shape;
    if (!batched.back()) {
      at_once &= row.rank() == 0;
    } else {
      at_once &= shape == nullptr || *shape == row;
      shape = &row;
    }
  }
  if (at_once && shape != nullptr) {
    auto made = run_op(op, blocks, step.node->attrs(), running.request.account, running.request.ask,
                       running.call());
    if (made.ok()) {
      for (std::size_t i = 0; i < step.out.size(); ++i) {
        const Value& value = values_[static_cast<std::size_t>(step.out[i])];
        running.tensors[static_cast<std::size_t>(value.index)] = std::move(made.value()[i]);
      }
      return;
    }  // some row failed: one by one says which
  }
  std::vector<std::vector<Tensor>> outs(step.out.size());
  for (std::int64_t r = 0; r < running.rows; ++r) {
    std::vector<Tensor> row;
    row.reserve(blocks.size());
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      row.push_back(batched[i] ? blocks[i].row(r) : blocks[i]);
    }
    Call call = running.call();
    call.first_row += r;
    auto made =
        run_op(op, row, step.node->attrs(), running.request.account, running.request.ask, call);
    if (!made.ok()) return running.fail(std::move(made).status(), r);
    for (std::size_t i = 0; i < outs.size(); ++i) outs[i].push_back(std::move(made.value()[i]));
  }
  for (std::size_t i = 0; i < outs.size(); ++i) {
    const Value& value = values_[static_cast<std::size_t>(step.out[i])];
    if (outs[i].empty()) continue;
    if (outs[i].size() == 1) {
      const Tensor& only = outs[i][0];
      running.tensors[static_cast<std::size_t>(value.index)] =
          only.reshaped(only.shape().with_leading(1));
      continue;
    }
    auto block = stack(running.request.account, outs[i], running.request.ask);
    if (!block.ok()) return running.fail(std::move(block).status(), 0);
    running.tensors[static_cast<std::size_t>(value.index)] = std::move(block).value();
  }
}

Plan::Outcome Plan::run(const Request& request) const {
  Running running(*this, request);
  Outcome outcome;
  const auto give_up = [&](Status status) {
    outcome.error = std::move(status);
    outcome.failed = 0;
    return std::move(outcome);
  };
  running.results.resize(results_.size());
  for (std::size_t i = 0; i < results_.size(); ++i) {
    const Value& base = base_of(results_[i]);
    if (base.place != Place::kResult || base.index != static_cast<int>(i)) continue;
    if (i < request.places.size()) {
      running.results[i] = request.places[i].reshaped(base.spec.shape.with_leading(request.rows));
      continue;
    }
    auto made = make_tensor(request.account, base.spec.dtype,
                            base.spec.shape.with_leading(request.rows), request.ask);
    if (!made.ok()) return give_up(std::move(made).status());
    running.results[i] = std::move(made).value();
  }
  running.tensors.resize(static_cast<std::size_t>(tensors_));
  running.tile = request.rows;
  if (tensors_ == 0 && arena_row_ > 0) {
    const auto fits = static_cast<std::int64_t>(kTileBytes / arena_row_);
    running.tile = std::clamp<std::int64_t>(fits, 1, std::max<std::int64_t>(1, request.rows));
  }
  const std::size_t arena_bytes = arena_row_ * static_cast<std::size_t>(running.tile);
  running.width = steps_.empty() ? 1 : parallel_width();
  const std::size_t scratch = scratch_ * static_cast<std::size_t>(running.width);
  auto room = room_for(request, arena_bytes + scratch + 64);
  if (!room.ok()) return give_up(std::move(room).status());
  Buffer buffer = std::move(room).value();
  running.arena = buffer.data();
  running.scratch = buffer.data() + (arena_bytes + 63) / 64 * 64;
  for (; running.first < request.rows && running.error.ok(); running.first += running.tile) {
    running.rows = std::min(running.tile, request.rows - running.first);
    for (const Step& step : steps_) {
      switch (step.kind) {
        case Kind::kFused:
          run_fused(step, running);
          break;
        case Kind::kFold:
          run_fold(step, running);
          break;
        case Kind::kKernel:
          run_kernel(step, running);
          break;
        case Kind::kCompute:
          run_compute(step, running);
          break;
      }
      if (running.error.ok() && given_up()) running.fail(cancelled(), 0);
      if (!running.error.ok()) {
        outcome.error = std::move(running.error);
        outcome.failed = running.failed;
        return outcome;
      }
      running.touch(step, buffer);
    }
  }
  // Results that are parameters, constants, tensors or other results under another shape.
  running.first = 0;
  running.rows = request.rows;
  for (std::size_t i = 0; i < results_.size(); ++i) {
    const Value& base = base_of(results_[i]);
    auto made = running.tensor(results_[i]);
    if (made.ok() && !base.batched) {
      const std::vector<Tensor> rows(static_cast<std::size_t>(request.rows), made.value());
      made = stack(request.account, rows, request.ask);
    }
    if (!made.ok()) return give_up(std::move(made).status());
    outcome.results.push_back(std::move(made).value());
  }
  // A place belongs to somebody who fills more than these rows of it.
  for (std::size_t i = request.places.size(); i < outcome.results.size(); ++i) {
    if (const BufferPtr& buffer = outcome.results[i].buffer()) buffer->touch();
  }
  return outcome;
}

}  // namespace spillway::graph
