#include "spillway/pipeline/element_rows.h"

#include <algorithm>

namespace spillway {

StructurePtr unbatched_structure(const StructurePtr& element) {
  if (element == nullptr) return nullptr;
  return element->map_leaves([](const Structure& leaf) -> StructurePtr {
    const StructurePtr inner = leaf.children().empty() ? nullptr : leaf.children()[0];
    Shape shape = leaf.shape().without_leading();
    switch (leaf.kind()) {
      case Structure::Kind::kDataset:
        return Structure::dataset(inner, std::move(shape));
      case Structure::Kind::kOptional:
        return Structure::optional(inner, std::move(shape));
      default:
        return Structure::tensor(leaf.dtype(), std::move(shape));
    }
  });
}

std::int64_t leading_dimension(const Structure& element) {
  for (const Structure* leaf : element.leaves()) {
    if (leaf->shape().rank() > 0 && leaf->shape()[0] >= 0) return leaf->shape()[0];
  }
  return -1;
}

ElementRows::ElementRows(IteratorPtr below, const Node& input, StructurePtr structure,
                         std::string source, std::int64_t epoch)
    : input_(std::move(below), Input::Habit::kHolds),
      overpull_(may_overpull(input)),
      structure_(std::move(structure)),
      source_(std::move(source)),
      epoch_(epoch),
      usual_rows_(input.structure() == nullptr ? -1 : leading_dimension(*input.structure())),
      static_rows_(usual_rows_ > 0) {}

Next ElementRows::next(std::int64_t rows, const Demand& demand) {
  for (;;) {
    if (at_ < elements_.rows()) {
      if (count_ < 0) {
        if (Status status = open_element(); !status.ok()) {
          advance();
          return status;
        }
      }
      const std::int64_t end = std::min(count_, inner_ + rows);
      if (inner_ >= end) {
        note_used();
        advance();
        continue;
      }
      std::vector<Column> columns;
      columns.reserve(elements_.columns().size());
      for (const Column& column : elements_.columns()) {
        columns.emplace_back(column.row(at_).slice(inner_, end));
      }
      Chunk out(structure_, end - inner_, std::move(columns),
                Origins::regular(scope_, inner_, 1, weight_));
      inner_ = end;
      note_used();
      if (inner_ == count_) advance();
      return std::optional<Chunk>(std::move(out));
    }
    // Elements that are needed for sure; more only when nobody can tell.
    const std::int64_t wish =
        (overpull_ || static_rows_) && usual_rows_ > 0 ? rows / usual_rows_ : 1;
    Next next = input_.next(demand.with_rows(std::max<std::int64_t>(1, wish)));
    if (!next.ok() || !next.value()) return next;
    elements_ = std::move(*next.value());
    at_ = 0;
    if (structure_ == nullptr) structure_ = unbatched_structure(elements_.structure());
  }
}

// Looks at the element at_: how many rows, where from.
Status ElementRows::open_element() {
  std::int64_t rows = -1;
  Status error;
  for (std::size_t c = 0; c < elements_.columns().size() && error.ok(); ++c) {
    const Shape shape = elements_.columns()[c].row(at_).shape();
    if (shape.rank() == 0) {
      error = bad_data(Code::kInvalidArgument,
                       "Input element must have a non-scalar value in each component.");
    } else if (rows >= 0 && shape[0] != rows) {
      error = bad_data(Code::kInvalidArgument,
                       "Input element must have the same batch size in each component. Component 0 "
                       "had size ",
                       rows, " but component ", c, " had size, ", shape[0], ".");
    } else {
      rows = shape[0];
    }
  }
  const Origin origin = elements_.origins().at(at_);
  if (!error.ok()) {
    error.edit().index = input_.position() - elements_.rows() + at_;
    error.edit().origin = elements_.origins().describe(at_);
    return losing(std::move(error), {1, origin.weight});
  }
  element_weight_ = origin.weight;
  element_used_ = 0;
  count_ = std::max<std::int64_t>(0, rows);
  if (!static_rows_) usual_rows_ = count_;
  scope_ = std::make_shared<OriginScope>(OriginScope{source_, epoch_, "", origin});
  weight_ = count_ > 0 ? std::max<std::int64_t>(1, origin.weight / count_) : 1;
  return {};
}

// An element's source rows are used as its rows are; all of them with the last.
void ElementRows::note_used() {
  const bool all = inner_ >= count_;
  const std::int64_t weight = all ? element_weight_ : element_weight_ * inner_ / count_;
  used_ = used_ + Amount{all ? 1 : 0, weight - element_used_};
  element_used_ = weight;
}

void ElementRows::advance() {
  ++at_;
  inner_ = 0;
  count_ = -1;
  if (at_ == elements_.rows()) {
    elements_ = Chunk();
    at_ = 0;
  }
}

void ElementRows::done() {
  done_position_ = input_.position() - elements_.rows() + at_;
  done_inner_ = inner_;
  input_.forget_before(done_position_);
}

Status ElementRows::save(StateWriter& out) const {
  out.put(done_inner_);
  return input_.save(out, done_position_);
}

Status ElementRows::restore(StateReader& in) {
  SW_RETURN_IF_ERROR(in.get_count(inner_));
  SW_RETURN_IF_ERROR(input_.restore(in));
  done_position_ = input_.position();
  done_inner_ = inner_;
  return {};
}

}  // namespace spillway
