#include <algorithm>
#include <cstring>

#include "spillway/graph/moves.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  const DType type = c.attrs().get_or("dtype", DType::kFloat32);
  if (!is_one_of(PlainTypes(), type)) return no_kernel(type);
  const std::int64_t rows = c.attrs().get_or<std::int64_t>("num_rows", 0);
  auto dims = c.attrs().get_or<std::vector<std::int64_t>>("batch_shape", {});
  dims.push_back(rows);
  dims.push_back(c.attrs().get_or<std::int64_t>("num_columns", rows));
  for (const std::int64_t dim : dims) {
    if (dim < 0)
      return invalid_argument("num_rows and num_columns must be non-negative, got ", dim);
  }
  c.set(0, type, shape_of(dims));
  return {};
}

Result<KernelPtr> prepare(const Prepare& p) {
  const Shape& out = p.outputs[0].shape;
  const std::int64_t rows = out[out.rank() - 2];
  const std::int64_t columns = out[out.rank() - 1];
  const std::int64_t count = out.count();
  KernelPtr kernel;
  with_type(PlainTypes(), p.outputs[0].dtype, [&]<class T>() {
    kernel = make_kernel([=](const std::byte* const*, std::byte* const* to, std::byte*) {
      if (!Mover().clear(to[0], static_cast<std::size_t>(count) * sizeof(T))) return Status();
      T* matrix = reinterpret_cast<T*>(to[0]);
      for (std::int64_t at = 0; at < count; at += rows * columns) {
        for (std::int64_t i = 0; i < std::min(rows, columns); ++i) {
          matrix[at + i * (columns + 1)] = T(static_cast<Wide<T>>(1));
        }
      }
      return Status();
    });
  });
  return kernel;
}

constexpr ParamDef kParams[] = {{"num_rows", ParamKind::kInt},
                                {"num_columns", ParamKind::kInt, "None"},
                                {"batch_shape", ParamKind::kInts, "None"},
                                {"dtype", ParamKind::kDType, "float32"}};

}  // namespace

extern constexpr OpDef eye_op{.name = "eye",
                              .summary = "Identity matrices.",
                              .params = kParams,
                              .paths = "eye linalg.eye",
                              .infer = infer,
                              .prepare = prepare};

}  // namespace spillway::graph
