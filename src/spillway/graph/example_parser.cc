#include "spillway/graph/example_parser.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "spillway/graph/strings.h"
#include "spillway/tensor/string_rows.h"

namespace spillway::graph {
namespace {

constexpr std::size_t kMostShown = 200;

std::string_view tensorflow_name(DType dtype) {
  return dtype == DType::kFloat32 ? "float" : name_of(dtype);
}
DType dtype_of_list(FeatureList::Kind kind) {
  return kind == FeatureList::Kind::kBytes    ? DType::kString
         : kind == FeatureList::Kind::kFloats ? DType::kFloat32
                                              : DType::kInt64;
}

Shape prefixed(std::span<const std::int64_t> leading, const Shape& shape) {
  std::vector<std::int64_t> dims(leading.begin(), leading.end());
  dims.insert(dims.end(), shape.dims().begin(), shape.dims().end());
  return Shape(std::span<const std::int64_t>(dims));
}

// Items of a type, several features' one after the other.
template <class T>
struct Reader;
template <>
struct Reader<std::int64_t> {
  static constexpr auto kRead = read_integers;
};
template <>
struct Reader<float> {
  static constexpr auto kRead = read_floats;
};
template <>
struct Reader<std::string_view> {
  static constexpr auto kRead = read_strings;
};

template <class T>
T item_of(const Tensor& tensor, std::int64_t i) {
  if constexpr (std::is_same_v<T, std::string_view>)
    return tensor.string_at(i);
  else
    return tensor.as<T>()[i];
}
// Strings that are most of the bytes they lie in, all of them.
bool worth_sharing(const Buffer& bytes, const std::vector<std::string_view>& items) {
  const auto* const begin = reinterpret_cast<const char*>(bytes.data());
  std::size_t size = 0;
  for (const std::string_view item : items) {
    if (item.data() < begin || item.data() + item.size() > begin + bytes.size()) return false;
    size += item.size();
  }
  return size * 4 >= bytes.size() * 3;
}

template <class T>
Result<Tensor> tensor_of(const Compute& c, const Shape& shape, const std::vector<T>& items) {
  if constexpr (std::is_same_v<T, std::string_view>) {
    if (const BufferPtr& bytes = c.inputs[0].buffer(); worth_sharing(*bytes, items)) {
      return strings_within(c.account, shape, bytes, items, c.ask);
    }
    return c.strings(shape, items);
  } else {
    SW_ASSIGN(Tensor out,
              c.make(std::is_same_v<T, float> ? DType::kFloat32 : DType::kInt64, shape));
    if (!items.empty()) std::memcpy(out.mutable_data(), items.data(), items.size() * sizeof(T));
    out.buffer()->touch();
    return out;
  }
}

// One call: the lists of all features in all examples, then a column at a time.
class Parse {
 public:
  Parse(Compute& c, bool single) : c_(c), single_(single && c.inputs[0].shape().rank() == 0) {}

  Status run() {
    SW_ASSIGN(features_, features_of(c_.attrs));
    const Tensor& serialized = c_.inputs[0];
    const std::vector<int> order = by_key(features_);
    rows_ = static_cast<std::size_t>(serialized.count());
    lists_.resize(rows_ * features_.size());
    Looks looks(kTexts);
    for (std::size_t i = 0; i < rows_; ++i) {
      if (looks.abandoned()) return cancelled();
      const std::string_view example = serialized.string_at(static_cast<std::int64_t>(i));
      const std::span found = std::span(lists_).subspan(i * features_.size(), features_.size());
      if (!find_features(example, features_, order, found)) return not_an_example(example);
    }
    for (std::size_t f = 0; f < features_.size(); ++f) {
      switch (features_[f].dtype) {
        case DType::kInt64:
          SW_RETURN_IF_ERROR(column<std::int64_t>(f));
          break;
        case DType::kFloat32:
          SW_RETURN_IF_ERROR(column<float>(f));
          break;
        default:
          SW_RETURN_IF_ERROR(column<std::string_view>(f));
      }
    }
    return {};
  }

