#include <algorithm>
#include <cstring>

#include "spillway/graph/moves.h"

namespace spillway::graph {
namespace {

using Allowed =
    decltype(FloatTypes{} | Types<std::int16_t, std::int32_t, std::int64_t>{} | ComplexTypes{});

// What products are summed in.
template <class T>
using Acc = std::conditional_t<kInteger<T>, Wrapping<T>, Wide<T>>;

// A matrix in memory: item (i, j) lies at i * row + j * column.
struct Layout {
  std::int64_t row;
  std::int64_t column;
};

struct Sizes {
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
  Layout a;
  Layout b;
  Layout c;
  bool conjugate_a = false;
  bool conjugate_b = false;
};

template <class T>
[[gnu::always_inline]] inline Acc<T> load(const T* from, bool conjugate) {
  if constexpr (kComplex<T>) {
    return conjugate ? std::conj(*from) : *from;
  } else {
    return static_cast<Acc<T>>(widen(*from));
  }
}
template <class T>
[[gnu::always_inline]] inline T store(Acc<T> value) {
  return static_cast<T>(value);
}

// One load: copying several at a time goes through memory. By reference, as how a vector is
// returned depends on the machine.
template <class Vector, class A>
[[gnu::always_inline]] inline void load_vector(Vector& out, const A* from) {
  std::memcpy(&out, from, sizeof(out));
}

// kRows x kVectors vectors of kBytes of the result, summed over k in order, so that every machine
// gets the same numbers. Row k of `b` lies at b + k * ldb.
template <class T, std::size_t kBytes, int kRows, int kVectors>
[[gnu::always_inline]] inline void tile(const Acc<T>* a, std::int64_t lda, const Acc<T>* b,
                                        std::int64_t ldb, std::int64_t depth, T* c, Layout to,
                                        std::int64_t columns) {
  using Vector [[gnu::vector_size(kBytes)]] = Acc<T>;
  constexpr auto kLanes = static_cast<std::int64_t>(kBytes / sizeof(Acc<T>));
  Vector sums[kRows][kVectors] = {};
  for (std::int64_t k = 0; k < depth; ++k) {
    Vector row[kVectors];
    for (int v = 0; v < kVectors; ++v) load_vector(row[v], b + k * ldb + v * kLanes);
    for (int r = 0; r < kRows; ++r) {
      const Acc<T> x = a[r * lda + k];
      for (int v = 0; v < kVectors; ++v) sums[r][v] += x * row[v];
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      Acc<T> items[kLanes];
      std::memcpy(items, &sums[r][v], sizeof(items));
      const std::int64_t first = v * kLanes;
      for (std::int64_t l = 0; l < kLanes && first + l < columns; ++l) {
        c[r * to.row + (first + l) * to.column] = store<T>(items[l]);
      }
    }
  }
}

// One product. `scratch`: a panel of b, then a where its rows are not runs of Acc.
template <class T, std::size_t kBytes, int kRows, int kVectors>
[[gnu::always_inline]] inline void multiply(const Sizes& s, const T* a, const T* b, T* c,
                                            std::byte* scratch) {
  constexpr auto kWidth = static_cast<std::int64_t>(kVectors * kBytes / sizeof(Acc<T>));
  constexpr bool kSame = sizeof(T) == sizeof(Acc<T>);
  auto* panel = reinterpret_cast<Acc<T>*>(scratch);
  const auto* rows = reinterpret_cast<const Acc<T>*>(a);
  std::int64_t lda = s.a.row;
  if (!kSame || s.a.column != 1) {
    Acc<T>* copy = panel + s.k * kWidth;
    rows = copy;
    lda = s.k;
    for (std::int64_t i = 0; i < s.m; ++i) {
      for (std::int64_t k = 0; k < s.k; ++k)
        *copy++ = load(a + i * s.a.row + k * s.a.column, false);
    }
  }
  // Packing pays only where the panel is read more than once.
  const bool direct = kSame && s.b.column == 1 && s.m <= kRows;
  for (std::int64_t j = 0; j < s.n; j += kWidth) {
    const std::int64_t columns = std::min(kWidth, s.n - j);
    const Acc<T>* from = panel;
    std::int64_t ldb = kWidth;
    if (direct && columns == kWidth) {
      from = reinterpret_cast<const Acc<T>*>(b + j);
      ldb = s.b.row;
    } else {
      for (std::int64_t k = 0; k < s.k; ++k) {
        Acc<T>* to = panel + k * kWidth;
        const T* row = b + k * s.b.row + j * s.b.column;
        for (std::int64_t l = 0; l < columns; ++l) to[l] = load(row + l * s.b.column, false);
        std::fill(to + columns, to + kWidth, Acc<T>(0));
      }
    }
    T* out = c + j * s.c.column;
    std::int64_t i = 0;
    for (; i + kRows <= s.m; i += kRows) {
      tile<T, kBytes, kRows, kVectors>(rows + i * lda, lda, from, ldb, s.k, out + i * s.c.row, s.c,
                                       columns);
    }
    for (; i < s.m; ++i) {
      tile<T, kBytes, 1, kVectors>(rows + i * lda, lda, from, ldb, s.k, out + i * s.c.row, s.c,
                                   columns);
    }
  }
}

// For few columns: products of rows and columns, summed in a fixed number of lanes.
template <class T, std::size_t kBytes>
[[gnu::always_inline]] inline void multiply_narrow(const Sizes& s, const T* a, const T* b, T* c,
                                                   std::byte* scratch) {
  using Vector [[gnu::vector_size(kBytes)]] = Acc<T>;
  constexpr std::int64_t kLanes = 32;
  constexpr auto kWidth = static_cast<std::int64_t>(kBytes / sizeof(Acc<T>));
  constexpr int kVectors = kLanes / kWidth;
  auto* columns = reinterpret_cast<Acc<T>*>(scratch);
  for (std::int64_t j = 0; j < s.n; ++j) {
    for (std::int64_t k = 0; k < s.k; ++k) {
      columns[j * s.k + k] = load(b + k * s.b.row + j * s.b.column, false);
    }
  }
  for (std::int64_t i = 0; i < s.m; ++i) {
    const auto* row = reinterpret_cast<const Acc<T>*>(a + i * s.a.row);
    for (std::int64_t j = 0; j < s.n; ++j) {
      const Acc<T>* column = columns + j * s.k;
      Vector sums[kVectors] = {};
      std::int64_t k = 0;
      for (; k + kLanes <= s.k; k += kLanes) {
        for (int v = 0; v < kVectors; ++v) {
          Vector x;
          Vector y;
          load_vector(x, row + k + v * kWidth);
          load_vector(y, column + k + v * kWidth);
          sums[v] += x * y;
        }
      }
      Acc<T> lanes[kLanes];
      for (int v = 0; v < kVectors; ++v) std::memcpy(lanes + v * kWidth, &sums[v], kBytes);
      for (std::int64_t l = 0; k < s.k; ++k, ++l) lanes[l] += row[k] * column[k];
      for (std::int64_t width = kLanes / 2; width > 0; width /= 2) {
        for (std::int64_t l = 0; l < width; ++l) lanes[l] += lanes[l + width];
      }
      c[i * s.c.row + j * s.c.column] = store<T>(lanes[0]);
    }
  }
}

template <class T>
using Multiply = void (*)(const Sizes&, const T*, const T*, T*, std::byte*);

constexpr std::int64_t kWidest = 128;  // bytes of a panel's row, at most
constexpr std::int64_t kNarrow = 8;    // columns

template <class T, std::size_t kBytes, int kRows, int kVectors>
[[gnu::always_inline]] inline void run(const Sizes& s, const T* a, const T* b, T* c,
                                       std::byte* scratch) {
  if constexpr (sizeof(T) == sizeof(Acc<T>)) {
    if (s.n < kNarrow && s.a.column == 1) return multiply_narrow<T, kBytes>(s, a, b, c, scratch);
  }
  multiply<T, kBytes, kRows, kVectors>(s, a, b, c, scratch);
}

template <class T>
struct For {
  static void baseline(const Sizes& s, const T* a, const T* b, T* c, std::byte* scratch) {
    run<T, 16, 4, 2>(s, a, b, c, scratch);
  }
#if defined(__x86_64__)
  [[gnu::target("avx2")]] static void avx2(const Sizes& s, const T* a, const T* b, T* c,
                                           std::byte* scratch) {
    run<T, 32, 4, 2>(s, a, b, c, scratch);
  }
  [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]] static void avx512(const Sizes& s,
                                                                           const T* a, const T* b,
                                                                           T* c,
                                                                           std::byte* scratch) {
    run<T, 64, 8, 2>(s, a, b, c, scratch);
  }
#endif
  static Multiply<T> best() {
#if defined(__x86_64__)
    if (simd_level() == Simd::kAvx512) return avx512;
    if (simd_level() == Simd::kAvx2) return avx2;
#endif
    return baseline;
  }
};

template <class T>
  requires kComplex<T>
struct For<T> {
  static void plain(const Sizes& s, const T* a, const T* b, T* c, std::byte* /*scratch*/) {
    for (std::int64_t i = 0; i < s.m; ++i) {
      for (std::int64_t j = 0; j < s.n; ++j) {
        T sum(0);
        for (std::int64_t k = 0; k < s.k; ++k) {
          sum += load(a + i * s.a.row + k * s.a.column, s.conjugate_a) *
                 load(b + k * s.b.row + j * s.b.column, s.conjugate_b);
        }
        c[i * s.c.row + j * s.c.column] = sum;
      }
    }
  }
  static Multiply<T> best() { return plain; }
};

struct Flags {
  bool transpose_a;
  bool transpose_b;
  bool adjoint_a;
  bool adjoint_b;
  explicit Flags(const Attrs& attrs)
      : transpose_a(attrs.get_or("transpose_a", false)),
        transpose_b(attrs.get_or("transpose_b", false)),
        adjoint_a(attrs.get_or("adjoint_a", false)),
        adjoint_b(attrs.get_or("adjoint_b", false)) {}
  bool turned_a() const { return transpose_a || adjoint_a; }
  bool turned_b() const { return transpose_b || adjoint_b; }
};

Shape without_matrix(const Shape& shape) {
  return Shape(shape.dims().first(static_cast<std::size_t>(shape.rank() - 2)));
}

Status infer(Infer& c) {
  const DType dtype = c.input(0).dtype;
  if (!is_one_of(Allowed(), dtype)) return no_kernel(dtype);
  SW_RETURN_IF_ERROR(same_types(c));
  const Flags flags(c.attrs());
  if ((flags.transpose_a && flags.adjoint_a) || (flags.transpose_b && flags.adjoint_b)) {
    return invalid_argument("Only one of transpose and adjoint can be True");
  }
  const Shape& a = c.input(0).shape;
  const Shape& b = c.input(1).shape;
  // TensorFlow multiplies batches of int16, not single matrices of it.
  if (dtype == DType::kInt16 && a.rank() == 2 && b.rank() == 2) return no_kernel(dtype);
  for (int i = 0; i < 2; ++i) {
    const Shape& shape = c.input(i).shape;
    if (shape.has_rank() && shape.rank() < 2) {
      return wrong_shape("In[", i, "] ndims must be >= 2, got shape ", shape.bracketed());
    }
  }
  if (!a.has_rank() || !b.has_rank()) {
    c.set(0, dtype, Shape::unknown_rank());
    return {};
  }
  const int ra = a.rank();
  const int rb = b.rank();
  const std::int64_t inner_a = a[flags.turned_a() ? ra - 2 : ra - 1];
  const std::int64_t inner_b = b[flags.turned_b() ? rb - 1 : rb - 2];
  if (inner_a != inner_b && inner_a != kUnknownDim && inner_b != kUnknownDim) {
    return wrong_shape("Matrix size-incompatible: In[0]: ", a.bracketed(),
                       ", In[1]: ", b.bracketed());
  }
  const auto batch = broadcast(without_matrix(a), without_matrix(b));
  if (!batch) {
    return wrong_shape("In[0] and In[1] must have compatible batch dimensions: ", a.bracketed(),
                       " vs. ", b.bracketed());
  }
  std::vector<std::int64_t> dims = dims_of(*batch);
  dims.push_back(a[flags.turned_a() ? ra - 1 : ra - 2]);
  dims.push_back(b[flags.turned_b() ? rb - 2 : rb - 1]);
  c.set(0, dtype, shape_of(dims));
  return {};
}

// Which matrix of `from` each of the result's batch uses.
std::vector<std::int64_t> batch_offsets(const Shape& from, const Shape& batch) {
  const Shape own = without_matrix(from);
  const std::int64_t matrix = from[from.rank() - 2] * from[from.rank() - 1];
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(batch.count()));
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    auto rest = static_cast<std::int64_t>(i);
    std::int64_t stride = matrix;
    for (int d = batch.rank() - 1, at = own.rank() - 1; at >= 0; --d, --at) {
      if (own[at] != 1) offsets[i] += rest % batch[d] * stride;
      rest /= batch[d];
      stride *= own[at];
    }
  }
  return offsets;
}

