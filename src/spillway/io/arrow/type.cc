#include "spillway/io/arrow/type.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <string_view>

namespace spillway::arrow {
namespace {

using Kind = Type::Kind;
constexpr int kDeepest = 64;  // schemas may nest without end

Status unsupported(const Type& type, std::string_view format, std::string_view why) {
  Status status = invalid_argument("from_arrow: column ", type.path, " has no tensor: ", why,
                                   " (Arrow's format \"", format, "\")");
  status.edit().type = "TypeError";
  return status;
}

struct Simple {
  std::string_view format;
  Kind kind;
  DType dtype;
};
constexpr Simple kSimple[] = {
    {"c", Kind::kPlain, DType::kInt8},         {"C", Kind::kPlain, DType::kUInt8},
    {"s", Kind::kPlain, DType::kInt16},        {"S", Kind::kPlain, DType::kUInt16},
    {"i", Kind::kPlain, DType::kInt32},        {"I", Kind::kPlain, DType::kUInt32},
    {"l", Kind::kPlain, DType::kInt64},        {"L", Kind::kPlain, DType::kUInt64},
    {"e", Kind::kPlain, DType::kFloat16},      {"f", Kind::kPlain, DType::kFloat32},
    {"g", Kind::kPlain, DType::kFloat64},      {"b", Kind::kBits, DType::kBool},
    {"u", Kind::kString32, DType::kString},    {"z", Kind::kString32, DType::kString},
    {"U", Kind::kString64, DType::kString},    {"Z", Kind::kString64, DType::kString},
    {"vu", Kind::kStringView, DType::kString}, {"vz", Kind::kStringView, DType::kString},
    {"tdD", Kind::kWidened, DType::kInt64},    {"tdm", Kind::kPlain, DType::kInt64},
    {"tts", Kind::kWidened, DType::kInt64},    {"ttm", Kind::kWidened, DType::kInt64},
    {"ttu", Kind::kPlain, DType::kInt64},      {"ttn", Kind::kPlain, DType::kInt64},
    {"tDs", Kind::kPlain, DType::kInt64},      {"tDm", Kind::kPlain, DType::kInt64},
    {"tDu", Kind::kPlain, DType::kInt64},      {"tDn", Kind::kPlain, DType::kInt64}};

bool is_timestamp(std::string_view format) {  // "tsu:Europe/Zurich": the zone is a label
  return format.size() >= 4 && format.starts_with("ts") && format[3] == ':' &&
         std::string_view("smun").find(format[2]) != std::string_view::npos;
}

Result<Type> parse(const Schema& schema, std::string path, int depth);

Status parse_children(const Schema& schema, Type& type, int depth) {
  for (std::int64_t i = 0; i < schema.n_children; ++i) {
    const Schema& child = *schema.children[i];
    const std::string name = child.name == nullptr ? "" : child.name;
    const bool field = type.kind == Kind::kStruct;
    std::string path = !field ? type.path : type.path.empty() ? name : type.path + "." + name;
    SW_ASSIGN(Type parsed, parse(child, std::move(path), depth + 1));
    type.children.push_back(std::move(parsed));
    type.names.push_back(name);
  }
  return {};
}

Status parse_list(const Schema& schema, std::string_view format, Type& type, int depth) {
  SW_RETURN_IF_ERROR(parse_children(schema, type, depth));
  if (type.children.size() != 1) return unsupported(type, format, "a list without items");
  const Type& item = type.children[0];
  if (item.is_list()) return unsupported(type, format, "lists within lists are not rectangular");
  if (item.kind == Kind::kStruct) return unsupported(type, format, "lists of structs");
  type.dtype = item.dtype;
  type.inner = item.inner.with_leading(type.kind == Kind::kFixedList ? type.size : kUnknownDim);
  return {};
}

Status parse_struct(const Schema& schema, std::string_view format, Type& type, int depth) {
  SW_RETURN_IF_ERROR(parse_children(schema, type, depth));
  std::vector<std::string> names = type.names;
  std::ranges::sort(names);
  const auto twice = std::ranges::adjacent_find(names);
  if (twice != names.end()) {
    return unsupported(type, format, "two columns have the name " + *twice);
  }
  return {};
}

Result<std::int64_t> size_in(std::string_view format, std::string_view digits, const Type& type) {
  std::int64_t size = 0;
  const char* const end = digits.data() + digits.size();
  // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): the end is given
  const auto got = std::from_chars(digits.data(), end, size);
  if (got.ec != std::errc() || got.ptr != end || size < 0) {
    return unsupported(type, format, "its size is no number");
  }
  return size;
}

Status parse_format(const Schema& schema, std::string_view format, Type& type, int depth) {
  for (const Simple& simple : kSimple) {
    if (simple.format != format) continue;
    type.kind = simple.kind;
    type.dtype = simple.dtype;
    return {};
  }
  if (is_timestamp(format)) {
    type.dtype = DType::kInt64;
    return {};
  }
  if (format.starts_with("w:")) {
    type.kind = Kind::kFixedString;
    type.dtype = DType::kString;
    SW_ASSIGN(type.size, size_in(format, format.substr(2), type));
    return {};
  }
  if (format == "+s") {
    type.kind = Kind::kStruct;
    return parse_struct(schema, format, type, depth);
  }
  if (format == "+l" || format == "+L") {
    type.kind = format == "+l" ? Kind::kList32 : Kind::kList64;
    return parse_list(schema, format, type, depth);
  }
  if (format.starts_with("+w:")) {
    type.kind = Kind::kFixedList;
    SW_ASSIGN(type.size, size_in(format, format.substr(3), type));
    return parse_list(schema, format, type, depth);
  }
  return unsupported(type, format, "this type is not read; cast it before");
}

Result<Type> parse(const Schema& schema, std::string path, int depth) {
  Type type;
  type.path = std::move(path);
  const std::string_view format = schema.format == nullptr ? "" : schema.format;
  if (depth > kDeepest) return unsupported(type, format, "it nests too deep");
  if (schema.dictionary == nullptr) {
    SW_RETURN_IF_ERROR(parse_format(schema, format, type, depth));
    return type;
  }
  Type indices;
  indices.path = type.path;
  SW_RETURN_IF_ERROR(parse_format(schema, format, indices, depth));
  if (indices.kind != Kind::kPlain || !is_integer(indices.dtype)) {
    return unsupported(type, format, "indices of a dictionary must be integers");
  }
  SW_ASSIGN(type, parse(*schema.dictionary, type.path, depth + 1));
  if (type.dictionary || type.is_list() || type.kind == Kind::kStruct ||
      type.kind == Kind::kFixedList) {
    return unsupported(type, format, "a dictionary of lists, structs or dictionaries");
  }
  type.dictionary = true;
  type.index = indices.dtype;
  return type;
}

}  // namespace

std::vector<std::size_t> Type::by_name() const {
  std::vector<std::size_t> order(names.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](std::size_t i) { return names[i]; });
  return order;
}

StructurePtr Type::structure() const {
  if (kind != Kind::kStruct) return Structure::tensor(dtype, inner);
  std::vector<std::string> keys;
  std::vector<StructurePtr> values;
  for (const std::size_t i : by_name()) {
    keys.push_back(names[i]);
    values.push_back(children[i].structure());
  }
  return Structure::dict(std::move(keys), std::move(values));
}

Result<Type> type_of(const Schema& schema) {
  SW_ASSIGN(Type type, parse(schema, "", 0));
  if (type.kind != Kind::kStruct || type.dictionary) {
    return invalid_argument(
        "from_arrow: a stream must have columns: its schema is no struct (Arrow's format \"",
        schema.format == nullptr ? "" : schema.format, "\")");
  }
  return type;
}

}  // namespace spillway::arrow
