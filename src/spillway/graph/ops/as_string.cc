#include <charconv>
#include <cstdio>

#include "spillway/graph/strings.h"

namespace spillway::graph {
namespace {

struct Format {
  std::int64_t precision = -1;
  std::int64_t width = -1;
  bool scientific = false;
  bool shortest = false;
  std::string fill;

  explicit Format(const Attrs& attrs)
      : precision(attrs.get_or("precision", std::int64_t{-1})),
        width(attrs.get_or("width", std::int64_t{-1})),
        scientific(attrs.get_or("scientific", false)),
        shortest(attrs.get_or("shortest", false)),
        fill(attrs.get_or("fill", std::string())) {}
  bool plain() const { return width < 0 && fill.empty(); }
  // printf's, for the type letters given.
  std::string directive(std::string_view letters) const {
    std::string text(1, '%');
    text += fill;
    if (width >= 0) text += std::to_string(width);
    if (precision >= 0) {
      text += '.';
      text += std::to_string(precision);
    }
    text += letters;
    return text;
  }
};

Status infer(Infer& c) {
  const DType dtype = c.input(0).dtype;
  const Format format(c.attrs());
  const bool number = is_one_of(PlainTypes(), dtype);
  if (!number && dtype != DType::kString) return no_kernel(dtype);
  const bool whole = is_one_of(IntegerTypes(), dtype) || dtype == DType::kBool;
  if (whole && (format.scientific || format.shortest)) {
    return invalid_argument("scientific and shortest format not supported for datatype ",
                            name_of(dtype));
  }
  if (whole && format.precision >= 0) {
    return invalid_argument("precision not supported for datatype ", name_of(dtype));
  }
  if (format.fill.size() > 1) {
    return invalid_argument("Fill string must be one or fewer characters");
  }
  if (format.scientific && format.shortest) {
    return invalid_argument("Cannot select both scientific and shortest notation");
  }
  if (!format.fill.empty() && std::string_view(" +-0#").find(format.fill[0]) == std::string::npos) {
    return invalid_argument("Fill argument not supported: \"", format.fill, "\"");
  }
  c.set(0, DType::kString, c.input(0).shape);
  return {};
}

template <class T>
void print(const std::string& directive, T value, std::string& text) {
  char buffer[64];
  const int n = std::snprintf(buffer, sizeof buffer, directive.c_str(), value);
  if (n < static_cast<int>(sizeof buffer)) {
    text.append(buffer, static_cast<std::size_t>(std::max(n, 0)));
    return;
  }
  const std::size_t at = text.size();
  text.resize(at + static_cast<std::size_t>(n) + 1);  // with room for the final zero
  std::snprintf(text.data() + at, static_cast<std::size_t>(n) + 1, directive.c_str(), value);
  text.pop_back();
}

class Printer {
 public:
  explicit Printer(const Format& format)
      : plain_(format.plain()),
        real_(format.directive(format.shortest     ? "g"
                               : format.scientific ? "e"
                                                   : "f")),
        signed_(format.directive("lld")),
        unsigned_(format.directive("llu")) {}

  template <class T>
  void add(T value, std::string& text) const {
    if constexpr (std::is_same_v<T, bool>) {
      text += value ? "true" : "false";
    } else if constexpr (kInteger<T>) {
      if (!plain_) {
        if constexpr (std::is_signed_v<T>)
          print(signed_, static_cast<long long>(value), text);
        else
          print(unsigned_, static_cast<unsigned long long>(value), text);
        return;
      }
      char digits[24];
      text.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
    } else if constexpr (kComplex<T>) {
      text += '(';
      print(real_, static_cast<double>(value.real()), text);
      text += ',';
      print(real_, static_cast<double>(value.imag()), text);
      text += ')';
    } else {
      print(real_, static_cast<double>(widen(value)), text);
    }
  }

 private:
  bool plain_;
  std::string real_;
  std::string signed_;
  std::string unsigned_;
};

// As printf's %s: the precision cuts, the width fills with spaces. Without a width TensorFlow does
// not print at all, and nothing is cut.
void add_string(const Format& format, std::string_view item, std::string& text) {
  if (format.precision >= 0 && format.width >= 0)
    item = item.substr(0, static_cast<std::size_t>(format.precision));
  const std::size_t width = format.width < 0 ? 0 : static_cast<std::size_t>(format.width);
  const std::size_t room = width - std::min(width, item.size());
  const bool left = format.fill == "-";
  if (!left) text.append(room, ' ');
  text += item;
  if (left) text.append(room, ' ');
}

Status compute(Compute& c) {
  const Tensor& in = c.inputs[0];
  const Format format(c.attrs);
  StringRun run(in.count());
  Looks looks;
  if (in.dtype() == DType::kString) {
    for (std::int64_t i = 0; i < in.count() && !looks.abandoned(); ++i, run.end()) {
      add_string(format, in.string_at(i), run.text());
    }
  }
  const Printer printer(format);
  with_type(PlainTypes(), in.dtype(), [&]<class T>() {
    for (std::int64_t i = 0; i < in.count() && !looks.abandoned(); ++i, run.end()) {
      printer.add(in.as<T>()[i], run.text());
    }
  });
  SW_ASSIGN(Tensor out, run.finish(c, in.shape()));
  c.outputs.push_back(std::move(out));
  return {};
}

constexpr ParamDef kParams[] = {{"input", ParamKind::kTensor},
                                {"precision", ParamKind::kInt, "-1"},
                                {"scientific", ParamKind::kBool, "False"},
                                {"shortest", ParamKind::kBool, "False"},
                                {"width", ParamKind::kInt, "-1"},
                                {"fill", ParamKind::kString, "''"}};

}  // namespace

extern constexpr OpDef as_string_op{.name = "as_string",
                                    .summary = "Numbers as text.",
                                    .params = kParams,
                                    .paths = "strings.as_string",
                                    .infer = infer,
                                    .compute = compute,
                                    .per_item = true};

}  // namespace spillway::graph
