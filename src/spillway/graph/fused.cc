#include "spillway/graph/fused.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

namespace spillway::graph {
namespace {

constexpr std::int64_t kAlign = 64;
constexpr std::size_t kMostInputs = 8;

std::size_t aligned(std::size_t bytes) {
  return (bytes + std::size_t{kAlign} - 1) / std::size_t{kAlign} * std::size_t{kAlign};
}

// Repeats `n` items, `stride` items apart in `from`.
template <std::size_t kItem>
void copy_strided(std::byte* to, const std::byte* from, std::int64_t n, std::int64_t stride) {
  const std::ptrdiff_t step = static_cast<std::ptrdiff_t>(kItem) * stride;
  for (std::int64_t i = 0; i < n; ++i, to += kItem, from += step) std::memcpy(to, from, kItem);
}

void copy_run(std::byte* to, const std::byte* from, std::int64_t n, std::int64_t stride,
              std::size_t item) {
  if (stride == 1) {
    std::memcpy(to, from, static_cast<std::size_t>(n) * item);
    return;
  }
  switch (item) {
    case 1:
      return copy_strided<1>(to, from, n, stride);
    case 2:
      return copy_strided<2>(to, from, n, stride);
    case 4:
      return copy_strided<4>(to, from, n, stride);
    case 8:
      return copy_strided<8>(to, from, n, stride);
    default:
      return copy_strided<16>(to, from, n, stride);
  }
}

}  // namespace

Fused::Ref Fused::source(DType dtype, const Shape& shape, bool batched) {
  Source source;
  source.item = size_of(dtype);
  // One extent for the rows, then the row's own; merged where they lie side by side.
  std::vector<std::int64_t> dims = {-1};
  std::vector<std::int64_t> strides = {batched ? shape.count() : 0};
  std::vector<std::int64_t> own(static_cast<std::size_t>(row_.rank()), 0);
  std::int64_t stride = 1;
  for (int i = shape.rank() - 1, at = row_.rank() - 1; i >= 0; --i, --at) {
    own[static_cast<std::size_t>(at)] = shape[i] == 1 ? 0 : stride;
    stride *= shape[i];
  }
  for (int i = 0; i < row_.rank(); ++i) {
    if (row_[i] == 1) continue;
    const std::int64_t s = own[static_cast<std::size_t>(i)];
    if (strides.back() == s * row_[i] && (s != 0 || strides.back() == 0)) {
      if (dims.size() > 1) dims.back() *= row_[i];
      strides.back() = s;
    } else {
      dims.push_back(row_[i]);
      strides.push_back(s);
    }
  }
  if (dims.size() == 1 && strides[0] == 1) {
    source.access = Access::kContiguous;
  } else if (dims.size() == 1 && strides[0] == 0) {
    source.access = Access::kPeriodic;
    source.period = 1;
  } else if (dims.size() == 2 && strides[0] == 0 && strides[1] == 1) {
    source.access = Access::kPeriodic;
    source.period = dims[1];
  } else {
    source.access = Access::kStrided;
    source.dims = std::move(dims);
    source.strides = std::move(strides);
  }
  sources_.push_back(std::move(source));
  return {false, static_cast<int>(sources_.size()) - 1};
}

Fused::Ref Fused::step(Loop loop, std::span<const Ref> in, DType dtype, int output) {
  steps_.push_back(
      {std::move(loop), std::vector<Ref>(in.begin(), in.end()), size_of(dtype), output, 0});
  return {true, static_cast<int>(steps_.size()) - 1};
}

void Fused::finish() {
  std::size_t at = 0;
  std::int64_t whole = kAlign;  // items: aligned whatever their size
  for (Source& source : sources_) {
    if (source.access == Access::kContiguous) continue;
    source.offset = at;
    at += aligned(static_cast<std::size_t>(kBlock) * source.item);
    if (source.access != Access::kPeriodic) continue;
    const std::int64_t both = std::lcm(whole, std::min(source.period, kBlock + 1));
    if (both <= kBlock) whole = both;
  }
  block_ = kBlock / whole * whole;
  // A register is free again after the last step that reads it.
  std::vector<int> last(steps_.size(), 0);
  for (std::size_t s = 0; s < steps_.size(); ++s) {
    for (const Ref& ref : steps_[s].in) {
      if (ref.step) last[static_cast<std::size_t>(ref.at)] = static_cast<int>(s);
    }
  }
  struct Register {
    std::size_t offset;
    std::size_t bytes;
    int free_after;
  };
  std::vector<Register> registers;
  for (std::size_t s = 0; s < steps_.size(); ++s) {
    Step& step = steps_[s];
    if (step.output >= 0) continue;
    const std::size_t bytes = aligned(static_cast<std::size_t>(kBlock) * step.item);
    const auto found = std::find_if(registers.begin(), registers.end(), [&](const Register& r) {
      return r.free_after < static_cast<int>(s) && r.bytes >= bytes;
    });
    const int until = std::max(last[s], static_cast<int>(s));
    if (found != registers.end()) {
      step.offset = found->offset;
      found->free_after = until;
    } else {
      registers.push_back({at, bytes, until});
      step.offset = at;
      at += bytes;
    }
  }
  scratch_ = at;
}

// Items [begin, begin + n) of a source that repeats: one period, then what is there already.
void Fused::expand(const Source& source, const std::byte* from, std::byte* to, std::int64_t begin,
                   std::int64_t n) {
  if (source.period == 1) {
    copy_run(to, from, n, 0, source.item);
    return;
  }
  const std::int64_t at = begin % source.period;
  const auto bytes = [&](std::int64_t items) {
    return static_cast<std::size_t>(items) * source.item;
  };
  const std::int64_t tail = std::min(source.period - at, n);
  std::memcpy(to, from + bytes(at), bytes(tail));
  std::int64_t done = std::min(source.period, n);
  if (done > tail) std::memcpy(to + bytes(tail), from, bytes(done - tail));
  while (done < n) {
    const std::int64_t more = std::min(done, n - done);
    std::memcpy(to + bytes(done), to, bytes(more));
    done += more;
  }
}

void Fused::gather(const Source& source, const std::byte* from, std::byte* to, std::int64_t first,
                   std::int64_t n) {
  const std::size_t depth = source.dims.size();
  const std::int64_t inner = depth > 1 ? source.dims.back() : n;
  const std::int64_t stride = source.strides.back();
  std::int64_t done = 0;
  while (done < n) {
    std::int64_t rest = first + done;
    std::int64_t at = 0;
    std::int64_t run = n - done;
    for (std::size_t d = depth; d-- > 1;) {
      const std::int64_t index = rest % source.dims[d];
      if (d == depth - 1) run = std::min(run, inner - index);
      at += index * source.strides[d];
      rest /= source.dims[d];
    }
    at += rest * source.strides[0];
    copy_run(to + static_cast<std::size_t>(done) * source.item,
             from + static_cast<std::size_t>(at) * source.item, run, stride, source.item);
    done += run;
  }
}

const std::byte* Fused::load(const Source& source, const std::byte* base, std::byte* scratch,
                             std::int64_t first, std::int64_t n) const {
  std::byte* own = scratch + source.offset;
  if (source.access == Access::kContiguous) {
    return base + static_cast<std::size_t>(first) * source.item;
  }
  if (source.access == Access::kStrided) {
    gather(source, base, own, first, n);
    return own;
  }
  if (laid_out(source)) return own;
  const std::int64_t at = first % source.period;
  if (at + n <= source.period) return base + static_cast<std::size_t>(at) * source.item;
  expand(source, base, own, first, n);
  return own;
}

Fused::Failure Fused::run(const std::byte* const* sources, std::byte* const* outs,
                          std::int64_t begin, std::int64_t end, std::byte* scratch,
                          const Call& call, Sink* sink) const {
  lay_out(sources, begin, end, scratch);
  return run_laid_out(sources, outs, begin, end, scratch, call, sink);
}

void Fused::lay_out(const std::byte* const* sources, std::int64_t begin, std::int64_t end,
                    std::byte* scratch) const {
  const std::int64_t most = std::min(block_, end - begin);
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    const Source& source = sources_[i];
    if (laid_out(source)) expand(source, sources[i], scratch + source.offset, begin, most);
  }
}

