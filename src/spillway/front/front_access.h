#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "spillway/dataset.h"
#include "spillway/element.h"
#include "spillway/pipeline/spec.h"

namespace spillway {

// What the public handles name. An array, a dataset: the value, or why there is none.
struct ArrayData {
  explicit ArrayData(Tensor value) : tensor(std::move(value)) {}
  explicit ArrayData(Status why) : status(std::move(why)) {}
  ~ArrayData();
  ArrayData(const ArrayData&) = delete;
  ArrayData& operator=(const ArrayData&) = delete;

  // Says in the ledger that the user keeps these bytes, until this goes. Any thread.
  void mark_exported();

  Tensor tensor;
  Status status;

 private:
  bool exported_ = false;
};
struct DatasetData {
  NodePtr node;
  Status status;
};

// The way between the public types and the engine's, for this room only.
class FrontAccess {
 public:
  static Array array(Tensor tensor) {
    return Array(std::make_shared<const ArrayData>(std::move(tensor)));
  }
  static Array array(Status why) {
    return Array(std::make_shared<const ArrayData>(std::move(why)));
  }
  static Array array(std::shared_ptr<const ArrayData> data) { return Array(std::move(data)); }
  // Only of an array whose status() is ok.
  static const Tensor& tensor(const Array& array) { return array.data_->tensor; }

  static Spec spec(StructurePtr structure) {
    Spec out;
    out.structure_ = std::move(structure);
    return out;
  }
  static const StructurePtr& structure(const Spec& spec) { return spec.structure_; }

  static Sample sample(StructurePtr structure, std::vector<Array> values) {
    Sample out;
    out.structure_ = std::move(structure);
    out.values_ = std::move(values);
    return out;
  }
  static const StructurePtr& structure(const Sample& sample) { return sample.structure_; }
  // The tensors of a sample; the status of the first array without a value.
  static Result<std::vector<Tensor>> tensors(const Sample& sample);

  static const std::shared_ptr<Function>& function(const Callable& callable) {
    return callable.function_;
  }
  static const Status& status(const Callable& callable) { return callable.status_; }

  static Dataset dataset(Result<NodePtr> node) {
    auto data = std::make_shared<DatasetData>();
    if (node.ok()) {
      data->node = std::move(node).value();
    } else {
      data->status = std::move(node).status();
    }
    return Dataset(std::move(data));
  }
  static const DatasetData& data(const Dataset& dataset) { return *dataset.data_; }
};

}  // namespace spillway
