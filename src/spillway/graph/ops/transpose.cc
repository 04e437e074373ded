#include <numeric>

#include "spillway/graph/moves.h"
#include "spillway/graph/string_moves.h"
#include "spillway/graph/transposition.h"

namespace spillway::graph {
namespace {

// The order of axes; kUser errors when it is none.
Result<std::vector<int>> order_of(const Tensor* perm, int rank) {
  std::vector<int> order(static_cast<std::size_t>(rank));
  if (perm == nullptr) {
    std::iota(order.rbegin(), order.rend(), 0);
    return order;
  }
  std::vector<bool> seen(order.size());
  for (int i = 0; i < rank; ++i) {
    const std::int64_t given = integer_at(perm->dtype(), perm->data(), i);
    const std::int64_t axis = given < 0 ? given + rank : given;
    if (axis < 0 || axis >= rank) {
      return invalid_argument(given, " is out of range [0 .. ", rank, ")");
    }
    order[static_cast<std::size_t>(i)] = static_cast<int>(axis);
    seen[static_cast<std::size_t>(axis)] = true;
  }
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (!seen[i]) return invalid_argument(i, " is missing from perm");
  }
  return order;
}

Status infer(Infer& c) {
  SW_RETURN_IF_ERROR(movable(c.input(0)));
  const Shape& in = c.input(0).shape;
  const bool given = c.inputs() > 1;
  std::int64_t rank = in.rank();
  if (given && c.input(1).shape.has_rank()) {
    const Shape& perm = c.input(1).shape;
    if (perm.rank() != 1 || (rank >= 0 && perm[0] >= 0 && perm[0] != rank)) {
      return invalid_argument("transpose expects a vector of size ", rank, ". But perm has shape ",
                              perm.bracketed());
    }
    if (rank < 0) rank = perm[0];
  }
  if (rank < 0 || (given && c.constant(1) == nullptr)) {
    c.set(0, c.input(0).dtype, unknown_dims(rank));
    return {};
  }
  SW_ASSIGN(const std::vector<int> order,
            order_of(given ? c.constant(1) : nullptr, static_cast<int>(rank)));
  std::vector<std::int64_t> dims;
  dims.reserve(order.size());
  for (const int axis : order) dims.push_back(in.has_rank() ? in[axis] : kUnknownDim);
  c.set(0, c.input(0).dtype, shape_of(dims));
  return {};
}

Result<KernelPtr> prepare(const Prepare& p) {
  const Shape& in = p.inputs[0].shape;
  SW_ASSIGN(const std::vector<int> order,
            order_of(p.inputs.size() > 1 ? p.constants[1] : nullptr, in.rank()));
  const Transposition move(in, order, size_of(p.inputs[0].dtype));
  const std::int64_t count = p.attrs.get_or("conjugate", false) ? in.count() : 0;
  const DType type = p.inputs[0].dtype;
  return make_kernel([=](const std::byte* const* from, std::byte* const* to, std::byte*) {
    move.run(from[0], to[0]);
    with_type(ComplexTypes(), type, [&]<class T>() {
      T* items = reinterpret_cast<T*>(to[0]);
      in_stretches(count, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) items[i] = std::conj(items[i]);
      });
    });
    return Status();
  });
}

constexpr ParamDef kParams[] = {{"a", ParamKind::kTensor},
                                {"perm", ParamKind::kOptional, "None", 'n'},
                                {"conjugate", ParamKind::kBool, "False"}};

}  // namespace

extern constexpr OpDef transpose_op{.name = "transpose",
                                    .summary = "The axes in another order; reversed by default.",
                                    .params = kParams,
                                    .paths = "transpose",
                                    .infer = infer,
                                    .prepare = prepare};
extern constexpr OpDef transpose_strings_op = string_twin<transpose_op>("transpose_strings");

}  // namespace spillway::graph