 private:
  static Status not_an_example(std::string_view bytes) {
    std::string shown;
    for (const char byte : bytes.substr(0, kMostShown)) {
      const bool plain = byte >= ' ' && byte <= '~';
      shown += plain ? byte : '.';
    }
    if (bytes.size() > kMostShown) shown += "...";
    return bad_data(Code::kInvalidArgument, "Could not parse example input, value: '", shown, "'");
  }
  template <class... Parts>
  Status wrong(const Feature& feature, std::size_t row, const Parts&... parts) const {
    if (single_) return bad_data(Code::kInvalidArgument, "Key: ", feature.key, ".  ", parts...);
    return bad_data(Code::kInvalidArgument, "Name: <unknown>, Key: ", feature.key, ", Index: ", row,
                    ".  ", parts...);
  }
  Status missing(const Feature& feature) const {
    return bad_data(Code::kInvalidArgument, single_ ? "" : "Name: <unknown>, ",
                    "Feature: ", feature.key, " (data type: ", tensorflow_name(feature.dtype),
                    ") is required but could not be found.");
  }
  // The shape of a result: rows in front unless there is only one example.
  Shape batched(std::initializer_list<std::int64_t> more, const Shape& shape) const {
    std::vector<std::int64_t> leading;
    if (!single_) {
      const auto rows = c_.inputs[0].shape().dims();
      leading.assign(rows.begin(), rows.end());
    }
    leading.insert(leading.end(), more.begin(), more.end());
    return prefixed(leading, shape);
  }

  // Appends the items of a feature in a row, which has the right type.
  template <class T>
  Status read(std::size_t f, std::size_t row, std::vector<T>& items) const {
    const FeatureList& list = lists_[row * features_.size() + f];
    const Feature& feature = features_[f];
    const DType actual = dtype_of_list(list.kind);
    if (actual != feature.dtype) {
      if (feature.kind == FeatureKind::kSparse) {
        return wrong(feature, row,
                     "Data types don't match. Expected type: ", tensorflow_name(feature.dtype),
                     ", Actual type: ", tensorflow_name(actual));
      }
      return wrong(feature, row, "Data types don't match. Data type: ", tensorflow_name(actual),
                   " but expected type: ", tensorflow_name(feature.dtype));
    }
    if (!Reader<T>::kRead(list.body, items)) {
      return wrong(feature, row, "Can't parse serialized Example.");
    }
    return {};
  }
  bool is_missing(std::size_t f, std::size_t row) const {
    return lists_[row * features_.size() + f].kind == FeatureList::Kind::kMissing;
  }
  template <class T>
  Status push(const Shape& shape, const std::vector<T>& items) {
    SW_ASSIGN(Tensor out, tensor_of<T>(c_, shape, items));
    c_.outputs.push_back(std::move(out));
    return {};
  }

  template <class T>
  Status column(std::size_t f) {
    switch (features_[f].kind) {
      case FeatureKind::kFixed:
        return fixed<T>(f);
      case FeatureKind::kSequence:
        return sequence<T>(f);
      default:
        return sparse<T>(f);
    }
  }

  // The items of one row, or the default, are added to `items`.
  template <class T>
  Status fixed_row(std::size_t f, std::size_t row, std::vector<T>& items) const {
    const Feature& feature = features_[f];
    const auto count = static_cast<std::size_t>(feature.shape.count());
    if (is_missing(f, row)) {
      if (feature.fallback < 0) return missing(feature);
      const Tensor& value = c_.inputs[static_cast<std::size_t>(feature.fallback) + 1];
      for (std::size_t i = 0; i < count; ++i) {
        items.push_back(item_of<T>(value, value.count() == 1 ? 0 : static_cast<std::int64_t>(i)));
      }
      return {};
    }
    const std::size_t before = items.size();
    SW_RETURN_IF_ERROR(read<T>(f, row, items));
    if (items.size() - before == count) return {};
    return wrong(feature, row, "Number of ", tensorflow_name(feature.dtype),
                 " values != expected.  Values size: ", items.size() - before,
                 " but output shape: ", feature.shape.bracketed());
  }

