#include <algorithm>
#include <cstring>

#include "spillway/pipeline/access.h"

namespace spillway {
namespace {

Status refused(Status status) {
  status.edit().type = "ValueError";
  return status;
}

// Where the mask stands among the dictionary's keys, which are sorted.
struct Place {
  std::size_t key = 0;
  std::size_t column = 0;    // of the mask
  std::size_t replaces = 0;  // columns of an entry of the same name, which it takes the place of
};

Place place_of(const Structure& dict, const std::string& mask) {
  Place place;
  while (place.key < dict.keys().size() && dict.keys()[place.key] < mask) {
    place.column += dict.children()[place.key++]->components();
  }
  if (place.key < dict.keys().size() && dict.keys()[place.key] == mask) {
    place.replaces = dict.children()[place.key]->components();
  }
  return place;
}

StructurePtr masked(const Structure& dict, const std::string& mask) {
  const Place place = place_of(dict, mask);
  const auto at = static_cast<std::ptrdiff_t>(place.key);
  std::vector<std::string> keys = dict.keys();
  std::vector<StructurePtr> children(dict.children().begin(), dict.children().end());
  if (at < std::ssize(keys) && keys[place.key] == mask) {
    keys.erase(keys.begin() + at);
    children.erase(children.begin() + at);
  }
  keys.insert(keys.begin() + at, mask);
  children.insert(children.begin() + at, Structure::tensor(DType::kBool, {}));
  return Structure::dict(std::move(keys), std::move(children));
}

Result<Inferred> infer(const Node& node) {
  const Node& input = *node.inputs()[0];
  const std::int64_t wanted = node.int_param("cardinality");
  if (input.cardinality() < 0) {
    return refused(invalid_argument(
        "The dataset passed into `pad_to_cardinality` must have a known cardinality, but has ",
        "cardinality ", input.cardinality()));
  }
  if (input.cardinality() > wanted) {
    return refused(invalid_argument(
        "The dataset passed into `pad_to_cardinality` must have a cardinality less than the ",
        "target cardinality (", wanted, "), but has cardinality ", input.cardinality()));
  }
  const StructurePtr& element = input.structure();
  if (element == nullptr || element->kind() != Structure::Kind::kDict) {
    return refused(
        invalid_argument("`pad_to_cardinality` requires its input dataset to be a dictionary."));
  }
  for (const Structure* leaf : element->leaves()) {
    if (leaf->kind() != Structure::Kind::kTensor || !leaf->shape().fully_known()) {
      return refused(invalid_argument(
          "pad_to_cardinality: what is to be filled with zeros must have a known shape: ",
          leaf->to_string()));
    }
  }
  return Inferred{masked(*element, node.string_param("mask_key")), wanted};
}

// A block of `rows` rows of zeros, or of empty strings.
Result<Tensor> zeros(const AccountPtr& account, const Structure& leaf, std::int64_t rows) {
  const Shape shape = leaf.shape().with_leading(rows);
  if (leaf.dtype() == DType::kString) {
    const std::vector<std::string_view> empty(static_cast<std::size_t>(shape.count()));
    return make_strings(account, shape, empty);
  }
  SW_ASSIGN(Tensor block, make_tensor(account, leaf.dtype(), shape));
  if (block.bytes() > 0) std::memset(block.mutable_data(), 0, block.bytes());
  block.buffer()->touch();
  return block;
}

// Rows [first, first + rows) of the padding.
Result<Chunk> padding(const AccountPtr& account, const StructurePtr& element, std::int64_t rows,
                      const ScopePtr& scope, std::int64_t first) {
  std::vector<Column> columns;
  for (const Structure* leaf : element->leaves()) {
    SW_ASSIGN(Tensor block, zeros(account, *leaf, rows));
    columns.emplace_back(std::move(block));
  }
  return Chunk(element, rows, std::move(columns), Origins::regular(scope, first, 1, 0));
}

Result<Chunk> with_mask(const AccountPtr& account, const Chunk& rows, bool valid,
                        const Place& place, const StructurePtr& structure) {
  // Few bytes, for rows that are here already.
  SW_ASSIGN(Tensor mask,
            make_tensor(account, DType::kBool, Shape{rows.rows()}, Buffer::Ask::kPressing));
  std::memset(mask.mutable_data(), valid ? 1 : 0, mask.bytes());
  mask.buffer()->touch();
  std::vector<Column> columns(rows.columns().begin(), rows.columns().end());
  const auto at = columns.begin() + static_cast<std::ptrdiff_t>(place.column);
  const auto behind = columns.erase(at, at + static_cast<std::ptrdiff_t>(place.replaces));
  columns.emplace(behind, std::move(mask));
  return Chunk(structure, rows.rows(), std::move(columns), rows.origins());
}

class PadToCardinalityIterator final : public Iterator {
 public:
  PadToCardinalityIterator(const OpenContext& context, IteratorPtr input)
      : Iterator(context.stage(), context.epoch()),
        input_(std::move(input)),
        element_(context.node().inputs()[0]->structure()),
        structure_(context.node().structure()),
        place_(place_of(*element_, context.node().string_param("mask_key"))),
        scope_(context.source_scope()),
        padding_(context.node().cardinality() - context.node().inputs()[0]->cardinality()) {}

