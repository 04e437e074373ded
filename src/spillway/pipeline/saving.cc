#include "spillway/pipeline/saving.h"

namespace spillway {
namespace {

Status not_a_shard(std::string_view found) {
  Status status = invalid_argument("`shard_func` must return a scalar int64: ", found);
  return status;
}

}  // namespace

Saving::Saving(const OpenContext& context, std::string folder)
    : context_(context),
      folder_(std::move(folder)),
      shard_func_(context.node().function_param("shard_func")),
      structure_(context.node().inputs()[0]->structure()),
      declared_(structure_ != nullptr) {}

Status Saving::check(const Node& node, bool automatic) {
  SW_RETURN_IF_ERROR(saved_compression(node.string_param("compression"), automatic).status());
  if (const StructurePtr& structure = node.inputs()[0]->structure()) {
    for (const Structure* leaf : structure->leaves()) {
      if (leaf->kind() == Structure::Kind::kTensor) continue;
      return Status::error(ErrorKind::kUser, Code::kUnimplemented, node.op().name,
                           ": an element that holds a dataset or an Optional cannot be stored: ",
                           structure->to_string());
    }
  }
  const FunctionPtr shard_func = node.function_param("shard_func");
  const StructurePtr out = shard_func == nullptr ? nullptr : shard_func->output();
  if (out == nullptr) return {};
  if (out->kind() == Structure::Kind::kTensor && out->dtype() == DType::kInt64 &&
      out->shape().compatible(Shape())) {
    return {};
  }
  Status status = not_a_shard(out->to_string());
  status.edit().type = "TypeError";
  return status;
}

Status Saving::begin() {
  SW_ASSIGN(const Compression compression,
            saved_compression(context_.node().string_param("compression"), true));
  SW_ASSIGN(writer_, ShardWriter::begin(folder_, compression, context_.stage()->account()));
  return {};
}

// Where nothing was declared: what all chunks so far have in common.
Status Saving::learn(const Chunk& rows) {
  if (declared_ || rows.structure() == structure_) return {};
  if (structure_ == nullptr) {
    structure_ = rows.structure();
    return {};
  }
  SW_ASSIGN(structure_, common_structure(structure_, rows.structure()));
  return {};
}

Saving::Put Saving::put(const Chunk& rows, std::int64_t first_index, std::int64_t epoch) {
  if (writer_ == nullptr) {
    if (Status begun = begin(); !begun.ok()) return {0, std::move(begun)};
  }
  if (Status known = learn(rows); !known.ok()) return {0, of_row(std::move(known), rows, 0)};
  Function::Outcome shards;
  std::int64_t count = rows.rows();
  if (shard_func_ != nullptr) {
    shards = call_rows(*context_.stage(), *shard_func_, rows, first_index, epoch);
    count = shards.out.rows();
  }
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t shard = 0;
    if (shard_func_ != nullptr) {
      const auto named = int_result(shards.out.columns()[0].row(i), "shard_func");
      if (!named.ok() || shards.out.columns().size() != 1) {
        return {i, of_row(not_a_shard(named.ok() ? "several components" : named.error().message()),
                          rows, i)};
      }
      shard = named.value();
    }
    if (Status written = writer_->put(shard, rows.row(i).values); !written.ok()) {
      return {i, of_row(std::move(written), rows, i)};
    }
    ++rows_;
  }
  return {count, std::move(shards.error)};
}

Status Saving::finish(bool replace) {
  if (writer_ == nullptr) SW_RETURN_IF_ERROR(begin());
  if (structure_ == nullptr) {
    return invalid_argument(context_.node().op().name,
                            ": what has no elements must say what they would be: declare "
                            "`output_signature` for the function before it");
  }
  return writer_->finish(structure_, replace);
}

}  // namespace spillway
