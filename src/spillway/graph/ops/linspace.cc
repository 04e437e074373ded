#include "spillway/graph/moves.h"

namespace spillway::graph {
namespace {

using LinearTypes = decltype(FloatTypes{} | ComplexTypes{});

Status infer(Infer& c) {
  if (!is_one_of(LinearTypes(), c.input(0).dtype)) return no_kernel(c.input(0).dtype);
  SW_RETURN_IF_ERROR(same_types(c));
  const std::int64_t num = c.attrs().get_or<std::int64_t>("num", 1);
  if (num < 0) return invalid_argument("Requires num >= 0: ", num);
  SW_RETURN_IF_ERROR(infer_broadcast(c));
  const Shape both = c.outputs()[0].shape;
  if (!both.has_rank()) return {};
  SW_ASSIGN(const int axis,
            resolve_axis(c.attrs().get_or<std::int64_t>("axis", 0), both.rank() + 1));
  std::vector<std::int64_t> dims = dims_of(both);
  dims.insert(dims.begin() + axis, num);
  c.set(0, c.input(0).dtype, shape_of(dims));
  return {};
}

// start and stop are hit exactly; what lies between is start + i * (stop - start) / (num - 1).
Result<KernelPtr> prepare(const Prepare& p) {
  const Shape& out = p.outputs[0].shape;
  SW_ASSIGN(const int axis, resolve_axis(p.attrs.get_or<std::int64_t>("axis", 0), out.rank()));
  const AxisView view(out, axis);
  std::vector<std::int64_t> dims = dims_of(out);
  dims.erase(dims.begin() + axis);
  // Where each end of a line is read, as the two broadcast.
  std::vector<std::int64_t> ends[2];
  for (std::size_t k = 0; k < 2; ++k) {
    const Shape& own = p.inputs[k].shape;
    const std::vector<std::int64_t> steps = byte_strides(own, 1);
    for (std::int64_t i = 0; i < view.outer * view.inner; ++i) {
      std::int64_t rest = i;
      std::int64_t at = 0;
      for (int d = static_cast<int>(dims.size()) - 1, o = own.rank() - 1; o >= 0; --d, --o) {
        const std::int64_t size = dims[static_cast<std::size_t>(d)];
        if (own[o] != 1) at += rest % size * steps[static_cast<std::size_t>(o)];
        rest /= size;
      }
      ends[k].push_back(at);
    }
  }
  KernelPtr kernel;
  with_type(LinearTypes(), p.inputs[0].dtype, [&]<class T>() {
    kernel = make_kernel([view, starts = ends[0], stops = ends[1]](
                             const std::byte* const* in, std::byte* const* to, std::byte*) {
      const T* from = reinterpret_cast<const T*>(in[0]);
      const T* until = reinterpret_cast<const T*>(in[1]);
      Looks looks(std::max<std::int64_t>(1, Looks::kItems / std::max<std::int64_t>(1, view.axis)));
      for (std::size_t l = 0; l < starts.size(); ++l) {
        const Wide<T> start = widen(from[starts[l]]);
        const Wide<T> stop = widen(until[stops[l]]);
        const auto gaps = static_cast<Wide<T>>(view.axis - 1);
        const Wide<T> delta = view.axis > 1 ? (stop - start) / gaps : Wide<T>(0);
        const auto line = static_cast<std::int64_t>(l);
        T* items = reinterpret_cast<T*>(to[0]) + line / view.inner * view.axis * view.inner +
                   line % view.inner;
        if (looks.abandoned()) return Status();
        in_stretches(view.axis, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t i = begin; i < end; ++i) {
            const bool last = i > 0 && i == view.axis - 1;
            const Wide<T> value = last ? stop : start + delta * static_cast<Wide<T>>(i);
            items[i * view.inner] = static_cast<T>(value);
          }
        });
      }
      return Status();
    });
  });
  return kernel;
}

constexpr ParamDef kParams[] = {{"start", ParamKind::kTensor},
                                {"stop", ParamKind::kTensor},
                                {"num", ParamKind::kInt},
                                {"axis", ParamKind::kInt, "0"}};

}  // namespace

extern constexpr OpDef linspace_op{.name = "linspace",
                                   .summary = "num values from start to stop at equal distances.",
                                   .params = kParams,
                                   .infer = infer,
                                   .prepare = prepare};

}  // namespace spillway::graph