  Next pull(const Demand& demand) override {
    if (over_ == 0) {
      Next next = input_->next(demand);
      if (!next.ok()) return next;
      if (next.value()) {
        use(next.value()->amount());
        return masked_rows(*next.value(), true);
      }
      over_ = 1;
    }
    if (padded_ == padding_) return end_of_data();
    const auto row_bytes =
        static_cast<std::size_t>(std::max<std::int64_t>(1, element_->static_bytes()));
    const auto fit = static_cast<std::int64_t>(demand.bytes / row_bytes);
    const std::int64_t rows =
        std::min({demand.rows, std::max<std::int64_t>(1, fit), padding_ - padded_});
    SW_ASSIGN(const Chunk filler, padding(account(), element_, rows, scope_, padded_));
    padded_ += rows;
    return masked_rows(filler, false);
  }

  Status save(StateWriter& out) const override {
    out.put(over_);
    out.put(padded_);
    return input_->save(out);
  }
  Status restore(StateReader& in) override {
    SW_RETURN_IF_ERROR(in.get_count(over_, 1));
    SW_RETURN_IF_ERROR(in.get_count(padded_, padding_));
    return input_->restore(in);
  }

 private:
  Next masked_rows(const Chunk& rows, bool valid) {
    SW_ASSIGN(Chunk out, with_mask(account(), rows, valid, place_, structure_));
    return std::optional<Chunk>(std::move(out));
  }

  const IteratorPtr input_;
  const StructurePtr element_;
  const StructurePtr structure_;
  const Place place_;
  const ScopePtr scope_;
  const std::int64_t padding_;
  std::int64_t over_ = 0;  // the input has ended
  std::int64_t padded_ = 0;
};

class PadToCardinalityIndexed final : public Indexed {
 public:
  PadToCardinalityIndexed(const OpenContext& context, IndexedPtr input)
      : Indexed(context),
        input_(std::move(input)),
        rows_(node().inputs()[0]->cardinality()),
        element_(node().inputs()[0]->structure()),
        place_(place_of(*element_, node().string_param("mask_key"))),
        scope_(context.source_scope()) {}

 protected:
  Result<Chunk> fetch(std::span<const std::int64_t> indices) override {
    std::vector<Chunk> parts;
    for (const std::int64_t index : indices) {
      const bool valid = index < rows_;
      SW_ASSIGN(const Chunk row,
                valid ? input_->at(index) : padding(account(), element_, 1, scope_, index - rows_));
      SW_ASSIGN(Chunk part, with_mask(account(), row, valid, place_, node().structure()));
      parts.push_back(std::move(part));
    }
    return join_rows(node().structure(), parts);
  }

 private:
  const IndexedPtr input_;
  const std::int64_t rows_;  // of the input
  const StructurePtr element_;
  const Place place_;
  const ScopePtr scope_;
};

constexpr ParamDef kParams[] = {
    {"cardinality", ParamType::kInt, "", "elements in all; the dataset has at most so many"},
    {"mask_key", ParamType::kString, "'valid'", "True in real elements, False in padding"},
};

}  // namespace

extern constexpr OperatorDef pad_to_cardinality_operator{
    .name = "pad_to_cardinality",
    .summary = "Adds elements of zeros, and to all elements an entry that tells them apart.",
    .example =
        ">>> ds = sw.Dataset.from_tensor_slices({'a': [1, 2]}).pad_to_cardinality(3)\n"
        ">>> [(int(x['a']), bool(x['valid'])) for x in ds]\n"
        "[(1, True), (2, True), (0, False)]",
    .params = kParams,
    .ratio = Ratio::kCounted,
    .infer = infer,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      SW_ASSIGN(IteratorPtr input, context.open_input(0));
      return IteratorPtr(std::make_unique<PadToCardinalityIterator>(context, std::move(input)));
    },
    .index = [](const OpenContext& context) -> Result<IndexedPtr> {
      SW_ASSIGN(IndexedPtr input, context.index_input(0));
      return IndexedPtr(std::make_unique<PadToCardinalityIndexed>(context, std::move(input)));
    }};

}  // namespace spillway
