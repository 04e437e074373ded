#include <algorithm>

#include "spillway/graph/strings.h"

namespace spillway::graph {
namespace {

// The axes in the order given: the first is joined first. Nothing given: all, the last one first.
Result<std::vector<int>> axes_of(const Attrs& attrs, int rank) {
  std::vector<int> axes;
  std::vector<std::int64_t> wanted;
  if (const auto* list = attrs.get<std::vector<std::int64_t>>("axis")) {
    wanted = *list;
  } else if (const auto* one = attrs.get<std::int64_t>("axis")) {
    wanted = {*one};
  } else {
    for (int i = rank - 1; i >= 0; --i) wanted.push_back(i);
  }
  for (const std::int64_t axis : wanted) {
    if (axis < -rank || axis >= rank) {
      return Status::error(ErrorKind::kUser, Code::kOutOfRange, "Invalid reduction dimension ",
                           axis, " for input with ", rank, " dimension(s)");
    }
    const int at = static_cast<int>(axis < 0 ? axis + rank : axis);
    if (std::find(axes.begin(), axes.end(), at) != axes.end()) {
      return invalid_argument("Duplicate reduction dimension ", axis);
    }
    axes.push_back(at);
  }
  return axes;
}

Shape joined(const Shape& shape, const std::vector<int>& axes, bool keep) {
  std::vector<std::int64_t> dims;
  for (int i = 0; i < shape.rank(); ++i) {
    const bool gone = std::find(axes.begin(), axes.end(), i) != axes.end();
    if (!gone) dims.push_back(shape[i]);
    if (gone && keep) dims.push_back(1);
  }
  return Shape(std::span<const std::int64_t>(dims));
}

Status infer(Infer& c) {
  SW_RETURN_IF_ERROR(need_strings(c, 0));
  const Shape& shape = c.input(0).shape;
  if (!shape.has_rank()) {
    const bool all = !c.attrs().has("axis") && !c.attrs().get_or("keepdims", false);
    c.set(0, DType::kString, all ? Shape() : Shape::unknown_rank());
    return {};
  }
  SW_ASSIGN(const auto axes, axes_of(c.attrs(), shape.rank()));
  c.set(0, DType::kString, joined(shape, axes, c.attrs().get_or("keepdims", false)));
  return {};
}

// Steps through a box of `dims`, the last one fastest; `at` is the place `strides` make of it.
class Walk {
 public:
  void add(std::int64_t dim, std::int64_t stride) {
    dims_.push_back(dim);
    strides_.push_back(stride);
    index_.push_back(0);
    count_ *= dim;
  }
  std::int64_t count() const { return count_; }
  std::int64_t at() const { return at_; }
  void next() {
    for (std::size_t d = dims_.size(); d-- > 0;) {
      at_ += strides_[d];
      if (++index_[d] < dims_[d]) return;
      at_ -= strides_[d] * dims_[d];
      index_[d] = 0;
    }
  }

 private:
  std::vector<std::int64_t> dims_;
  std::vector<std::int64_t> strides_;
  std::vector<std::int64_t> index_;
  std::int64_t count_ = 1;
  std::int64_t at_ = 0;
};

Status compute(Compute& c) {
  const Tensor& in = c.inputs[0];
  const Shape& shape = in.shape();
  const std::string separator = c.attrs.get_or("separator", std::string());
  SW_ASSIGN(const auto axes, axes_of(c.attrs, shape.rank()));
  std::vector<std::int64_t> strides(static_cast<std::size_t>(shape.rank()), 1);
  for (int i = shape.rank() - 1; i > 0; --i) {
    strides[static_cast<std::size_t>(i - 1)] = strides[static_cast<std::size_t>(i)] * shape[i];
  }
  Walk outer;
  Walk inner;
  for (int i = 0; i < shape.rank(); ++i) {
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) {
      outer.add(shape[i], strides[static_cast<std::size_t>(i)]);
    }
  }
  for (std::size_t i = axes.size(); i-- > 0;) {
    inner.add(shape[axes[i]], strides[static_cast<std::size_t>(axes[i])]);
  }
  StringRun run(outer.count());
  Looks looks;
  for (std::int64_t o = 0; o < outer.count(); ++o, outer.next()) {
    for (std::int64_t i = 0; i < inner.count(); ++i, inner.next()) {
      if (looks.abandoned()) return cancelled();
      if (i > 0) run.text() += separator;
      run.text() += in.string_at(outer.at() + inner.at());
    }
    run.end();
  }
  SW_ASSIGN(Tensor out, run.finish(c, joined(shape, axes, c.attrs.get_or("keepdims", false))));
  c.outputs.push_back(std::move(out));
  return {};
}

constexpr ParamDef kParams[] = {{"inputs", ParamKind::kTensor, "", 's'},
                                {"axis", ParamKind::kInts, "None"},
                                {"keepdims", ParamKind::kBool, "False"},
                                {"separator", ParamKind::kString, "''"}};

}  // namespace

extern constexpr OpDef strings_reduce_join_op{.name = "strings_reduce_join",
                                              .summary = "The strings along axes, joined.",
                                              .params = kParams,
                                              .paths = "strings.reduce_join",
                                              .infer = infer,
                                              .compute = compute};

}  // namespace spillway::graph
