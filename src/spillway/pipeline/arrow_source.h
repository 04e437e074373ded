#pragma once

#include <optional>

#include "spillway/base/mutex.h"
#include "spillway/io/arrow/batch.h"
#include "spillway/pipeline/value.h"

namespace spillway {

// Record batches that somebody offers through Arrow's C stream interface: one stream after the
// other, all of one schema, asked for anew in every pass. Streams are called without the GIL; a
// producer that is Python takes it itself. Thread-safe, each stream used by one thread.
class ArrowSource : public Object {
 public:
  using Stream = arrow::Owned<arrow::Stream>;

  // How many streams there are, and what each is in errors: a file, or empty.
  virtual std::size_t parts() const = 0;
  virtual std::string file(std::size_t part) const = 0;
  // Whether a stream that cannot be opened is an error of the pass alone: then the first that can
  // says what the rows are.
  virtual bool leaves_out() const { return false; }

  // What the rows are. Opens the first stream when it is not known yet; the first pass goes on with
  // that one, so that a stream that can be read once is.
  Result<std::shared_ptr<const arrow::Type>> type();
  // A stream that begins no later than with row `skip`; `skip` becomes how many rows of it have
  // still to be passed.
  Result<Stream> open(std::size_t part, std::int64_t& skip);
  // The next batch, checked; null: the end.
  Result<arrow::Owned<arrow::Array>> next(Stream& stream, const arrow::Type& type) const;
  // A pass over all streams had so many rows. Refused when an earlier one had some: what can be
  // read only once is not there a second time.
  Status check_end(std::int64_t rows);

 protected:
  virtual Result<Stream> ask(std::size_t part, std::int64_t& skip) = 0;

 private:
  Status describe_by(std::size_t part);
  Mutex mutex_;
  std::shared_ptr<const arrow::Type> type_ SW_GUARDED_BY(mutex_);
  std::optional<Stream> first_ SW_GUARDED_BY(mutex_);
  std::size_t first_part_ SW_GUARDED_BY(mutex_) = 0;
  std::int64_t rows_ SW_GUARDED_BY(mutex_) = 0;  // of the longest pass
};

}  // namespace spillway
