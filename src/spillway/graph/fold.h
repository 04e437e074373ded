#pragma once

#include <cstdint>
#include <vector>

#include "spillway/graph/op.h"

namespace spillway::graph {

// How a reduction takes items into accumulators. Where a run is cut never shows in the result.
struct Fold {
  // One accumulator for a run of items; one a lane where neighbours belong to different outputs.
  struct Way {
    std::size_t bytes = 0;
    void (*init)(std::byte* acc, std::int64_t n) = nullptr;
    // `at`: the first item's place along the reduced axes (run), or that of all of them (lanes).
    void (*take)(std::byte* acc, const std::byte* items, std::int64_t n, std::int64_t at) = nullptr;
    // What another accumulator took of the items right behind.
    void (*merge)(std::byte* acc, const std::byte* next, std::int64_t n) = nullptr;
    // `count`: items an accumulator took.
    void (*finish)(const std::byte* acc, std::byte* out, std::int64_t n,
                   std::int64_t count) = nullptr;
  };
  Way run;
  Way lanes;
};

// A row seen as [outer, reduced, inner]: the reduced axes lie side by side.
struct FoldShape {
  std::int64_t outer = 1;
  std::int64_t reduced = 1;
  std::int64_t inner = 1;
};

// The axes of a reduction, resolved: sorted, not negative. kUser errors for axes out of range.
Result<std::vector<int>> fold_axes(const Attrs& attrs, int rank);
// Nullopt: the reduced axes do not lie side by side.
std::optional<FoldShape> fold_shape(const Shape& shape, std::span<const int> axes);
// Infers a reduction's output of type `dtype`: attributes axis and keepdims.
Status infer_fold(Infer& c, DType dtype);

// Takes blocks of a row-major stream of items into accumulators and writes finished outputs. A long
// run is taken in segments, merged in order: so segments may also be taken by several threads.
class FoldRun {
 public:
  FoldRun(const Fold& fold, const FoldShape& shape, std::size_t in_item, std::size_t out_item,
          std::byte* accumulators, std::byte* out)
      : way_(way_of(fold, shape)),
        shape_(shape),
        in_item_(in_item),
        out_item_(out_item),
        acc_(accumulators),
        out_(out) {}
  static constexpr std::int64_t kSegment = std::int64_t{1} << 18;
  static bool in_segments(const FoldShape& shape) {
    return shape.inner == 1 && shape.reduced > kSegment;
  }
  static std::size_t scratch(const Fold& fold, const FoldShape& shape) {
    const std::size_t one = way_of(fold, shape).bytes * static_cast<std::size_t>(shape.inner);
    return in_segments(shape) ? 2 * one : one;
  }
  // Items [first, first + n) of the stream; blocks come in order, from a multiple of a group.
  void take(const std::byte* items, std::int64_t first, std::int64_t n);
  // Groups without items (a reduced extent of zero) get the empty value.
  void empty_groups(std::int64_t groups);

 private:
  static const Fold::Way& way_of(const Fold& fold, const FoldShape& shape) {
    return shape.inner == 1 ? fold.run : fold.lanes;
  }
  void begin(std::int64_t within);
  void close(std::int64_t group);

  const Fold::Way& way_;
  const FoldShape shape_;
  const std::size_t in_item_;
  const std::size_t out_item_;
  std::byte* const acc_;
  std::byte* const out_;
};

}  // namespace spillway::graph
