#include "spillway/graph/row_run.h"

#include <algorithm>
#include <cstring>

#include "spillway/base/mutant.h"
#include "spillway/graph/infer_outputs.h"
#include "spillway/graph/moves.h"

namespace spillway::graph {
namespace {

std::size_t aligned(std::size_t bytes) {
  return (bytes + Buffer::kAlignment - 1) / Buffer::kAlignment * Buffer::kAlignment;
}

// The same for all pixels, or one item for each channel: then it does not matter which part of the
// image it meets.
bool is_per_channel(const Shape& shape, std::int64_t channels) {
  for (int i = 0; i < shape.rank(); ++i) {
    const bool last = i + 1 == shape.rank();
    if (shape[i] != 1 && (!last || shape[i] != channels)) return false;
  }
  return shape.rank() <= 3;
}

}  // namespace

// An op of the chain with all that is known of its operands.
struct RowRun::Linked {
  const Node& node;
  std::size_t image;  // which operand
  std::vector<Spec> inputs;
  std::vector<const Tensor*> values;  // null: the image
  std::vector<Spec> outputs;
  Prepare prepare() const { return {inputs, outputs, values, node.attrs()}; }
};

void RowRun::Window::crop(std::int64_t top, std::int64_t left, std::int64_t high,
                          std::int64_t wide) {
  y += top;
  x += turned ? width - left - wide : left;
  height = high;
  width = wide;
}

Status RowRun::begin(const PixelExtent& extent) {
  SW_ASSIGN(Shape shape, image_shape(request_.call, request_.format, extent));
  decoded_ = request_.call.dtype;
  refused_ = shape.rank() != 3 || decoded_ != DType::kUInt8;
  image_ = {decoded_, std::move(shape)};
  before_ = {0, 0, extent.height, extent.width};
  items_before_ = {};
  items_after_ = {};
  stream_.reset();
  kernel_.reset();
  resize_ = nullptr;
  taken_ = 0;
  made_ = 0;
  after_width_ = 0;
  for (const RowChain::Link& link : request_.chain.links) {
    refused_ = refused_ || !add(link);
  }
  if (refused_) return internal_bug("an image that its chain does not take row by row");
  return make_room();
}

bool RowRun::add(const RowChain::Link& link) {
  const auto& [node, operands] = request_.graph.order()[link.step];
  Linked linked{*node, link.operand, {}, {}, {}};
  std::vector<std::optional<Shape>> shapes;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Tensor* value = i == link.operand ? nullptr : &request_.value_of(operands[i]);
    linked.values.push_back(value);
    linked.inputs.push_back(value == nullptr ? image_ : Spec{value->dtype(), value->shape()});
    shapes.push_back(value == nullptr ? std::nullopt : shape_from(*value));
  }
  Infer infer(linked.inputs, linked.values, shapes, node->attrs());
  if (!infer_outputs(node->op(), infer).ok()) return false;
  linked.outputs = infer.outputs();
  bool fits = linked.outputs[0].shape.rank() == 3 && linked.outputs[0].shape.fully_known();
  switch (link_kind(*node, link.operand)) {
    case LinkKind::kItems:
      fits = fits && add_items(linked);
      break;
    case LinkKind::kCrop:
      fits = fits && add_crop(linked);
      break;
    case LinkKind::kTurn:
      fits = fits && add_turn(linked);
      break;
    case LinkKind::kResize:
      fits = fits && add_resize(linked);
      break;
    case LinkKind::kNone:
      fits = false;
  }
  image_ = linked.outputs[0];
  return fits;
}

bool RowRun::add_items(const Linked& linked) {
  if (!(linked.outputs[0].shape == image_.shape)) return false;
  if (linked.node.op().loop == nullptr) return true;  // the same items
  auto loop = linked.node.op().loop(linked.prepare());
  if (!loop.ok() || loop.value().fn == nullptr || !is_plain(linked.outputs[0].dtype)) return false;
  for (const Tensor* value : linked.values) {
    if (value != nullptr && !is_per_channel(value->shape(), image_.shape[2])) return false;
  }
  Items& items = resize_ == nullptr ? items_before_ : items_after_;
  items.steps.push_back({std::move(loop).value(), linked.values, linked.outputs[0].dtype});
  return true;
}

bool RowRun::add_crop(const Linked& linked) {
  const std::vector<std::int64_t> begin = integers_of(*linked.values[1]);
  const Shape& out = linked.outputs[0].shape;
  if (begin.size() != 3 || begin[2] != 0 || out[2] != image_.shape[2] || out.count() == 0) {
    return false;
  }
  const std::int64_t left = mutant("window_moved") ? 0 : begin[1];
  (resize_ == nullptr ? before_ : after_).crop(begin[0], left, out[0], out[1]);
  return true;
}

bool RowRun::add_turn(const Linked& linked) {
  Window& window = resize_ == nullptr ? before_ : after_;
  const bool turns = linked.values.size() == 1 || *linked.values[1]->as<bool>();
  if (turns) window.turned = !window.turned;
  return true;
}

bool RowRun::add_resize(const Linked& linked) {
  auto made = linked.node.op().prepare(linked.prepare());
  if (!made.ok()) return false;
  kernel_ = std::move(made).value();
  resize_ = dynamic_cast<RowKernel*>(kernel_.get());
  const Shape& out = linked.outputs[0].shape;
  after_ = {0, 0, out[0], out[1]};
  after_width_ = out[1];
  resized_ = linked.outputs[0].dtype;
  return resize_ != nullptr;
}

