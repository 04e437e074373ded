#pragma once

#include <span>

#include "spillway/pipeline/function.h"

namespace spillway {

// Takes the results of a call as they are made.
class RowSink {
 public:
  virtual ~RowSink() = default;
  // The values of the next row. False: it does not take them, nor any after them.
  virtual bool add(const StructurePtr& structure, std::span<const Tensor> values) = 0;
};

// A function that can hand its results over one by one.
class SinkingFunction {
 public:
  virtual ~SinkingFunction() = default;
  // As Function::call. The outcome's rows are those that the sink did not take: at most the one it
  // refused, after which the rest is left.
  virtual Function::Outcome call_into(const Chunk& rows, const CallContext& context,
                                      RowSink& sink) = 0;
};

}  // namespace spillway
