#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "spillway/pipeline/operator.h"

namespace spillway {
namespace {

// Adds as TensorFlow does: in the output type, one step at a time, so that rounding accumulates in
// floats and integers wrap.
struct Counting {
  // Writes `rows` values from the one in `bits` on, and leaves the next one there.
  void (*fill)(std::byte* out, std::int64_t rows, std::uint64_t& bits, const Value& step);
  std::uint64_t (*first)(const Value& start);
};

template <class T>
T number(const Value& value) {
  if (const auto* i = std::get_if<std::int64_t>(&value)) return static_cast<T>(*i);
  const auto* d = std::get_if<double>(&value);
  return d != nullptr ? static_cast<T>(*d) : T{};
}

template <class T>
T plus(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(static_cast<U>(a) + static_cast<U>(b)));
  } else {
    return a + b;
  }
}

template <class T>
void fill(std::byte* out, std::int64_t rows, std::uint64_t& bits, const Value& step) {
  T value{};
  std::memcpy(&value, &bits, sizeof value);
  const T by = number<T>(step);
  auto* to = reinterpret_cast<T*>(out);
  for (std::int64_t i = 0; i < rows; ++i) {
    to[i] = value;
    value = plus(value, by);
  }
  bits = 0;
  std::memcpy(&bits, &value, sizeof value);
}

template <class T>
std::uint64_t first(const Value& start) {
  const T value = number<T>(start);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

template <class T>
constexpr Counting kCounting{fill<T>, first<T>};

const Counting* counting_for(DType dtype) {
  switch (dtype) {
    case DType::kInt64:
      return &kCounting<std::int64_t>;
    case DType::kInt32:
      return &kCounting<std::int32_t>;
    case DType::kInt16:
      return &kCounting<std::int16_t>;
    case DType::kInt8:
      return &kCounting<std::int8_t>;
    case DType::kUInt8:
      return &kCounting<std::uint8_t>;
    case DType::kUInt16:
      return &kCounting<std::uint16_t>;
    case DType::kUInt32:
      return &kCounting<std::uint32_t>;
    case DType::kUInt64:
      return &kCounting<std::uint64_t>;
    case DType::kFloat32:
      return &kCounting<float>;
    case DType::kFloat64:
      return &kCounting<double>;
    default:
      return nullptr;
  }
}

Status cannot_convert(const std::string& what, const std::string& dtype) {
  Status status = invalid_argument("Cannot convert ", what, " to EagerTensor of dtype ", dtype);
  status.edit().type = "TypeError";
  return status;
}

Result<Inferred> infer(const Node& node) {
  const std::string name = node.string_param("dtype", "int64");
  const auto dtype = dtype_from_name(name);
  if (!dtype || counting_for(*dtype) == nullptr) {
    return cannot_convert(std::to_string(node.int_param("start")), name);
  }
  for (const std::string_view param : {"start", "step"}) {
    const auto* fraction = std::get_if<double>(&node.param(param));
    if (fraction == nullptr || is_floating(*dtype) || *fraction == std::floor(*fraction)) continue;
    std::ostringstream text;
    text << *fraction;
    return cannot_convert(text.str(), name);
  }
  return Inferred{Structure::tensor(*dtype, {}), kInfinite};
}

class CounterIterator final : public Iterator {
 public:
  explicit CounterIterator(const OpenContext& context)
      : Iterator(context.stage(), context.epoch()),
        scope_(context.source_scope()),
        dtype_(context.node().structure()->dtype()),
        counting_(*counting_for(dtype_)),
        step_(context.node().param("step")),
        bits_(counting_.first(context.node().param("start"))) {}

  Next pull(const Demand& demand) override {
    const std::int64_t fit =
        std::max<std::int64_t>(1, static_cast<std::int64_t>(demand.bytes / size_of(dtype_)));
    const std::int64_t rows = std::min(demand.rows, fit);
    SW_ASSIGN(Tensor block, make_tensor(account(), dtype_, Shape{rows}));
    counting_.fill(block.mutable_data(), rows, bits_, step_);
    block.buffer()->touch();
    std::vector<Column> columns;
    columns.emplace_back(std::move(block));
    Chunk chunk(stage().node().structure(), rows, std::move(columns),
                Origins::regular(scope_, at_));
    at_ += rows;
    return std::optional<Chunk>(std::move(chunk));
  }

  Status save(StateWriter& out) const override {
    out.put(at_);
    out.put(std::bit_cast<std::int64_t>(bits_));
    return {};
  }
  Status restore(StateReader& in) override {
    std::int64_t bits = 0;
    SW_RETURN_IF_ERROR(in.get_count(at_));
    SW_RETURN_IF_ERROR(in.get(bits));
    bits_ = std::bit_cast<std::uint64_t>(bits);
    return {};
  }

 private:
  const ScopePtr scope_;
  const DType dtype_;
  const Counting& counting_;
  const Value step_;
  std::uint64_t bits_;  // the next value
  std::int64_t at_ = 0;
};

constexpr ParamDef kParams[] = {
    {"start", ParamType::kFloat, "0", "first value"},
    {"step", ParamType::kFloat, "1", "distance between values; may be negative"},
    {"dtype", ParamType::kString, "'int64'", "name of the values' type"},
};

}  // namespace

extern constexpr OperatorDef counter_operator{
    .name = "counter",
    .summary = "Counts from `start` by `step`, without end.",
    .example =
        ">>> list(sw.Dataset.counter(3, 4).take(3).as_numpy_iterator())\n"
        "[np.int64(3), np.int64(7), np.int64(11)]",
    .params = kParams,
    .inputs = 0,
    .ratio = Ratio::kSource,
    .infer = infer,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      return IteratorPtr(std::make_unique<CounterIterator>(context));
    }};

}  // namespace spillway