// A space of one row, which is run for one row after another.
void RowRun::fuse(Items& items, DType from, const Window& window) const {
  if (items.steps.empty()) return;
  const Shape row({window.width, image_.shape[2]});
  Fused& fused = items.fused.emplace(row);
  Fused::Ref image = fused.source(from, row, true);
  items.sources = {nullptr};
  for (std::size_t i = 0; i < items.steps.size(); ++i) {
    Items::Step& step = items.steps[i];
    std::vector<Fused::Ref> refs;
    for (const Tensor* value : step.operands) {
      if (value == nullptr) {
        refs.push_back(image);
        continue;
      }
      const bool one = value->count() == 1;
      refs.push_back(fused.source(value->dtype(), one ? Shape() : Shape({value->count()}), false));
      items.sources.push_back(value->data());
    }
    const int output = i + 1 == items.steps.size() ? 0 : -1;
    image = fused.step(std::move(step.loop), refs, step.dtype, output);
  }
  fused.finish();
}

Status RowRun::make_room() {
  const std::int64_t channels = image_.shape[2];
  fuse(items_before_, decoded_, before_);
  if (resize_ != nullptr) {
    resize_->mirror(before_.turned, after_.turned);
    fuse(items_after_, resized_, after_);
  }
  const auto row = [&](std::int64_t width, DType dtype) {
    return aligned(static_cast<std::size_t>(width * channels) * size_of(dtype));
  };
  const DType between = items_before_.steps.empty() ? decoded_ : items_before_.steps.back().dtype;
  const auto needs = [](const Items& items) { return items.fused ? items.fused->scratch() : 0; };
  const std::size_t parts[] = {aligned(needs(items_before_)), aligned(needs(items_after_)),
                               row(before_.width, between), row(after_width_, resized_),
                               resize_ == nullptr ? 0 : aligned(resize_->stream_scratch())};
  std::size_t all = 0;
  for (const std::size_t part : parts) all += part;
  SW_ASSIGN(scratch_, Buffer::allocate(request_.account, all, request_.ask));
  std::byte* at = scratch_->data();
  items_before_.scratch = at;
  items_after_.scratch = at += parts[0];
  row_before_ = at += parts[1];
  row_after_ = at += parts[2];
  if (resize_ != nullptr) stream_ = resize_->stream(at + parts[3]);
  for (Items* items : {&items_before_, &items_after_}) {
    if (!items->fused) continue;
    items->fused->lay_out(items->sources.data(), 0, items->fused->row_items(), items->scratch);
  }
  const Tensor& place = request_.place;
  if (place.has_value() && place.dtype() == image_.dtype && place.shape() == image_.shape) {
    out_ = place;
  } else {
    SW_ASSIGN(out_, make_tensor(request_.account, image_.dtype, image_.shape, request_.ask));
  }
  to_ = out_.mutable_data();
  out_row_ = out_.bytes() / static_cast<std::size_t>(image_.shape[0]);
  return {};
}

void RowRun::run(Items& items, const std::byte* row, std::byte* to) const {
  items.sources[0] = row;
  items.fused->run_laid_out(items.sources.data(), &to, 0, items.fused->row_items(), items.scratch,
                            request_.row);
}

Status RowRun::take(const std::byte* rows, std::int64_t count, std::ptrdiff_t stride) {
  const std::int64_t channels = image_.shape[2];
  for (std::int64_t i = 0; i < count; ++i, ++taken_) {
    if (looks_.abandoned(before_.width * channels)) return cancelled();
    if (taken_ < before_.y || taken_ >= before_.y + before_.height) continue;
    const std::byte* row = rows + i * stride + before_.x * channels;
    if (stream_ == nullptr) {
      finish_row(row);
      continue;
    }
    if (items_before_.fused) {
      run(items_before_, row, row_before_);
      row = row_before_;
    }
    stream_->take(row);
    const bool direct = !items_after_.fused && after_.width == after_width_;
    for (;; ++made_) {
      const bool wanted = made_ >= after_.y && made_ < after_.y + after_.height;
      if (!stream_->make(direct && wanted ? to_ : row_after_)) break;
      if (!wanted) continue;
      if (!direct) {
        const std::int64_t x = after_.turned ? after_width_ - after_.x - after_.width : after_.x;
        const std::byte* from =
            row_after_ + static_cast<std::size_t>(x * channels) * size_of(resized_);
        if (items_after_.fused) {
          run(items_after_, from, to_);
        } else {
          std::memcpy(to_, from, out_row_);
        }
      }
      to_ += out_row_;
    }
  }
  return {};
}

Tensor RowRun::result() {
  if (out_.buffer() != request_.place.buffer()) out_.buffer()->touch();
  return std::move(out_);
}

// Where nothing is resized.
void RowRun::finish_row(const std::byte* row) {
  std::byte* const made = before_.turned ? row_before_ : to_;
  if (items_before_.fused) {
    run(items_before_, row, made);
    row = made;
  }
  if (before_.turned) {
    write_turned(row, to_);
  } else if (row != to_) {
    std::memcpy(to_, row, out_row_);
  }
  to_ += out_row_;
}

void RowRun::write_turned(const std::byte* row, std::byte* to) const {
  const auto width = static_cast<std::size_t>(before_.width);
  const std::size_t pixel = out_row_ / width;
  for (std::size_t x = 0; x < width; ++x) {
    std::memcpy(to + x * pixel, row + (width - 1 - x) * pixel, pixel);
  }
}

}  // namespace spillway::graph