  template <class T>
  Status fixed(std::size_t f) {
    const Feature& feature = features_[f];
    const Shape shape = batched({}, feature.shape);
    std::vector<T> items;
    if constexpr (std::is_same_v<T, std::string_view>) {
      items.reserve(rows_);
      for (std::size_t row = 0; row < rows_; ++row) SW_RETURN_IF_ERROR(fixed_row<T>(f, row, items));
      return push<T>(shape, items);
    } else {
      SW_ASSIGN(Tensor out, c_.make(feature.dtype, shape));
      T* to = reinterpret_cast<T*>(out.mutable_data());
      for (std::size_t row = 0; row < rows_; ++row) {
        items.clear();
        SW_RETURN_IF_ERROR(fixed_row<T>(f, row, items));
        to = std::copy(items.begin(), items.end(), to);
      }
      out.buffer()->touch();
      c_.outputs.push_back(std::move(out));
      return {};
    }
  }

  // Rows are filled up to the longest.
  template <class T>
  Status sequence(std::size_t f) {
    const Feature& feature = features_[f];
    const auto step = static_cast<std::size_t>(std::max<std::int64_t>(1, feature.shape.count()));
    std::vector<T> items;
    std::vector<std::size_t> ends;
    std::size_t most = 0;
    for (std::size_t row = 0; row < rows_; ++row) {
      const std::size_t before = items.size();
      if (!is_missing(f, row)) SW_RETURN_IF_ERROR(read<T>(f, row, items));
      const std::size_t n = items.size() - before;
      if (n % step != 0) {
        const std::int64_t any[] = {kUnknownDim};
        return wrong(feature, row, "Number of ", tensorflow_name(feature.dtype),
                     " values is not a multiple of stride length. Saw ", n,
                     " values but output shape is: ", prefixed(any, feature.shape).bracketed());
      }
      most = std::max(most, n);
      ends.push_back(items.size());
    }
    const Shape shape = batched({static_cast<std::int64_t>(most / step)}, feature.shape);
    if (rows_ == 1) return push<T>(shape, items);
    T filler{};
    if (feature.fallback >= 0) {
      filler = item_of<T>(c_.inputs[static_cast<std::size_t>(feature.fallback) + 1], 0);
    }
    // One long row among many short ones can be far larger than the input: paid for first.
    SW_ASSIGN(const Buffer paid, Buffer::allocate(c_.account, rows_ * most * sizeof(T), c_.ask));
    static_cast<void>(paid);
    std::vector<T> padded;
    padded.reserve(rows_ * most);
    std::size_t begin = 0;
    for (const std::size_t end : ends) {
      padded.insert(padded.end(), items.begin() + static_cast<std::ptrdiff_t>(begin),
                    items.begin() + static_cast<std::ptrdiff_t>(end));
      padded.insert(padded.end(), most - (end - begin), filler);
      begin = end;
    }
    return push<T>(shape, padded);
  }

  template <class T>
  Status sparse(std::size_t f) {
    std::vector<T> items;
    std::vector<std::int64_t> indices;
    std::int64_t most = 0;
    for (std::size_t row = 0; row < rows_; ++row) {
      const std::size_t before = items.size();
      if (!is_missing(f, row)) SW_RETURN_IF_ERROR(read<T>(f, row, items));
      const auto n = static_cast<std::int64_t>(items.size() - before);
      for (std::int64_t i = 0; i < n; ++i) {
        if (!single_) indices.push_back(static_cast<std::int64_t>(row));
        indices.push_back(i);
      }
      most = std::max(most, n);
    }
    const auto n = static_cast<std::int64_t>(items.size());
    SW_RETURN_IF_ERROR(push<std::int64_t>(Shape({n, single_ ? 1 : 2}), indices));
    SW_RETURN_IF_ERROR(push<T>(Shape({n}), items));
    std::vector<std::int64_t> shape = {most};
    if (!single_) shape.insert(shape.begin(), static_cast<std::int64_t>(rows_));
    return push<std::int64_t>(Shape({single_ ? 1 : 2}), shape);
  }

