#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>

#include "spillway/graph/strings.h"

namespace spillway::graph {
namespace {

// The fewest digits of two lengths that give the number back, as TensorFlow shows floats.
void show(float value, std::string& text) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.6g", static_cast<double>(value));
  if (std::strtof(buffer, nullptr) != value) {
    std::snprintf(buffer, sizeof buffer, "%.9g", static_cast<double>(value));
  }
  text += buffer;
}
void show(double value, std::string& text) {
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, "%.15g", value);
  if (std::strtod(buffer, nullptr) != value) {
    std::snprintf(buffer, sizeof buffer, "%.17g", value);
  }
  text += buffer;
}

// In quotes; what is not printable is escaped as in C, bytes of UTF-8 are left alone.
void show(std::string_view value, std::string& text) {
  constexpr std::string_view kPlain = "\n\r\t\"'\\";
  constexpr std::string_view kEscaped = "nrt\"'\\";
  text += '"';
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (const std::size_t at = kPlain.find(c); at != std::string_view::npos) {
      text += '\\';
      text += kEscaped[at];
    } else if (byte < 0x20 || byte == 0x7f) {
      char octal[8];
      std::snprintf(octal, sizeof octal, "\\%03o", static_cast<unsigned>(byte));
      text += octal;
    } else {
      text += c;
    }
  }
  text += '"';
}

// to_chars knows no bools: TensorFlow shows them as 0 and 1.
template <class T>
using Shown = std::conditional_t<std::is_same_v<T, bool>, int, T>;

void show_item(const Tensor& value, std::int64_t i, std::string& text) {
  if (value.dtype() == DType::kString) {
    show(value.string_at(i), text);
    return;
  }
  with_type(decltype(RealTypes{} | BoolType{})(), value.dtype(), [&]<class T>() {
    const T item = value.as<T>()[i];
    if constexpr (kFloating<T>) {
      show(widen(item), text);
    } else {
      char digits[24];
      const auto end = std::to_chars(digits, digits + sizeof digits, static_cast<Shown<T>>(item));
      text.append(digits, end.ptr);
    }
  });
}

// Nested brackets, a line for each row; of a long axis only `ends` parts at its begin and its end.
class Layout {
 public:
  Layout(const Tensor& value, std::int64_t ends, std::string& text)
      : value_(value), ends_(ends), text_(text) {}

  void show(int axis, std::int64_t first) {
    const Shape& shape = value_.shape();
    if (axis == shape.rank()) {
      show_item(value_, first, text_);
      return;
    }
    std::int64_t stride = 1;
    for (int i = axis + 1; i < shape.rank(); ++i) stride *= shape[i];
    const std::int64_t size = shape[axis];
    text_ += '[';
    for (std::int64_t i = 0; i < size; ++i) {
      const bool hidden = i >= ends_ && i < size - ends_;
      if (i > 0 || hidden) gap(axis);
      if (hidden) {
        text_ += "...";
        i = size - ends_ - 1;
      } else {
        show(axis + 1, first + i * stride);
      }
    }
    text_ += ']';
  }

 private:
  void gap(int axis) {
    const int inner = value_.shape().rank() - axis - 1;
    if (inner == 0) {
      text_ += ' ';
      return;
    }
    text_.append(static_cast<std::size_t>(inner), '\n');
    text_.append(static_cast<std::size_t>(axis) + 1, ' ');
  }

  const Tensor& value_;
  const std::int64_t ends_;
  std::string& text_;
};

// TensorFlow shows complex numbers as question marks, and no rows of them.
void show_complex(const Tensor& value, std::int64_t most, std::string& text) {
  const bool scalar = value.shape().rank() == 0;
  if (!scalar) text += '[';
  for (std::int64_t i = 0; i < most; ++i) text += i > 0 ? " ?" : "?";
  if (most < value.count()) text += "...";
  if (!scalar) text += ']';
}

Status infer(Infer& c) {
  for (int i = 0; i < c.inputs(); ++i) {
    const DType dtype = c.input(i).dtype;
    if (dtype != DType::kString && !is_one_of(PlainTypes(), dtype)) return no_kernel(dtype);
  }
  const std::string pattern = c.attrs().get_or("template", std::string());
  const std::string mark = c.attrs().get_or("placeholder", std::string("{}"));
  if (mark.empty()) return invalid_argument("placeholder must not be empty");
  int marks = 0;
  for (std::size_t at = pattern.find(mark); at != std::string::npos;
       at = pattern.find(mark, at + mark.size())) {
    ++marks;
  }
  if (marks != c.inputs()) {
    return invalid_argument("The template expects ", marks, " tensors, but the inputs has ",
                            c.inputs());
  }
  c.set(0, DType::kString, Shape());
  return {};
}

Status compute(Compute& c) {
  const std::string pattern = c.attrs.get_or("template", std::string());
  const std::string mark = c.attrs.get_or("placeholder", std::string("{}"));
  const auto summarize = c.attrs.get_or<std::int64_t>("summarize", 3);
  StringRun run(1);
  std::string& text = run.text();
  std::size_t at = 0;
  for (const Tensor& input : c.inputs) {
    const std::size_t next = pattern.find(mark, at);
    text.append(pattern, at, next - at);
    at = next + mark.size();
    const std::int64_t most = summarize < 0 ? input.count() : std::min(summarize, input.count());
    if (most == 0 && input.dtype() == DType::kBool) continue;  // TensorFlow shows nothing at all
    if (is_one_of(ComplexTypes(), input.dtype())) {
      show_complex(input, most, text);
    } else if (most == 0 && input.shape().rank() == 0) {
      text += "...";
    } else {
      Layout(input, most, text).show(0, 0);
    }
  }
  text.append(pattern, at);
  run.end();
  SW_ASSIGN(Tensor out, run.finish(c, Shape()));
  c.outputs.push_back(std::move(out));
  return {};
}

constexpr ParamDef kParams[] = {{"inputs", ParamKind::kTensors, "", '*'},
                                {"template", ParamKind::kString},
                                {"placeholder", ParamKind::kString, "'{}'"},
                                {"summarize", ParamKind::kInt, "3"}};

}  // namespace

extern constexpr OpDef string_format_op{
    .name = "string_format",
    .summary = "A text with tensors in the places of a mark, long axes shortened.",
    .params = kParams,
    .infer = infer,
    .compute = compute};

}  // namespace spillway::graph
