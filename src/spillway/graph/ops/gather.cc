#include <algorithm>
#include <cstring>

#include "spillway/graph/moves.h"
#include "spillway/graph/string_moves.h"

namespace spillway::graph {
namespace {

struct Where {
  int batch;  // axes both operands share
  int axis;   // of params
};

Result<Where> where_of(const Attrs& attrs, int params, int indices) {
  std::int64_t batch = attrs.get_or<std::int64_t>("batch_dims", 0);
  if (batch < -indices || batch > indices) {
    return invalid_argument("Expected batch_dims in the range [", -indices, ", ", indices,
                            "], but got ", batch);
  }
  if (batch < 0) batch += indices;
  if (batch >= params) {
    return invalid_argument("batch_dims (", batch, ") must be less than rank(params) (", params,
                            ")");
  }
  SW_ASSIGN(const int axis, resolve_axis(attrs.get_or<std::int64_t>("axis", batch), params));
  if (axis < batch) {
    return invalid_argument("batch_dims (", batch, ") must be less than or equal to axis (", axis,
                            ")");
  }
  return Where{static_cast<int>(batch), axis};
}

Status infer(Infer& c) {
  SW_RETURN_IF_ERROR(movable(c.input(0)));
  if (!is_integer(c.input(1).dtype)) return no_kernel(c.input(1).dtype);
  const Shape& params = c.input(0).shape;
  const Shape& indices = c.input(1).shape;
  if (params.rank() == 0) return wrong_shape("params must be at least 1 dimensional");
  if (!params.has_rank() || !indices.has_rank()) {
    c.set(0, c.input(0).dtype, Shape::unknown_rank());
    return {};
  }
  SW_ASSIGN(const Where where, where_of(c.attrs(), params.rank(), indices.rank()));
  std::vector<std::int64_t> dims;
  for (int i = 0; i < where.batch; ++i) {
    if (params[i] >= 0 && indices[i] >= 0 && params[i] != indices[i]) {
      return wrong_shape("params.shape[", i, "]: ", params[i], " should be equal to indices.shape[",
                         i, "]: ", indices[i]);
    }
    dims.push_back(params[i]);
  }
  for (int i = where.batch; i < where.axis; ++i) dims.push_back(params[i]);
  for (int i = where.batch; i < indices.rank(); ++i) dims.push_back(indices[i]);
  for (int i = where.axis + 1; i < params.rank(); ++i) dims.push_back(params[i]);
  c.set(0, c.input(0).dtype, shape_of(dims));
  return {};
}

// "0,3" for item `at` of `shape`.
std::string place_of(const Shape& shape, std::int64_t at) {
  std::vector<std::int64_t> places;
  for (int i = shape.rank() - 1; i >= 0; at /= shape[i--]) places.push_back(at % shape[i]);
  std::string text;
  for (auto place = places.rbegin(); place != places.rend(); ++place) {
    if (!text.empty()) text += ',';
    text += std::to_string(*place);
  }
  return text;
}

struct Moved {
  std::int64_t batches;
  std::int64_t outer;
  std::int64_t size;
  std::int64_t picks;
  std::size_t run;

  // kRun: `run` where it is known, so that single items need no call; 0 where it is not.
  template <std::size_t kRun, class I>
  void copy(const std::byte* block, const I* at, std::byte* to) const {
    const std::size_t bytes = kRun == 0 ? run : kRun;
    Mover mover;
    for (std::int64_t b = 0; b < batches; ++b, at += picks) {
      for (std::int64_t o = 0; o < outer; ++o, block += static_cast<std::size_t>(size) * bytes) {
        if constexpr (kRun == 0) {
          for (std::int64_t i = 0; i < picks; ++i, to += bytes) {
            if (!mover.copy(to, block + static_cast<std::size_t>(at[i]) * bytes, bytes)) return;
          }
        } else {
          for (std::int64_t i = 0; i < picks;) {
            const std::int64_t end = std::min(picks, i + Looks::kItems);
            if (mover.abandoned(static_cast<std::size_t>(end - i) * kRun)) return;
            for (; i < end; ++i, to += kRun) {
              std::memcpy(to, block + static_cast<std::size_t>(at[i]) * kRun, kRun);
            }
          }
        }
      }
    }
  }
};

Result<KernelPtr> prepare(const Prepare& p) {
  const Shape params = p.inputs[0].shape;
  const Shape indices = p.inputs[1].shape;
  SW_ASSIGN(const Where where, where_of(p.attrs, params.rank(), indices.rank()));
  const std::int64_t batches = product(params.dims(), 0, where.batch);
  const std::int64_t outer = product(params.dims(), where.batch, where.axis);
  const std::int64_t size = params[where.axis];
  const std::int64_t picks = product(indices.dims(), where.batch, indices.rank());
  const std::size_t run =
      static_cast<std::size_t>(product(params.dims(), where.axis + 1, params.rank())) *
      size_of(p.inputs[0].dtype);
  const DType type = p.inputs[1].dtype;
  return make_kernel([=](const std::byte* const* in, std::byte* const* out, std::byte*) {
    Status status;
    with_type(IntegerTypes(), type, [&]<class I>() {
      const I* at = reinterpret_cast<const I*>(in[1]);
      // As TensorFlow: nobody looks at indices of what is empty.
      const std::int64_t count = run == 0 || outer == 0 ? 0 : batches * picks;
      std::int64_t wrong = -1;
      in_stretches(count, [&](std::int64_t begin, std::int64_t end) {
        if (wrong >= 0) return;
        const auto fits = [size](I given) {
          const auto index = static_cast<std::int64_t>(given);
          return index >= 0 && index < size;
        };
        const I* const found = std::find_if_not(at + begin, at + end, fits);
        if (found != at + end) wrong = found - at;
      });
      if (wrong >= 0) {
        status =
            bad_data(Code::kInvalidArgument, "indices[", place_of(indices, wrong),
                     "] = ", static_cast<std::int64_t>(at[wrong]), " is not in [0, ", size, ")");
        return;
      }
      const Moved moved{batches, outer, size, picks, run};
      switch (run) {
        case 0:
          return;
        case 4:
          return moved.copy<4>(in[0], at, out[0]);
        case 8:
          return moved.copy<8>(in[0], at, out[0]);
        default:
          return moved.copy<0>(in[0], at, out[0]);
      }
    });
    return status;
  });
}

constexpr ParamDef kParams[] = {{"params", ParamKind::kTensor},
                                {"indices", ParamKind::kTensor, "", 'n'},
                                {"axis", ParamKind::kInt, "None"},
                                {"batch_dims", ParamKind::kInt, "0"}};

}  // namespace

extern constexpr OpDef gather_op{.name = "gather",
                                 .summary = "The parts of params that indices name, along an axis.",
                                 .params = kParams,
                                 .effect = Effect::kFallible,
                                 .infer = infer,
                                 .prepare = prepare};
extern constexpr OpDef gather_strings_op = string_twin<gather_op>("gather_strings");

}  // namespace spillway::graph
