#include <cstdint>
#include <cstdlib>

#include "spillway/graph/example_parser.h"

// Any bytes as examples: refused, or parsed within the budget.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace spillway;
  using Ints = std::vector<std::int64_t>;
  static const graph::Attrs attrs{
      {"keys", std::string("1:a1:b1:c1:d1:e")},
      {"kinds", Ints{0, 0, 1, 2, 2}},
      {"dtypes", Ints{static_cast<int>(DType::kInt64), static_cast<int>(DType::kString),
                      static_cast<int>(DType::kFloat32), static_cast<int>(DType::kInt64),
                      static_cast<int>(DType::kString)}},
      {"shapes", Ints{0, 1, 2, 1, 2, 0, 0}},
      {"defaults", Ints{0, 1, -1, -1, -1}}};
  Budget budget(std::size_t{1} << 24U);
  const AccountPtr account = budget.open_account("fuzz");
  const auto half = size / 2;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string_view both[] = {bytes.substr(0, half), bytes.substr(half)};
  const std::string_view fallback[] = {"x"};
  const auto ask = Buffer::Ask::kOptional;
  for (const bool single : {true, false}) {
    std::vector<Tensor> inputs;
    inputs.push_back(single ? make_strings(account, Shape(), {&bytes, 1}, ask).value()
                            : make_strings(account, Shape({2}), both, ask).value());
    inputs.push_back(make_scalar<std::int64_t>(account, DType::kInt64, 7, ask).value());
    inputs.push_back(make_strings(account, Shape(), fallback, ask).value());
    graph::Compute compute{inputs, attrs, account, ask, {}, {}};
    const Status status = graph::parse_examples(compute, single);
    if (status.ok() && compute.outputs.size() != 9) std::abort();
  }
  return 0;
}