Fused::Failure Fused::run_laid_out(const std::byte* const* sources, std::byte* const* outs,
                                   std::int64_t begin, std::int64_t end, std::byte* scratch,
                                   const Call& call, Sink* sink) const {
  std::array<const std::byte*, kMostInputs> in{};
  for (std::int64_t first = begin; first < end; first += block_) {
    const std::int64_t n = std::min(block_, end - first);
    const std::byte* result = nullptr;
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      const Step& step = steps_[s];
      for (std::size_t i = 0; i < step.in.size(); ++i) {
        const Ref ref = step.in[i];
        if (!ref.step) {
          in[i] = load(sources_[static_cast<std::size_t>(ref.at)],
                       sources[static_cast<std::size_t>(ref.at)], scratch, first, n);
        } else {
          const Step& made = steps_[static_cast<std::size_t>(ref.at)];
          in[i] = made.output >= 0 ? outs[made.output] + static_cast<std::size_t>(first) * made.item
                                   : scratch + made.offset;
        }
      }
      std::byte* out = step.output >= 0
                           ? outs[step.output] + static_cast<std::size_t>(first) * step.item
                           : scratch + step.offset;
      const std::int64_t failed =
          step.loop.fn({in.data(), out, n, first, step.loop.data.get(), &call});
      if (failed >= 0) return {static_cast<int>(s), first + failed};
      result = out;
    }
    if (sink != nullptr) sink->take(result, first, n);
  }
  return {};
}

}  // namespace spillway::graph
