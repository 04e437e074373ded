#include "spillway/graph/strings.h"
#include "spillway/io/file.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  SW_RETURN_IF_ERROR(need_strings(c, 0));
  const Shape& shape = c.input(0).shape;
  if (shape.has_rank() && shape.rank() != 0) {
    return invalid_argument("Input filename tensor must be scalar, but had shape: ",
                            shape.bracketed());
  }
  c.set(0, DType::kString, Shape());
  return {};
}

// The size is reserved before a byte is read; a file that shrinks meanwhile is an error.
Status compute(Compute& c) {
  SW_ASSIGN(const FilePtr file, open_file(std::string(c.inputs[0].string_at(0))));
  SW_ASSIGN(BufferPtr offsets, Buffer::share(c.account, 2 * sizeof(std::int64_t), c.ask));
  auto reserved = Buffer::share(c.account, file->size(), c.ask);
  if (!reserved.ok()) {
    reserved.error().edit().file = file->path();
    return std::move(reserved).status();
  }
  const BufferPtr bytes = std::move(reserved).value();
  SW_ASSIGN(const std::size_t got, file->read(0, {bytes->data(), bytes->size()}));
  auto* const ends = reinterpret_cast<std::int64_t*>(offsets->data());
  ends[0] = 0;
  ends[1] = static_cast<std::int64_t>(got);
  offsets->touch();
  bytes->touch();
  c.outputs.push_back(Tensor::of_strings(Shape(), {std::move(offsets), bytes}));
  return {};
}

constexpr ParamDef kParams[] = {{"filename", ParamKind::kTensor, "", 's'}};

}  // namespace

extern constexpr OpDef read_file_op{.name = "read_file",
                                    .summary = "The bytes of a file, as one string.",
                                    .params = kParams,
                                    .paths = "io.read_file",
                                    .effect = Effect::kFallible,
                                    .infer = infer,
                                    .compute = compute};

}  // namespace spillway::graph
