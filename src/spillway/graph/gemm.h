#pragma once

#include <cstddef>
#include <cstdint>

#include "spillway/graph/number.h"
#include "spillway/graph/simd.h"

// Products of matrices. How an item of the result is summed over k depends on nothing but the sizes
// and layouts of the whole product: not on the machine's vectors, not on what fits its caches, not
// on which part of the result is asked for. Every product is fused with its sum, rounded once.
namespace spillway::graph {

// A matrix in memory: item (i, j) lies at i * row + j * column, one of which is 1.
struct Layout {
  std::int64_t row = 0;
  std::int64_t column = 0;
};

// c = a * b, [m, k] by [k, n].
struct Product {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  Layout a;
  Layout b;
  Layout c;
  bool conjugate_a = false;
  bool conjugate_b = false;
};

// What products are summed in.
template <class T>
using Summed = std::conditional_t<kInteger<T>, Wrapping<T>, Wide<T>>;

// How a product is cut, so that what is used again is still in a cache, and what is read where it
// lies because a copy would not pay, or cannot be because its items are not those of the sums.
struct GemmBlocks {
  std::int64_t depth = 0;    // of k at a time
  std::int64_t columns = 0;  // of b at a time: with depth, what stays in L2
  std::int64_t rows = 0;     // of c at a time, where the sums need room of their own
  bool a_in_place = false;
  bool b_in_place = false;
  bool c_in_place = false;
};

// A rectangle of the result, m x n.
template <class T>
struct GemmTask {
  const Product& product;
  const GemmBlocks& blocks;
  std::int64_t m;
  std::int64_t n;
  const T* a;
  const T* b;
  T* c;
  std::byte* scratch;
  bool more = false;  // goes on with the sums that c holds
};

template <class T>
class Gemm {
 public:
  explicit Gemm(const Product& product, Simd level = simd_level());

  // The whole product. Allocates nothing.
  void run(const T* a, const T* b, T* c, std::byte* scratch) const;
  // One of the rectangles of the result that are worth computing apart: at the same time, in any
  // order, each with its own scratch.
  // `more`: added to what c holds; only where in_stretches().
  void run_part(std::int64_t part, const T* a, const T* b, T* c, std::byte* scratch,
                bool more = false) const;
  // Whether k may be taken a stretch at a time, in order, each going on with the sums so far: the
  // bits are those of one run.
  bool in_stretches() const { return in_stretches_; }
  std::int64_t parts() const { return down_ * across_; }
  // Bytes a run needs: about a megabyte, however large the product is.
  std::size_t scratch() const { return scratch_; }

 private:
  struct Rectangle {
    std::int64_t i;
    std::int64_t m;
    std::int64_t j;
    std::int64_t n;
  };
  void run_rectangle(const Rectangle& r, const T* a, const T* b, T* c, std::byte* scratch,
                     bool more) const;

  Product product_;
  GemmBlocks blocks_;
  void (*run_)(const GemmTask<T>&) = nullptr;
  bool swapped_ = false;  // the transposed product is computed
  bool in_stretches_ = false;
  std::int64_t down_ = 1;
  std::int64_t across_ = 1;
  std::size_t scratch_ = 0;
};

// Into how many parts so many products are worth being split: each long beside waking a thread, and
// enough of them to keep all CPUs busy to the end.
std::int64_t parts_worth(double products);

}  // namespace spillway::graph
