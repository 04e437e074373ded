#include <algorithm>

#include "spillway/graph/number.h"
#include "spillway/pipeline/access.h"

namespace spillway {
namespace {

std::int64_t count_of(const Node& node) {
  const std::int64_t start = node.int_param("start");
  const std::int64_t stop = node.int_param("stop");
  const std::int64_t step = node.int_param("step", 1);
  if (step == 0 || (step > 0 && start >= stop) || (step < 0 && start <= stop)) return 0;
  // In unsigned arithmetic: the distance between two int64 may exceed int64.
  const auto low = static_cast<std::uint64_t>(std::min(start, stop));
  const auto high = static_cast<std::uint64_t>(std::max(start, stop));
  const std::uint64_t stride =
      step > 0 ? static_cast<std::uint64_t>(step) : -static_cast<std::uint64_t>(step);
  const std::uint64_t distance = high - low;
  return static_cast<std::int64_t>(distance / stride + (distance % stride != 0 ? 1 : 0));
}

// Values start + step * i converted to the output type, i from `first`.
template <class T>
void fill(std::byte* to, std::int64_t start, std::int64_t step, std::int64_t first,
          std::int64_t rows) {
  auto* out = reinterpret_cast<T*>(to);
  const std::int64_t base = start + step * first;
  for (std::int64_t i = 0; i < rows; ++i) {
    out[i] = static_cast<T>(static_cast<graph::Wide<T>>(base + step * i));
  }
}

using Fill = void (*)(std::byte*, std::int64_t, std::int64_t, std::int64_t, std::int64_t);
Fill fill_for(DType dtype) {
  switch (dtype) {
    case DType::kInt64:
      return fill<std::int64_t>;
    case DType::kInt32:
      return fill<std::int32_t>;
    case DType::kInt16:
      return fill<std::int16_t>;
    case DType::kInt8:
      return fill<std::int8_t>;
    case DType::kUInt8:
      return fill<std::uint8_t>;
    case DType::kUInt16:
      return fill<std::uint16_t>;
    case DType::kUInt32:
      return fill<std::uint32_t>;
    case DType::kUInt64:
      return fill<std::uint64_t>;
    case DType::kFloat16:
      return fill<graph::Half>;
    case DType::kBFloat16:
      return fill<graph::BFloat16>;
    case DType::kFloat32:
      return fill<float>;
    case DType::kFloat64:
      return fill<double>;
    default:
      return nullptr;
  }
}

DType output_type(const Node& node) {
  return dtype_from_name(node.string_param("output_type", "int64")).value_or(DType::kInt64);
}

Result<Inferred> infer(const Node& node) {
  if (node.int_param("step", 1) == 0) return invalid_argument("step must be a non-zero integer.");
  const auto dtype = dtype_from_name(node.string_param("output_type", "int64"));
  if (!dtype || fill_for(*dtype) == nullptr) {
    return invalid_argument("range: output_type must be an integer or float type: ",
                            node.string_param("output_type"));
  }
  return Inferred{Structure::tensor(*dtype, {}), count_of(node)};
}

class RangeIterator final : public Iterator {
 public:
  explicit RangeIterator(const OpenContext& context)
      : Iterator(context.stage(), context.epoch()),
        scope_(context.source_scope()),
        dtype_(output_type(context.node())),
        fill_(fill_for(dtype_)),
        start_(context.node().int_param("start")),
        step_(context.node().int_param("step", 1)),
        count_(count_of(context.node())) {}

  Next pull(const Demand& demand) override {
    if (at_ >= count_) return end_of_data();
    const std::int64_t fit =
        std::max<std::int64_t>(1, static_cast<std::int64_t>(demand.bytes / size_of(dtype_)));
    std::int64_t rows = std::min({demand.rows, fit, count_ - at_});
    // Only one row is really waited for; more are taken while there is room.
    Result<Tensor> made = make_tensor(account(), dtype_, Shape{rows}, Buffer::Ask::kOptional);
    if (!made.ok()) {
      rows = 1;
      made = make_tensor(account(), dtype_, Shape{rows});
    }
    SW_ASSIGN(Tensor block, std::move(made));
    fill_(block.mutable_data(), start_, step_, at_, rows);
    block.buffer()->touch();
    std::vector<Column> columns;
    columns.emplace_back(std::move(block));
    Chunk chunk(stage().node().structure(), rows, std::move(columns),
                Origins::regular(scope_, at_));
    at_ += rows;
    return std::optional<Chunk>(std::move(chunk));
  }

  Status skip(std::int64_t rows) override {
    at_ = std::min(count_, at_ + rows);
    return {};
  }
  Status save(StateWriter& out) const override {
    out.put(at_);
    return {};
  }
  Status restore(StateReader& in) override { return in.get_count(at_, count_); }

 private:
  const ScopePtr scope_;
  const DType dtype_;
  const Fill fill_;
  const std::int64_t start_;
  const std::int64_t step_;
  const std::int64_t count_;
  std::int64_t at_ = 0;
};

class RangeIndexed final : public Indexed {
 public:
  explicit RangeIndexed(const OpenContext& context)
      : Indexed(context),
        dtype_(output_type(node())),
        fill_(fill_for(dtype_)),
        start_(node().int_param("start")),
        step_(node().int_param("step", 1)),
        scope_(context.source_scope()) {}

 protected:
  Result<Chunk> fetch(std::span<const std::int64_t> indices) override {
    const auto rows = static_cast<std::int64_t>(indices.size());
    SW_ASSIGN(Tensor block, make_tensor(account(), dtype_, Shape{rows}));
    std::byte* to = block.mutable_data();
    if (dtype_ == DType::kInt64) {
      auto* out = reinterpret_cast<std::int64_t*>(to);
      for (std::size_t i = 0; i < indices.size(); ++i) out[i] = start_ + step_ * indices[i];
    } else {
      for (const std::int64_t i : indices) {
        fill_(to, start_, step_, i, 1);
        to += size_of(dtype_);
      }
    }
    block.buffer()->touch();
    std::vector<Column> columns;
    columns.emplace_back(std::move(block));
    return Chunk(node().structure(), rows, std::move(columns),
                 Origins::scattered(scope_, {indices.begin(), indices.end()}));
  }

 private:
  const DType dtype_;
  const Fill fill_;
  const std::int64_t start_;
  const std::int64_t step_;
  const ScopePtr scope_;
};

constexpr ParamDef kParams[] = {
    {"start", ParamType::kInt, "", "first value"},
    {"stop", ParamType::kInt, "", "first value not produced"},
    {"step", ParamType::kInt, "1", "distance between values; negative counts down"},
    {"output_type", ParamType::kString, "'int64'", "name of the values' type"},
};

}  // namespace

extern constexpr OperatorDef range_operator{
    .name = "range",
    .summary = "Counts from `start` to `stop`, as Python's range.",
    .example =
        ">>> list(sw.Dataset.range(1, 6, 2).as_numpy_iterator())\n"
        "[np.int64(1), np.int64(3), np.int64(5)]",
    .params = kParams,
    .inputs = 0,
    .ratio = Ratio::kSource,
    .infer = infer,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      return IteratorPtr(std::make_unique<RangeIterator>(context));
    },
    .index = [](const OpenContext& context) -> Result<IndexedPtr> {
      return IndexedPtr(std::make_unique<RangeIndexed>(context));
    }};

}  // namespace spillway
