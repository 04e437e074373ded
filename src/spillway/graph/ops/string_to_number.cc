#include "spillway/base/parse_number.h"
#include "spillway/graph/strings.h"

namespace spillway::graph {
namespace {

using Outputs = Types<float, double, std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>;

Status infer(Infer& c) {
  const DType out = c.attrs().get_or("out_type", DType::kFloat32);
  if (!is_one_of(Outputs(), out)) {
    return invalid_argument("Value for attr 'out_type' of ", name_of(out),
                            " is not in the list of allowed values: float, double, int32, int64, "
                            "uint32, uint64");
  }
  return infer_of_strings(c, out);
}

Status compute(Compute& c) {
  const DType type = c.attrs.get_or("out_type", DType::kFloat32);
  const Tensor& in = c.inputs[0];
  SW_ASSIGN(Tensor out, c.make(type, in.shape()));
  std::int64_t bad = -1;
  with_type(Outputs(), type, [&]<class T>() {
    auto* to = reinterpret_cast<T*>(out.mutable_data());
    Looks looks;
    for (std::int64_t i = 0; i < in.count() && !looks.abandoned(); ++i) {
      const auto value = parse_number<T>(in.string_at(i));
      if (!value) {
        bad = i;
        return;
      }
      to[i] = *value;
    }
  });
  if (bad >= 0) {
    return bad_data(Code::kInvalidArgument,
                    "StringToNumberOp could not correctly convert string: ", in.string_at(bad));
  }
  out.buffer()->touch();
  c.outputs.push_back(std::move(out));
  return {};
}

constexpr ParamDef kParams[] = {{"input", ParamKind::kTensor, "", 's'},
                                {"out_type", ParamKind::kDType, "float32"}};

}  // namespace

extern constexpr OpDef string_to_number_op{.name = "string_to_number",
                                           .summary = "The numbers that strings spell.",
                                           .params = kParams,
                                           .paths = "strings.to_number",
                                           .effect = Effect::kFallible,
                                           .infer = infer,
                                           .compute = compute,
                                           .per_item = true};

}  // namespace spillway::graph
