#include <algorithm>
#include <deque>
#include <limits>

#include "spillway/pipeline/held_rows.h"
#include "spillway/pipeline/input.h"

namespace spillway {
namespace {

struct Layout {
  std::int64_t size;
  std::int64_t shift;
  std::int64_t stride;
  bool drop_remainder;
  // Positions from the first to the last row of a window.
  std::int64_t span() const {
    std::int64_t span = 0;
    const bool huge = __builtin_mul_overflow(size - 1, stride, &span) ||
                      __builtin_add_overflow(span, std::int64_t{1}, &span);
    return huge ? std::numeric_limits<std::int64_t>::max() : span;
  }
};

Layout layout_of(const Node& node) {
  const std::int64_t size = node.int_param("size");
  return {size, node.int_param("shift", size), node.int_param("stride", 1),
          node.bool_param("drop_remainder")};
}

StructurePtr datasets_of(const StructurePtr& element) {
  if (element == nullptr) return nullptr;
  return element->map_leaves(
      [](const Structure& leaf) { return Structure::dataset(component_structure(leaf)); });
}

Result<Inferred> infer(const Node& node) {
  const Layout w = layout_of(node);
  if (w.size <= 0) return invalid_argument("Window size must be greater than zero.");
  if (w.shift <= 0) return invalid_argument("Window shift must be greater than zero.");
  if (w.stride <= 0) return invalid_argument("Window stride must be greater than zero.");
  const std::int64_t n = node.inputs()[0]->cardinality();
  std::int64_t cardinality = n;
  if (n >= 0 && w.drop_remainder) {
    cardinality = n < w.span() ? 0 : (n - w.span()) / w.shift + 1;
  } else if (n >= 0) {
    cardinality = n / w.shift + (n % w.shift != 0 ? 1 : 0);
  }
  return Inferred{datasets_of(node.inputs()[0]->structure()), cardinality};
}

// Holds the positions a window spans, rows and errors. A window fails only when a row that it
// contains is bad; stride and shift may step over one. A row counts with the first window it is in.
class WindowIterator final : public Iterator {
 public:
  WindowIterator(const OpenContext& context, IteratorPtr input)
      : Iterator(context.stage(), context.epoch()),
        window_(layout_of(context.node())),
        input_(std::move(input), Input::Habit::kHolds),
        keeper_(context.stage()) {}

  Next pull(const Demand& demand) override {
    SW_RETURN_IF_ERROR(pass_over());
    SW_RETURN_IF_ERROR(fill(demand));
    if (held_ == 0 || (held_ < window_.span() && window_.drop_remainder)) {
      drop(rows_between(seen_, held_), "of a remainder");
      seen_ = held_;
      return end_of_data();
    }
    auto window = make_window();
    if (window.ok()) {
      use(rows_between(seen_, held_));
      seen_ = held_;
    } else {
      drop(rows_between(seen_, std::min(window_.shift, held_)), "of a window with one that failed");
    }
    move_on();
    if (!window.ok()) return std::move(window).status();
    return std::optional<Chunk>(std::move(window).value());
  }

  // The rows held are met again from the first one's position.
  Status save(StateWriter& out) const override {
    out.put(pass_over_);
    return input_.save(out, input_.position() - held_);
  }
  Status restore(StateReader& in) override {
    SW_RETURN_IF_ERROR(in.get_count(pass_over_));
    return input_.restore(in);
  }

 private:
  struct Segment {
    std::shared_ptr<HeldBlock> block;  // null: one position with an error
    std::int64_t begin = 0;
    std::int64_t end = 1;
    Status error;
    std::int64_t positions() const { return end - begin; }
  };
  static constexpr std::int64_t kShared = 1024;  // rows of a block that windows have

  // Rows between two windows. Only when the next window is wanted: this one is not held back.
  Status pass_over() {
    while (pass_over_ > 0 && !ended_) {
      Next next = input_.next(Demand{pass_over_});
      if (!next.ok()) {
        if (!is_position(next.error())) return std::move(next).status();
        --pass_over_;
      } else if (!next.value()) {
        ended_ = true;
      } else {
        pass_over_ -= next.value()->rows();
        leave_out(next.value()->amount());
      }
      input_.forget_before(input_.position());
    }
    return {};
  }

  Status fill(const Demand& demand) {
    while (!ended_ && held_ < window_.span()) {
      Next next = input_.next(demand.with_rows(window_.span() - held_));
      if (!next.ok()) {
        Status error = std::move(next).status();
        if (!is_position(error)) return error;
        segments_.push_back({nullptr, 0, 1, std::move(error)});
        ++held_;
        continue;
      }
      if (!next.value()) {
        ended_ = true;
        break;
      }
      if (element_ == nullptr) {
        const StructurePtr& known = stage().node().inputs()[0]->structure();
        element_ = known != nullptr ? known : next.value()->structure();
      }
      SW_RETURN_IF_ERROR(hold(std::move(*next.value())));
    }
    return {};
  }

