#include "spillway/graph/random_source.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  const std::int64_t low = c.attrs().get_or("minval", std::int64_t{0});
  const std::int64_t high = c.attrs().get_or("maxval", std::int64_t{0});
  if (low >= high) return empty_range(low, high);
  return infer_random<RandomIntegers>(c);
}

Result<Loop> loop(const Prepare& p) {
  RandomSource source = source_of(p.attrs, p.outputs[0].shape);
  source.low = p.attrs.get_or("minval", std::int64_t{0});
  source.range = static_cast<std::uint64_t>(p.attrs.get_or("maxval", std::int64_t{0})) -
                 static_cast<std::uint64_t>(source.low);
  SW_ASSIGN(Loop loop, (random_loop<UniformIntegerOf, RandomIntegers>(p)));
  loop.data = std::make_shared<const RandomSource>(source);
  return loop;
}

constexpr ParamDef kParams[] = {
    {"shape", ParamKind::kShape},   {"minval", ParamKind::kInt},
    {"maxval", ParamKind::kInt},    {"dtype", ParamKind::kDType, "int32"},
    {"seed", ParamKind::kInt, "0"}, {"seed2", ParamKind::kInt, "0"},
    {"skip", ParamKind::kInt, "0"}, {"per_row", ParamKind::kBool, "False"}};

}  // namespace

extern constexpr OpDef random_uniform_int_op{
    .name = "random_uniform_int",
    .summary = "Integers of minval up to, without, maxval.",
    .params = kParams,
    .infer = infer,
    .loop = loop};

}  // namespace spillway::graph
