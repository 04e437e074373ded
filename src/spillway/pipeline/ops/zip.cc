#include <algorithm>
#include <optional>

#include "spillway/pipeline/access.h"
#include "spillway/pipeline/input.h"

namespace spillway {
namespace {

// The nest with each input's structure in the place of its leaf; null while any is not known.
StructurePtr zipped_structure(const Node& node, std::span<const StructurePtr> parts) {
  for (const StructurePtr& part : parts) {
    if (part == nullptr) return nullptr;
  }
  const StructurePtr nest = node.signature_param("nest");
  if (nest == nullptr) return Structure::tuple({parts.begin(), parts.end()});
  std::size_t at = 0;
  return nest->map_leaves([&](const Structure&) { return parts[at++]; });
}

// Unknown if any is; else the shortest of those that end.
std::int64_t shortest(const Node& node) {
  std::int64_t n = kInfinite;
  for (const NodePtr& input : node.inputs()) {
    const std::int64_t m = input->cardinality();
    if (m == kUnknownCount) return kUnknownCount;
    if (m != kInfinite && (n == kInfinite || m < n)) n = m;
  }
  return n;
}

// Which one, in words: "input 1 (batch, a.py:7)".
std::string words(const Node& node, std::size_t i) {
  const Node& input = *node.inputs()[i];
  const std::string name(input.name().empty() ? std::string(input.op().name) : input.name());
  return "input " + std::to_string(i) + " (" + name +
         (input.line().empty() ? "" : ", " + input.line()) + ")";
}
std::string length_words(std::int64_t cardinality) {
  return cardinality == kInfinite ? "has no end"
                                  : "has " + std::to_string(cardinality) + " elements";
}

template <class... Parts>
Status unequal(const Parts&... parts) {
  Status status =
      invalid_argument("zip: strict=True: all inputs must have the same length: ", parts...);
  status.edit().type = "ShapeError";
  return status;
}

// Lengths that are known must agree before anything is read.
Status compare_lengths(const Node& node) {
  std::optional<std::size_t> first;
  for (std::size_t i = 0; i < node.inputs().size(); ++i) {
    const std::int64_t here = node.inputs()[i]->cardinality();
    if (here == kUnknownCount) continue;
    if (!first) first = i;
    const std::int64_t there = node.inputs()[*first]->cardinality();
    if (here != there) {
      return unequal(words(node, *first), " ", length_words(there), ", ", words(node, i), " ",
                     length_words(here));
    }
  }
  return {};
}

Result<Inferred> infer(const Node& node) {
  if (node.inputs().empty()) {
    Status status = invalid_argument("Must pass at least one dataset to `zip`.");
    status.edit().type = "TypeError";
    return status;
  }
  const StructurePtr nest = node.signature_param("nest");
  if (nest != nullptr && nest->components() != node.inputs().size()) {
    return internal_bug("zip: nest must have a leaf for each input: ", nest->components(), " for ",
                        node.inputs().size());
  }
  if (node.bool_param("strict")) SW_RETURN_IF_ERROR(compare_lengths(node));
  std::vector<StructurePtr> parts;
  for (const NodePtr& input : node.inputs()) parts.push_back(input->structure());
  return Inferred{zipped_structure(node, parts), shortest(node)};
}

// Chunks of equal length side by side.
Chunk side_by_side(const Node& node, std::span<const Chunk> parts) {
  StructurePtr structure = node.structure();
  if (structure == nullptr) {
    std::vector<StructurePtr> structures;
    for (const Chunk& part : parts) structures.push_back(part.structure());
    structure = zipped_structure(node, structures);
  }
  std::vector<Column> columns;
  std::vector<Origins> origins;
  for (const Chunk& part : parts) {
    columns.insert(columns.end(), part.columns().begin(), part.columns().end());
    origins.push_back(part.origins());
  }
  return {std::move(structure), parts[0].rows(), std::move(columns),
          Origins::zipped(std::move(origins))};
}

// Every pull advances every input by the same number of positions: when one fails or ends, all the
// others still move on by one, so that they stay in step and equal caches all finish.
class ZipIterator final : public Iterator {
 public:
  ZipIterator(const OpenContext& context, std::vector<IteratorPtr> inputs)
      : Iterator(context.stage(), context.epoch()), strict_(context.node().bool_param("strict")) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      inputs_.push_back(std::make_unique<Input>(std::move(inputs[i])));
      overpull_.push_back(may_overpull(*context.node().inputs()[i]));
    }
  }

