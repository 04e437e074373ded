#include "spillway/graph/farm_fingerprint.h"
#include "spillway/graph/strings.h"

namespace spillway::graph {
namespace {

Status infer(Infer& c) {
  const std::int64_t buckets = c.attrs().get_or("num_buckets", std::int64_t{0});
  if (buckets < 1) {
    return invalid_argument("Value for attr 'num_buckets' of ", buckets,
                            " must be at least minimum 1");
  }
  return infer_of_strings(c, DType::kInt64);
}

Status compute(Compute& c) {
  const auto buckets = static_cast<std::uint64_t>(c.attrs.get_or("num_buckets", std::int64_t{1}));
  return measure_strings<std::int64_t>(c, DType::kInt64, [buckets](std::string_view item) {
    return static_cast<std::int64_t>(farm_fingerprint(item) % buckets);
  });
}

constexpr ParamDef kParams[] = {{"input", ParamKind::kTensor, "", 's'},
                                {"num_buckets", ParamKind::kInt}};

}  // namespace

extern constexpr OpDef string_to_hash_bucket_fast_op{
    .name = "string_to_hash_bucket_fast",
    .summary = "A bucket for each string, by FarmHash's 64-bit fingerprint.",
    .params = kParams,
    .paths = "strings.to_hash_bucket_fast",
    .infer = infer,
    .compute = compute,
    .per_item = true};

}  // namespace spillway::graph
