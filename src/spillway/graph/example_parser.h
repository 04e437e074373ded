#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "spillway/graph/op.h"

// tf.train.Example, read from its wire format without building one. What is read may come from
// anybody: every length is checked against what is there, nothing recurses, and what is allocated
// is bounded by the bytes given and by the outputs asked for.
namespace spillway::graph {

enum class FeatureKind : std::uint8_t {
  kFixed,     // a known number of items, or a default
  kSequence,  // any number of steps of a known shape; missing: none
  kSparse,    // any number of items: indices, values, dense shape
};

struct Feature {
  std::string key;
  FeatureKind kind = FeatureKind::kFixed;
  DType dtype = DType::kInt64;  // int64, float32 or string
  Shape shape;                  // kFixed: of the feature; kSequence: of a step
  int fallback = -1;            // which of the defaults; -1: none
};

// The features that attributes describe, n of them:
//   keys      string: for each its length in bytes, ':' and the key: "3:age4:name"
//   kinds     n integers of FeatureKind
//   dtypes    n integers of DType
//   shapes    for each its rank, then its dimensions
//   defaults  n integers: the place among the default operands, or -1
Result<std::vector<Feature>> features_of(const Attrs& attrs);

// The list of one feature in one serialized example.
struct FeatureList {
  enum class Kind : std::uint8_t { kMissing, kBytes, kFloats, kIntegers };
  Kind kind = Kind::kMissing;
  std::string_view body;
};

// Finds the lists of `features` in an example; what comes twice counts the last time. `found` holds
// one for each feature. False: not an Example. `order` holds the features' places by key; see
// by_key.
std::vector<int> by_key(const std::vector<Feature>& features);
bool find_features(std::string_view example, const std::vector<Feature>& features,
                   const std::vector<int>& order, std::span<FeatureList> found);

// The items of a list; false where the bytes are none.
bool read_integers(std::string_view body, std::vector<std::int64_t>& out);
bool read_floats(std::string_view body, std::vector<float>& out);
bool read_strings(std::string_view body, std::vector<std::string_view>& out);

// What the two ops share. `single`: the first input is one example, or one a row.
Status infer_examples(Infer& c, bool single);
Status parse_examples(Compute& c, bool single);

inline constexpr ParamDef kExampleParams[] = {{"serialized", ParamKind::kTensor, "", 's'},
                                              {"default_values", ParamKind::kTensors, "", '*'},
                                              {"keys", ParamKind::kString},
                                              {"kinds", ParamKind::kInts},
                                              {"dtypes", ParamKind::kInts},
                                              {"shapes", ParamKind::kInts},
                                              {"defaults", ParamKind::kInts}};

}  // namespace spillway::graph
