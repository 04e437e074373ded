#include <algorithm>

#include "spillway/graph/gemm.h"
#include "spillway/graph/moves.h"

namespace spillway::graph {
namespace {

using Allowed =
    decltype(FloatTypes{} | Types<std::int16_t, std::int32_t, std::int64_t>{} | ComplexTypes{});

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

// One product for each matrix of the batch. Where one is worth splitting, its parts are those of
// the kernel; small ones make up a part together.
template <class T>
class Matmul final : public Kernel {
 public:
  Matmul(const Product& product, std::vector<std::int64_t> at_a, std::vector<std::int64_t> at_b)
      : gemm_(product),
        at_a_(std::move(at_a)),
        at_b_(std::move(at_b)),
        size_(product.m * product.n) {
    const auto batch = static_cast<std::int64_t>(at_a_.size());
    const double products = static_cast<double>(size_) * static_cast<double>(product.k);
    parts_ = gemm_.parts() > 1
                 ? batch * gemm_.parts()
                 : std::clamp<std::int64_t>(parts_worth(products * static_cast<double>(batch)), 1,
                                            std::max<std::int64_t>(1, batch));
  }

  std::size_t scratch() const override { return gemm_.scratch(); }
  std::int64_t parts() const override { return parts_; }

  Status run(const std::byte* const* in, std::byte* const* out, std::byte* scratch) const override {
    run_matrices(0, at_a_.size(), in, out, scratch);
    return {};
  }
  Status run_part(std::int64_t part, const std::byte* const* in, std::byte* const* out,
                  std::byte* scratch) const override {
    if (gemm_.parts() > 1) {
      const auto matrix = static_cast<std::size_t>(part / gemm_.parts());
      gemm_.run_part(part % gemm_.parts(), a(matrix, in), b(matrix, in), c(matrix, out), scratch);
      return {};
    }
    const auto at = static_cast<std::size_t>(part);
    const auto parts = static_cast<std::size_t>(parts_);
    run_matrices(at * at_a_.size() / parts, (at + 1) * at_a_.size() / parts, in, out, scratch);
    return {};
  }

 private:
  const T* a(std::size_t matrix, const std::byte* const* in) const {
    return reinterpret_cast<const T*>(in[0]) + at_a_[matrix];
  }
  const T* b(std::size_t matrix, const std::byte* const* in) const {
    return reinterpret_cast<const T*>(in[1]) + at_b_[matrix];
  }
  T* c(std::size_t matrix, std::byte* const* out) const {
    return reinterpret_cast<T*>(out[0]) + static_cast<std::int64_t>(matrix) * size_;
  }
  void run_matrices(std::size_t begin, std::size_t end, const std::byte* const* in,
                    std::byte* const* out, std::byte* scratch) const {
    for (std::size_t i = begin; i < end; ++i) gemm_.run(a(i, in), b(i, in), c(i, out), scratch);
  }

  const Gemm<T> gemm_;
  const std::vector<std::int64_t> at_a_;  // which matrix of a each of the batch uses
  const std::vector<std::int64_t> at_b_;
  const std::int64_t size_;  // items of a result
  std::int64_t parts_ = 1;
};

Result<KernelPtr> prepare(const Prepare& p) {
  const Shape& a = p.inputs[0].shape;
  const Shape& b = p.inputs[1].shape;
  const Shape& out = p.outputs[0].shape;
  const Flags flags(p.attrs);
  Product product;
  product.m = out[out.rank() - 2];
  product.n = out[out.rank() - 1];
  product.k = a[flags.turned_a() ? a.rank() - 2 : a.rank() - 1];
  product.a = flags.turned_a() ? Layout{1, product.m} : Layout{product.k, 1};
  product.b = flags.turned_b() ? Layout{1, product.k} : Layout{product.n, 1};
  product.c = {product.n, 1};
  product.conjugate_a = flags.adjoint_a;
  product.conjugate_b = flags.adjoint_b;
  const Shape batch = without_matrix(out);
  KernelPtr kernel;
  with_type(Allowed(), p.inputs[0].dtype, [&]<class T>() {
    kernel = std::make_unique<Matmul<T>>(product, batch_offsets(a, batch), batch_offsets(b, batch));
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
