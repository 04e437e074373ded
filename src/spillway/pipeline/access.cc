#include "spillway/pipeline/access.h"

#include "spillway/base/interrupt.h"
#include "spillway/base/interruption.h"
#include "spillway/memory/activity.h"
#include "spillway/pipeline/watched_run.h"

namespace spillway {
namespace {

constexpr std::int64_t kNoEpoch = -1;

// Python says TypeError where an object cannot be asked for an index.
Status type_error(Status status) {
  status.edit().type = "TypeError";
  return status;
}

Result<IndexedPtr> open_indexed(const OpenContext& context) {
  const Node& node = context.node();
  Result<IndexedPtr> opened = node.op().index == nullptr ? no_random_access(node)
                              : context.stage()->policy().skips()
                                  ? no_random_access(node, "that leaves out what fails")
                                  : node.op().index(context);
  if (!opened.ok()) context.stage()->stamp(opened.error(), kNoEpoch);
  return opened;
}

}  // namespace

Status out_of_range(std::int64_t index, std::int64_t size) {
  Status status = Status::error(ErrorKind::kUser, Code::kOutOfRange, "Index out of range [0, ",
                                size < 0 ? "unknown" : std::to_string(size), "):", index);
  status.edit().type = "IndexError";
  status.edit().index = index;
  return status;
}

Status no_random_access(const Node& node, std::string_view when) {
  return type_error(Status::error(ErrorKind::kUser, Code::kUnimplemented,
                                  "Random access is not implemented for dataset ", node.op().name,
                                  when.empty() ? "" : " ", when));
}

Status must_be_counted(const Node& node, const Node& counted) {
  if (counted.cardinality() >= 0) return {};
  return type_error(Status::error(ErrorKind::kUser, Code::kFailedPrecondition, "Dataset of type ",
                                  node.op().name, " has ",
                                  counted.cardinality() == kInfinite ? "infinite" : "unknown",
                                  " cardinality, which does not support random access."));
}

Result<Chunk> Indexed::at(std::span<const std::int64_t> indices) {
  if (stage_->run().stop() || interrupted()) return cancelled();
  Result<Chunk> rows = fetch(indices);
  if (!rows.ok()) {
    stage_->stamp(rows.error(), epoch_);
  } else {
    stage_->note_row(rows.value().footprint() / static_cast<std::size_t>(rows.value().rows()));
  }
  return rows;
}

Result<IndexedPtr> OpenContext::index_input(std::size_t i) const {
  SW_ASSIGN(StagePtr below, input_stage(i));
  return open_indexed(OpenContext(std::move(below), epoch_, outer_));
}

Result<std::unique_ptr<Access>> Access::open(NodePtr root, RunOptions options, Budget& budget) {
  SW_RETURN_IF_ERROR(check_not_forked());
  options.floors = false;
  SW_ASSIGN(std::shared_ptr<Run> run, Run::open(std::move(root), std::move(options), budget));
  const Consuming consuming(budget);
  std::unique_ptr<Access> access(new Access(run));
  SW_ASSIGN(access->root_, open_indexed(OpenContext(run->stage_of(*run->root()), 0, Origin())));
  return access;
}

Access::~Access() {
  if (!check_not_forked().ok()) {
    // The threads are not here: leave what they own alone.
    static_cast<void>(root_.release());  // NOLINT(bugprone-unused-return-value)
    return;
  }
  run_->request_stop();
}

Result<Chunk> Access::at(std::int64_t index) {
  SW_RETURN_IF_ERROR(check_not_forked());
  if (index < 0 || (size() >= 0 && index >= size())) {
    Status status = out_of_range(index, size());
    run_->stage_of(*run_->root())->stamp(status, kNoEpoch);
    return status;
  }
  const Consuming consuming(run_->budget());
  const WatchedRun watched(*run_);
  const Doing waiting(Phase::kConsumer, text_of(*run_->stages().back()), 0, index, run_.get());
  Result<Chunk> row = root_->at(index);
  if (!row.ok() && is_interruption(row.error())) tell(row.error());
  return row;
}

}  // namespace spillway