  Next pull(const Demand& demand) override {
    if (over_) return end_of_data();
    std::vector<Next> parts;
    std::int64_t rows = demand.rows;
    bool complete = true;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      parts.push_back(inputs_[i]->next(overpull_[i] ? demand : Demand::one()));
      if (stopped(parts.back())) return std::move(parts.back());
      if (!parts.back().ok() || !parts.back().value()) complete = false;
      if (complete) rows = std::min(rows, parts.back().value()->rows());
    }
    if (!complete) return settle_one(parts);
    std::vector<Chunk> chunks;
    chunks.reserve(parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i) chunks.push_back(take(i, parts[i], rows));
    use({rows * static_cast<std::int64_t>(parts.size()), chunks[0].amount().weight});
    return std::optional<Chunk>(side_by_side(stage().node(), chunks));
  }

  Status save(StateWriter& out) const override {
    out.put(over_ ? 1 : 0);
    for (const auto& input : inputs_) SW_RETURN_IF_ERROR(input->save(out));
    return {};
  }
  Status restore(StateReader& in) override {
    std::int64_t over = 0;
    SW_RETURN_IF_ERROR(in.get(over));
    over_ = over != 0;
    for (const auto& input : inputs_) SW_RETURN_IF_ERROR(input->restore(in));
    return {};
  }

 private:
  static bool stopped(const Next& part) { return !part.ok() && !is_position(part.error()); }

  // The first `rows` of what input `i` gave; the rest goes back.
  Chunk take(std::size_t i, Next& part, std::int64_t rows) {
    Chunk& chunk = *part.value();
    if (chunk.rows() == rows) return std::move(chunk);
    inputs_[i]->unread(chunk.slice(rows, chunk.rows()));
    return chunk.slice(0, rows);
  }

  // The first input's rows are the elements' source rows, the others go along.
  void lose(std::size_t i, const std::optional<Chunk>& rows, std::string_view why) {
    if (i == 0) return drop(rows, why);
    if (rows) drop(Amount{rows->rows(), 0}, why);
  }

  // One position at which some input failed or ended. An error of an input before the one that
  // ended is still told; then nothing follows.
  Next settle_one(std::vector<Next>& parts) {
    std::size_t ended = parts.size();
    std::size_t failed = parts.size();
    for (std::size_t i = parts.size(); i-- > 0;) {
      if (!parts[i].ok()) {
        failed = i;
      } else if (!parts[i].value()) {
        ended = i;
      } else {
        lose(i, take(i, parts[i], 1), "beside one that failed or ended");
      }
    }
    over_ = ended < parts.size();
    for (std::size_t i = 0; over_ && i < inputs_.size(); ++i) {
      lose(i, inputs_[i]->take_rest(), "behind the end of another input");
    }
    if (failed < ended) return std::move(parts[failed]);
    if (!strict_) return end_of_data();
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].ok() && !parts[i].value()) continue;
      return losing(
          unequal(words(stage().node(), ended), " ended after ", inputs_[ended]->position(),
                  " elements, ", words(stage().node(), i), " has more"),
          {});
    }
    return end_of_data();
  }

  std::vector<std::unique_ptr<Input>> inputs_;
  std::vector<bool> overpull_;
  const bool strict_;
  bool over_ = false;
};

class ZipIndexed final : public Indexed {
 public:
  ZipIndexed(const OpenContext& context, std::vector<IndexedPtr> inputs)
      : Indexed(context), inputs_(std::move(inputs)) {}

 protected:
  Result<Chunk> fetch(std::span<const std::int64_t> indices) override {
    std::vector<Chunk> parts;
    for (const IndexedPtr& input : inputs_) {
      SW_ASSIGN(Chunk part, input->at(indices));
      parts.push_back(std::move(part));
    }
    return side_by_side(node(), parts);
  }

 private:
  const std::vector<IndexedPtr> inputs_;
};

Result<IndexedPtr> index(const OpenContext& context) {
  const Node& node = context.node();
  std::vector<IndexedPtr> inputs;
  for (std::size_t i = 0; i < node.inputs().size(); ++i) {
    SW_ASSIGN(IndexedPtr input, context.index_input(i));
    inputs.push_back(std::move(input));
  }
  return IndexedPtr(std::make_unique<ZipIndexed>(context, std::move(inputs)));
}

constexpr ParamDef kParams[] = {
    {"datasets", ParamType::kDatasets, "", "datasets to walk together"},
    {"nest", ParamType::kSignature, "None",
     "shape of the element: leaves stand for the datasets in order; None: a tuple"},
    {"strict", ParamType::kBool, "False", "whether unequal lengths are an error"},
};

}  // namespace

extern constexpr OperatorDef zip_operator{
    .name = "zip",
    .summary = "Walks several datasets together; ends with the shortest.",
    .example =
        ">>> a = sw.Dataset.range(1, 4)\n"
        ">>> b = sw.Dataset.range(4, 7)\n"
        ">>> list(sw.Dataset.zip((a, b)).as_numpy_iterator())\n"
        "[(np.int64(1), np.int64(4)), (np.int64(2), np.int64(5)), "
        "(np.int64(3), np.int64(6))]",
    .params = kParams,
    .inputs = 0,
    .ratio = Ratio::kCounted,
    .weighs = Weighs::kFirst,
    .passes_rows = true,
    .infer = infer,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      std::vector<IteratorPtr> inputs;
      for (std::size_t i = 0; i < context.node().inputs().size(); ++i) {
        SW_ASSIGN(IteratorPtr input, context.open_input(i));
        inputs.push_back(std::move(input));
      }
      return IteratorPtr(std::make_unique<ZipIterator>(context, std::move(inputs)));
    },
    .index = index};

}  // namespace spillway
