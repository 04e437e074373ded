#pragma once

#include <map>
#include <unordered_set>
#include <vector>

#include "spillway/graph/graph.h"
#include "spillway/graph/image_ops.h"

namespace spillway::graph {

// Steps of a graph that an image goes through one after another, and that nothing else looks at in
// between: decoded, then cropped, turned, resized, computed on item by item. So its rows can go
// through all of them while they are in cache, and no whole image is held but the last.
struct RowChain {
  struct Link {
    std::size_t step = 0;     // of Graph::order()
    std::size_t operand = 0;  // which of its inputs is the image
  };
  std::size_t head = 0;  // the step that decodes
  const DecodeOp* decodes = nullptr;
  std::vector<Link> links;  // at least one
  std::size_t tail() const { return links.back().step; }
};

// What a link does to the image, as far as its op says. The rest is seen when shapes are known.
enum class LinkKind : std::uint8_t { kNone, kItems, kCrop, kTurn, kResize };
LinkKind link_kind(const Node& node, std::size_t operand);

// The chains of a graph. Their steps run together, where the last of them stands. What asks for the
// shape of a decoded image alone does not end a chain: the header says it. Immutable.
class RowChains {
 public:
  explicit RowChains(const Graph& graph);
  RowChains(const RowChains&) = delete;
  RowChains& operator=(const RowChains&) = delete;

  bool empty() const { return chains_.empty(); }
  const std::vector<RowChain>& all() const { return chains_; }
  // The chain a step belongs to; null: it runs by itself.
  const RowChain* of(std::size_t step) const { return of_step_[step]; }
  const RowChain* headed_by(const Node* node) const;
  // As Graph::spent_after, with the chains' steps where they run. What a decoder works on stays as
  // long as somebody may ask for the image's shape.
  const std::vector<const Node*>& spent_after(std::size_t step) const { return spent_[step]; }

 private:
  std::vector<RowChain> chains_;
  std::vector<const RowChain*> of_step_;
  std::map<const Node*, const RowChain*> by_head_;
  std::vector<std::vector<const Node*>> spent_;
};

}  // namespace spillway::graph