  // Rows join those that came before them as long as no window has those, and a few more then:
  // what is known of a block is not known of each row.
  Status hold(Chunk rows) {
    while (rows.rows() > 0) {
      std::int64_t held = 0;
      if (auto kept = keeper_.keep(rows)) {
        held = rows.rows();
        segments_.push_back({std::move(kept), 0, held, {}});
      } else {
        if (!may_grow()) segments_.push_back({keeper_.one_of_many(), 0, 0, {}});
        Segment& last = segments_.back();
        auto added = last.block->add_alike(rows, most_in(last));
        if (!added.ok()) {
          input_.unread(std::move(rows));
          return std::move(added).status();
        }
        held = added.value();
        last.end += held;
        if (held == 0) segments_.push_back({keeper_.one_of_many(), 0, 0, {}});
      }
      held_ += held;
      rows = rows.slice(held, rows.rows());
    }
    return {};
  }
  bool may_grow() const {
    return !segments_.empty() && segments_.back().block != nullptr &&
           segments_.back().block->grows() &&
           segments_.back().block->rows() < most_in(segments_.back());
  }
  static std::int64_t most_in(const Segment& segment) {
    return segment.block.use_count() == 1 ? std::numeric_limits<std::int64_t>::max() : kShared;
  }

  Result<Chunk> make_window() const {
    std::vector<RowRun> runs;
    std::int64_t wanted = 0;  // next position of the window
    std::int64_t first = 0;   // position of the segment
    for (const Segment& segment : segments_) {
      const std::int64_t last = std::min(first + segment.positions(), window_.span());
      if (wanted < last) {
        if (segment.block == nullptr) return segment.error;
        const std::int64_t begin = segment.begin + wanted - first;
        runs.push_back({segment.block, begin, segment.begin + last - first, window_.stride});
        if (__builtin_add_overflow(wanted + (runs.back().rows() - 1) * window_.stride,
                                   window_.stride, &wanted)) {
          break;
        }
      }
      first += segment.positions();
      if (first >= window_.span()) break;
    }
    SW_ASSIGN(Origin origin, runs[0].block->origin(runs[0].begin));
    origin.weight = rows_between(seen_, held_).weight;
    const auto rows = std::make_shared<HeldRows>(element_, std::move(runs));
    std::vector<Tensor> values;
    for (std::size_t c = 0; c < element_->components(); ++c) {
      SW_ASSIGN(Tensor dataset, dataset_of(rows, static_cast<std::int64_t>(c), stage().node()));
      values.push_back(std::move(dataset));
    }
    const StructurePtr& known = stage().node().structure();
    return Chunk::from_row(known != nullptr ? known : datasets_of(element_),
                           Row{std::move(values), std::move(origin)});
  }

  // The rows, not the errors, in positions [begin, end) of those held.
  Amount rows_between(std::int64_t begin, std::int64_t end) const {
    Amount out;
    std::int64_t first = 0;
    for (const Segment& segment : segments_) {
      const std::int64_t from = std::max(begin - first, std::int64_t{0}) + segment.begin;
      const std::int64_t to = std::min(end - first + segment.begin, segment.end);
      if (segment.block != nullptr && from < to) out = out + segment.block->amount(from, to);
      first += segment.positions();
    }
    return out;
  }

  void move_on() {
    std::int64_t left = std::min(window_.shift, held_);
    pass_over_ = window_.shift - left;
    held_ -= left;
    seen_ = std::max<std::int64_t>(0, seen_ - left);
    while (left > 0) {
      Segment& front = segments_.front();
      const std::int64_t n = std::min(left, front.positions());
      front.begin += n;
      left -= n;
      if (front.begin == front.end) segments_.pop_front();
    }
    input_.forget_before(input_.position() - held_);
  }

  const Layout window_;
  Input input_;
  RowKeeper keeper_;
  StructurePtr element_;
  std::deque<Segment> segments_;
  std::int64_t held_ = 0;       // positions in segments
  std::int64_t seen_ = 0;       // of those, from the first: were in a window that came out
  std::int64_t pass_over_ = 0;  // positions before the next window
  bool ended_ = false;
};

constexpr ParamDef kParams[] = {
    {"size", ParamType::kInt, "", "elements in a window"},
    {"shift", ParamType::kInt, "None", "elements from one window's start to the next; None: size"},
    {"stride", ParamType::kInt, "1", "elements from one of a window to the next"},
    {"drop_remainder", ParamType::kBool, "False", "whether shorter windows at the end are dropped"},
};

}  // namespace

extern constexpr OperatorDef window_operator{
    .name = "window",
    .summary = "Gives datasets of `size` elements, each beginning `shift` after the one before.",
    .example =
        ">>> for window in sw.Dataset.range(5).window(3, shift=2):\n"
        "...     print([int(x) for x in window.as_numpy_iterator()])\n"
        "[0, 1, 2]\n"
        "[2, 3, 4]\n"
        "[4]",
    .params = kParams,
    .ratio = Ratio::kCounted,
    .infer = infer,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      SW_ASSIGN(IteratorPtr input, context.open_input(0));
      return IteratorPtr(std::make_unique<WindowIterator>(context, std::move(input)));
    }};

}  // namespace spillway
