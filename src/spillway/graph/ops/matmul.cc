#include <algorithm>
#include <cstring>

#include "spillway/graph/moves.h"

namespace spillway::graph {
namespace {

using Allowed = decltype(FloatTypes{} | Types<std::int32_t, std::int64_t>{} | ComplexTypes{});

constexpr std::int64_t kVector = 64;  // bytes; narrower machines split it

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

// kRows x kVectors vectors of the result, summed over k in order, so that every machine gets the
// same numbers.
template <class T, int kRows, int kVectors>
[[gnu::always_inline]] inline void tile(const Acc<T>* a, std::int64_t lda, const Acc<T>* panel,
                                        std::int64_t depth, T* c, Layout to, std::int64_t columns) {
  using Vector [[gnu::vector_size(kVector)]] = Acc<T>;
  constexpr std::int64_t kLanes = kVector / static_cast<std::int64_t>(sizeof(Acc<T>));
  Vector sums[kRows][kVectors] = {};
  for (std::int64_t k = 0; k < depth; ++k) {
    Vector b[kVectors];
    std::memcpy(b, panel + k * kLanes * kVectors, sizeof(b));
    for (int r = 0; r < kRows; ++r) {
      const Acc<T> x = a[r * lda + k];
      for (int v = 0; v < kVectors; ++v) sums[r][v] += x * b[v];
    }
  }
  Acc<T> row[kLanes * kVectors];
  for (int r = 0; r < kRows; ++r) {
    std::memcpy(row, sums[r], sizeof(row));
    for (std::int64_t j = 0; j < columns; ++j) c[r * to.row + j * to.column] = store<T>(row[j]);
  }
}

// One product. `scratch`: a panel of b, then a where its rows are not runs of Acc.
template <class T, int kRows, int kVectors>
[[gnu::always_inline]] inline void multiply(const Sizes& s, const T* a, const T* b, T* c,
                                            std::byte* scratch) {
  constexpr std::int64_t kWidth = kVectors * kVector / static_cast<std::int64_t>(sizeof(Acc<T>));
  auto* panel = reinterpret_cast<Acc<T>*>(scratch);
  const Acc<T>* rows = nullptr;
  std::int64_t lda = s.k;
  if constexpr (sizeof(T) == sizeof(Acc<T>)) {
    if (s.a.column == 1) {
      rows = reinterpret_cast<const Acc<T>*>(a);
      lda = s.a.row;
    }
  }
  if (rows == nullptr) {
    Acc<T>* copy = panel + s.k * kWidth;
    rows = copy;
    for (std::int64_t i = 0; i < s.m; ++i) {
      for (std::int64_t k = 0; k < s.k; ++k) {
        *copy++ = load(a + i * s.a.row + k * s.a.column, false);
      }
    }
  }
  for (std::int64_t j = 0; j < s.n; j += kWidth) {
    const std::int64_t columns = std::min(kWidth, s.n - j);
    for (std::int64_t k = 0; k < s.k; ++k) {
      Acc<T>* to = panel + k * kWidth;
      const T* from = b + k * s.b.row + j * s.b.column;
      for (std::int64_t l = 0; l < columns; ++l) to[l] = load(from + l * s.b.column, false);
      std::fill(to + columns, to + kWidth, Acc<T>(0));
    }
    T* out = c + j * s.c.column;
    std::int64_t i = 0;
    for (; i + kRows <= s.m; i += kRows) {
      tile<T, kRows, kVectors>(rows + i * lda, lda, panel, s.k, out + i * s.c.row, s.c, columns);
    }
    for (; i < s.m; ++i) {
      tile<T, 1, kVectors>(rows + i * lda, lda, panel, s.k, out + i * s.c.row, s.c, columns);
    }
  }
}

template <class T>
using Multiply = void (*)(const Sizes&, const T*, const T*, T*, std::byte*);

constexpr int kMostVectors = 2;

template <class T>
struct For {
  static void baseline(const Sizes& s, const T* a, const T* b, T* c, std::byte* scratch) {
    multiply<T, 2, 1>(s, a, b, c, scratch);
  }
#if defined(__x86_64__)
  [[gnu::target("avx2")]] static void avx2(const Sizes& s, const T* a, const T* b, T* c,
                                           std::byte* scratch) {
    multiply<T, 4, 1>(s, a, b, c, scratch);
  }
  [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]] static void avx512(const Sizes& s,
                                                                           const T* a, const T* b,
                                                                           T* c,
                                                                           std::byte* scratch) {
    multiply<T, 8, kMostVectors>(s, a, b, c, scratch);
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
  const bool swapped = s.n < 8 && s.m > s.n;
  if (swapped) {
    std::swap(s.m, s.n);
    std::swap(s.a, s.b);
    std::swap(s.conjugate_a, s.conjugate_b);
    for (Layout* layout : {&s.a, &s.b, &s.c}) std::swap(layout->row, layout->column);
    std::swap(at_a, at_b);
  }
  KernelPtr kernel;
  with_type(Allowed(), p.inputs[0].dtype, [&]<class T>() {
    const auto panel = static_cast<std::size_t>(s.k * kMostVectors * kVector);
    const auto copy = static_cast<std::size_t>(s.m * s.k) * sizeof(Acc<T>);
    const Multiply<T> run = For<T>::best();
    const std::int64_t size = s.m * s.n;
    kernel = make_kernel(
        [=](const std::byte* const* in, std::byte* const* to, std::byte* scratch) {
          const T* x = reinterpret_cast<const T*>(in[swapped ? 1 : 0]);
          const T* y = reinterpret_cast<const T*>(in[swapped ? 0 : 1]);
          T* z = reinterpret_cast<T*>(to[0]);
          for (std::size_t i = 0; i < at_a.size(); ++i, z += size) {
            run(s, x + at_a[i], y + at_b[i], z, scratch);
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