Result<KernelPtr> prepare(const Prepare& p) {
  const Shape& a = p.inputs[0].shape;
  const Shape& b = p.inputs[1].shape;
  const Shape& out = p.outputs[0].shape;
  const Flags flags(p.attrs);
  Sizes s{};
  s.m = out[out.rank() - 2];
  s.n = out[out.rank() - 1];
  s.k = a[flags.turned_a() ? a.rank() - 2 : a.rank() - 1];
  s.a = flags.turned_a() ? Layout{1, s.m} : Layout{s.k, 1};
  s.b = flags.turned_b() ? Layout{1, s.k} : Layout{s.n, 1};
  s.c = {s.n, 1};
  s.conjugate_a = flags.adjoint_a;
  s.conjugate_b = flags.adjoint_b;
  const Shape batch = without_matrix(out);
  std::vector<std::int64_t> at_a = batch_offsets(a, batch);
  std::vector<std::int64_t> at_b = batch_offsets(b, batch);
  // Few columns waste lanes: the rows become the columns then.
  const bool runs = s.a.column == 1 && size_of(p.inputs[0].dtype) > 2;
  const bool swapped = s.n < kNarrow && s.m > s.n && !runs;
  if (swapped) {
    std::swap(s.m, s.n);
    std::swap(s.a, s.b);
    std::swap(s.conjugate_a, s.conjugate_b);
    for (Layout* layout : {&s.a, &s.b, &s.c}) std::swap(layout->row, layout->column);
    std::swap(at_a, at_b);
  }
  KernelPtr kernel;
  with_type(Allowed(), p.inputs[0].dtype, [&]<class T>() {
    const auto panel = static_cast<std::size_t>(
        s.k * std::max<std::int64_t>(kWidest, kNarrow * static_cast<std::int64_t>(sizeof(Acc<T>))));
    const bool in_place = sizeof(T) == sizeof(Acc<T>) && s.a.column == 1;
    const auto copy = in_place ? 0 : static_cast<std::size_t>(s.m * s.k) * sizeof(Acc<T>);
    const Multiply<T> best = For<T>::best();
    const std::int64_t size = s.m * s.n;
    kernel = make_kernel(
        [=](const std::byte* const* in, std::byte* const* to, std::byte* scratch) {
          const T* x = reinterpret_cast<const T*>(in[swapped ? 1 : 0]);
          const T* y = reinterpret_cast<const T*>(in[swapped ? 0 : 1]);
          T* z = reinterpret_cast<T*>(to[0]);
          for (std::size_t i = 0; i < at_a.size(); ++i, z += size) {
            best(s, x + at_a[i], y + at_b[i], z, scratch);
          }
          return Status();
        },
        kComplex<T> ? 0 : panel + copy);
  });
  return kernel;
}

constexpr ParamDef kParams[] = {
    {"a", ParamKind::kTensor},
    {"b", ParamKind::kTensor},
    {"transpose_a", ParamKind::kBool, "False"},
    {"transpose_b", ParamKind::kBool, "False"},
    {"adjoint_a", ParamKind::kBool, "False"},
    {"adjoint_b", ParamKind::kBool, "False"},
};

}  // namespace

extern constexpr OpDef matmul_op{.name = "matmul",
                                 .summary = "Products of the matrices in the last two axes.",
                                 .params = kParams,
                                 .paths = "matmul linalg.matmul",
                                 .infer = infer,
                                 .prepare = prepare};

}  // namespace spillway::graph