  Compute& c_;
  bool single_;
  std::vector<Feature> features_;
  std::size_t rows_ = 0;
  std::vector<FeatureList> lists_;  // the features of a row, then those of the next
};

Status malformed() { return invalid_argument("the features are not described as they should be"); }

Status infer_feature(Infer& c, const Feature& feature, const std::vector<std::int64_t>& rows,
                     int& output) {
  if (feature.fallback >= 0) {
    if (feature.fallback + 1 >= c.inputs()) return malformed();
    const Spec& value = c.input(feature.fallback + 1);
    if (value.dtype != feature.dtype) {
      return invalid_argument("Feature ", feature.key, ": the default is ", name_of(value.dtype),
                              ", not ", name_of(feature.dtype));
    }
    const bool scalar = value.shape.compatible(Shape());
    if (!scalar &&
        (feature.kind != FeatureKind::kFixed || !value.shape.compatible(feature.shape))) {
      return invalid_argument("Feature ", feature.key, ": the default has shape ",
                              value.shape.bracketed(), ", not ", feature.shape.bracketed());
    }
  }
  if (feature.kind == FeatureKind::kSparse) {
    const auto rank = static_cast<std::int64_t>(rows.size()) + 1;
    c.set(output++, DType::kInt64, Shape({kUnknownDim, rank}));
    c.set(output++, feature.dtype, Shape({kUnknownDim}));
    c.set(output++, DType::kInt64, Shape({rank}));
    return {};
  }
  std::vector<std::int64_t> leading = rows;
  if (feature.kind == FeatureKind::kSequence) leading.push_back(kUnknownDim);
  c.set(output++, feature.dtype, prefixed(leading, feature.shape));
  return {};
}

}  // namespace

Result<std::vector<Feature>> features_of(const Attrs& attrs) {
  using Ints = std::vector<std::int64_t>;
  const std::string* keys = attrs.get<std::string>("keys");
  const Ints kinds = attrs.get_or("kinds", Ints());
  const Ints dtypes = attrs.get_or("dtypes", Ints());
  const Ints shapes = attrs.get_or("shapes", Ints());
  const Ints defaults = attrs.get_or("defaults", Ints());
  const std::size_t n = kinds.size();
  if (keys == nullptr || dtypes.size() != n || defaults.size() != n) return malformed();
  std::string_view text = *keys;
  std::size_t at = 0;
  std::vector<Feature> features(n);
  for (std::size_t i = 0; i < n; ++i) {
    Feature& feature = features[i];
    std::size_t length = 0;
    const auto number = std::from_chars(text.data(), text.data() + text.size(), length);
    const auto digits = static_cast<std::size_t>(number.ptr - text.data());
    if (number.ec != std::errc() || digits >= text.size() || text[digits] != ':' ||
        length > text.size() - digits - 1) {
      return malformed();
    }
    feature.key = text.substr(digits + 1, length);
    text.remove_prefix(digits + 1 + length);
    if (kinds[i] < 0 || kinds[i] > 2 || at >= shapes.size() || shapes[at] < 0 ||
        static_cast<std::size_t>(shapes[at]) > shapes.size() - at - 1) {
      return malformed();
    }
    feature.kind = static_cast<FeatureKind>(kinds[i]);
    const auto rank = static_cast<std::size_t>(shapes[at]);
    feature.shape = Shape(std::span<const std::int64_t>(shapes).subspan(at + 1, rank));
    at += rank + 1;
    if (!feature.shape.fully_known()) {
      return invalid_argument("Feature ", feature.key, ": its shape must be known, not ",
                              feature.shape.bracketed());
    }
    feature.dtype = static_cast<DType>(dtypes[i]);
    if (feature.dtype != DType::kInt64 && feature.dtype != DType::kFloat32 &&
        feature.dtype != DType::kString) {
      return invalid_argument("Feature ", feature.key,
                              ": its dtype must be one of float32, int64, string");
    }
    feature.fallback = static_cast<int>(defaults[i]);
  }
  return features;
}

Status infer_examples(Infer& c, bool single) {
  SW_RETURN_IF_ERROR(need_strings(c, 0));
  SW_ASSIGN(const std::vector<Feature> features, features_of(c.attrs()));
  const Shape& serialized = c.input(0).shape;
  if (!serialized.compatible(single ? Shape() : Shape({kUnknownDim}))) {
    return invalid_argument("serialized must be a ", single ? "scalar" : "vector",
                            ", not of shape ", serialized.bracketed());
  }
  std::vector<std::int64_t> rows;
  if (!single) rows.push_back(serialized.has_rank() ? serialized[0] : kUnknownDim);
  int output = 0;
  for (const Feature& feature : features) {
    SW_RETURN_IF_ERROR(infer_feature(c, feature, rows, output));
  }
  return {};
}

Status parse_examples(Compute& c, bool single) { return Parse(c, single).run(); }

}  // namespace spillway::graph
