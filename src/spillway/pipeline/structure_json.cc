#include "spillway/pipeline/structure_json.h"

namespace spillway {
namespace {

using Json = nlohmann::json;

Json shape_to_json(const Shape& shape) {
  if (!shape.has_rank()) return nullptr;
  Json dims = Json::array();
  for (const std::int64_t dim : shape.dims()) dims.push_back(dim < 0 ? Json() : Json(dim));
  return dims;
}

Status malformed(const char* what) {
  return Status::error(ErrorKind::kData, Code::kDataLoss, "spec: not a valid ", what);
}

Result<Shape> shape_from_json(const Json& json) {
  if (json.is_null()) return Shape::unknown_rank();
  if (!json.is_array()) return malformed("shape");
  std::vector<std::int64_t> dims;
  for (const Json& dim : json) {
    if (!dim.is_null() && !dim.is_number_integer()) return malformed("dimension");
    dims.push_back(dim.is_null() ? kUnknownDim : dim.get<std::int64_t>());
    if (dims.back() < -1) return malformed("dimension");
  }
  return Shape(std::span<const std::int64_t>(dims));
}

constexpr int kMostDepth = 64;

Result<StructurePtr> parse(const Json& json, int depth) {
  if (depth > kMostDepth) return malformed("structure: nested too deeply");
  if (json.is_null()) return Structure::none();
  if (!json.is_object()) return malformed("structure");
  if (json.contains("dtype")) {
    if (!json["dtype"].is_string()) return malformed("dtype");
    const auto dtype = dtype_from_name(json["dtype"].get<std::string>());
    if (!dtype) return malformed("dtype");
    SW_ASSIGN(Shape shape, shape_from_json(json.value("shape", Json())));
    return Structure::tensor(*dtype, std::move(shape));
  }
  for (const char* kind : {"dataset", "optional"}) {
    if (!json.contains(kind)) continue;
    StructurePtr inner;
    if (!json[kind].is_string()) {
      SW_ASSIGN(inner, parse(json[kind], depth + 1));
    }
    SW_ASSIGN(Shape shape, shape_from_json(json.value("shape", Json::array())));
    return kind[0] == 'd' ? Structure::dataset(std::move(inner), std::move(shape))
                          : Structure::optional(std::move(inner), std::move(shape));
  }
  const Json& items = json.contains("tuple") ? json["tuple"] : json.value("items", Json());
  if (!items.is_array()) return malformed("structure");
  std::vector<StructurePtr> children;
  for (const Json& item : items) {
    SW_ASSIGN(StructurePtr child, parse(item, depth + 1));
    children.push_back(std::move(child));
  }
  if (json.contains("tuple")) return Structure::tuple(std::move(children));
  std::vector<std::string> keys;
  for (const Json& key : json.value("keys", Json::array())) {
    if (!key.is_string()) return malformed("key");
    keys.push_back(key.get<std::string>());
  }
  if (keys.size() != children.size()) return malformed("structure: keys and items differ");
  if (json.contains("named") && json["named"].is_string()) {
    return Structure::named(json["named"].get<std::string>(), std::move(keys), std::move(children));
  }
  return Structure::dict(std::move(keys), std::move(children));
}

}  // namespace

Json structure_to_json(const Structure& structure) {
  const auto items = [&] {
    Json out = Json::array();
    for (const auto& child : structure.children()) out.push_back(structure_to_json(*child));
    return out;
  };
  const auto inner = [&]() -> Json {
    return structure.children().empty() ? Json("unknown")
                                        : structure_to_json(*structure.children()[0]);
  };
  switch (structure.kind()) {
    case Structure::Kind::kTensor:
      return {{"dtype", name_of(structure.dtype())}, {"shape", shape_to_json(structure.shape())}};
    case Structure::Kind::kTuple:
      return {{"tuple", items()}};
    case Structure::Kind::kDict:
      return {{"keys", structure.keys()}, {"items", items()}};
    case Structure::Kind::kNamed:
      return {{"named", structure.type()}, {"keys", structure.keys()}, {"items", items()}};
    case Structure::Kind::kNone:
      return nullptr;
    case Structure::Kind::kDataset:
      return {{"dataset", inner()}, {"shape", shape_to_json(structure.shape())}};
    case Structure::Kind::kOptional:
      return {{"optional", inner()}, {"shape", shape_to_json(structure.shape())}};
  }
  return nullptr;
}

Result<StructurePtr> structure_from_json(const Json& json) { return parse(json, 0); }

}  // namespace spillway
