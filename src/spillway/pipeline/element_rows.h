#pragma once

#include <cstdint>
#include <string>

#include "spillway/pipeline/input.h"

namespace spillway {

// The structure of an element's rows: every component without its leading dimension. Null stays
// null; scalars are the caller's to refuse.
StructurePtr unbatched_structure(const StructurePtr& element);
// The leading dimension of the first component that states one; -1: none does.
std::int64_t leading_dimension(const Structure& element);

// An input whose elements are taken apart along their leading dimension. Rows are views of their
// element. A state is a position and an offset: where done() was last said.
class ElementRows {
 public:
  // `structure` of the rows, or null: from the elements. `source` names them in origins.
  ElementRows(IteratorPtr below, const Node& input, StructurePtr structure, std::string source,
              std::int64_t epoch);

  // Up to `rows` rows, all of one element; elements without rows are passed over. An element whose
  // components do not have the same number of rows is an error in its place.
  Next next(std::int64_t rows, const Demand& demand);
  // Elements used up since the last call, and the source rows of all that was handed out.
  Amount take_used() { return std::exchange(used_, {}); }

  // What was handed out so far is not needed again.
  void done();
  Status save(StateWriter& out) const;
  Status restore(StateReader& in);

 private:
  Status open_element();
  void note_used();
  void advance();

  Input input_;
  const bool overpull_;
  StructurePtr structure_;
  const std::string source_;
  const std::int64_t epoch_;
  std::int64_t usual_rows_;  // of an element: static, or of the last one
  const bool static_rows_;
  Chunk elements_;
  std::int64_t at_ = 0;      // in elements_
  std::int64_t inner_ = 0;   // rows of the element at_ that are gone
  std::int64_t count_ = -1;  // rows of the element at_; -1: not looked at
  ScopePtr scope_;           // of its rows
  std::int64_t weight_ = 1;
  std::int64_t element_weight_ = 1;  // of the element at_
  std::int64_t element_used_ = 0;    // of that
  Amount used_;
  std::int64_t done_position_ = 0;  // of the element that done() was said in
  std::int64_t done_inner_ = 0;
};

}  // namespace spillway
