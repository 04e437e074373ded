#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "spillway/base/interrupt.h"
#include "spillway/graph/elementwise.h"

// What the ops on strings share.
namespace spillway::graph {

// InvalidArgument unless input `i` is a string tensor.
Status need_strings(const Infer& c, int i);
// One input of strings; the output has its shape.
Status infer_of_strings(Infer& c, DType out);
inline Status infer_string_map(Infer& c) { return infer_of_strings(c, DType::kString); }
inline Status infer_string_test(Infer& c) { return infer_of_strings(c, DType::kBool); }
// Two inputs of strings that broadcast.
Status infer_string_pair(Infer& c, DType out);

// Shapes that do not broadcast.
Status incompatible(const Shape& a, const Shape& b);
// Where the items of a tensor that broadcasts to another shape lie.
class BroadcastIndex {
 public:
  BroadcastIndex(const Shape& from, const Shape& to);
  std::int64_t operator()(std::int64_t i) const {
    return kind_ == Kind::kSame ? i : kind_ == Kind::kOne ? 0 : strided(i);
  }

 private:
  enum class Kind : std::uint8_t { kSame, kOne, kStrided };
  std::int64_t strided(std::int64_t i) const;

  Kind kind_ = Kind::kSame;
  std::vector<std::int64_t> dims_;
  std::vector<std::int64_t> strides_;
};

// Strings between looks whether the work was abandoned: each may take microseconds.
inline constexpr std::int64_t kTexts = 4096;

// Strings of sizes not known beforehand, one after the other.
class StringRun {
 public:
  explicit StringRun(std::int64_t items) { ends_.reserve(static_cast<std::size_t>(items)); }
  // What is appended here up to end() is one item.
  std::string& text() { return text_; }
  void end() { ends_.push_back(text_.size()); }
  void add(std::string_view item) {
    text_ += item;
    end();
  }
  Result<Tensor> finish(const Compute& c, const Shape& shape) const;

 private:
  std::string text_;
  std::vector<std::size_t> ends_;
};

// out[i] = what `map(item, text)` appends for each item of the first input.
template <class Map>
Status map_strings(Compute& c, Map map) {
  const Tensor& in = c.inputs[0];
  StringRun run(in.count());
  Looks looks(kTexts);
  for (std::int64_t i = 0; i < in.count(); ++i) {
    if (looks.abandoned()) return cancelled();
    SW_RETURN_IF_ERROR(map(in.string_at(i), run.text()));
    run.end();
  }
  SW_ASSIGN(Tensor out, run.finish(c, in.shape()));
  c.outputs.push_back(std::move(out));
  return {};
}
// out[i] = the part of the first input's item that `view(item)` chooses.
template <class View>
Status view_strings(Compute& c, View view) {
  const Tensor& in = c.inputs[0];
  std::vector<std::string_view> items;
  items.reserve(static_cast<std::size_t>(in.count()));
  Looks looks(kTexts);
  for (std::int64_t i = 0; i < in.count(); ++i) {
    if (looks.abandoned()) return cancelled();
    items.push_back(view(in.string_at(i)));
  }
  SW_ASSIGN(Tensor out, c.strings(in.shape(), items));
  c.outputs.push_back(std::move(out));
  return {};
}
// out[i] = `of(item)` as a T.
template <class T, class Of>
Status measure_strings(Compute& c, DType dtype, Of of) {
  const Tensor& in = c.inputs[0];
  SW_ASSIGN(Tensor out, c.make(dtype, in.shape()));
  auto* to = reinterpret_cast<T*>(out.mutable_data());
  Looks looks(kTexts);
  for (std::int64_t i = 0; i < in.count(); ++i) {
    if (looks.abandoned()) return cancelled();
    to[i] = of(in.string_at(i));
  }
  out.buffer()->touch();
  c.outputs.push_back(std::move(out));
  return {};
}

inline bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
std::string_view trimmed(std::string_view text);
// A byte that goes on with a UTF-8 character rather than beginning one.
inline bool is_trail(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

inline constexpr ParamDef kStringParams[] = {{"input", ParamKind::kTensor, "", 's'}};
inline constexpr ParamDef kStringPairParams[] = {{"x", ParamKind::kTensor, "", 's'},
                                                 {"y", ParamKind::kTensor, "", 's'}};

}  // namespace spillway::graph
