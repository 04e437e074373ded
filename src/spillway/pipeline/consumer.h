#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "spillway/pipeline/ahead.h"
#include "spillway/pipeline/audit.h"
#include "spillway/pipeline/run.h"
#include "spillway/pipeline/timeline.h"

namespace spillway {

class WatchedRun;

// One pass of a user over a pipeline: what fronts wrap as their iterator. It asks for as many rows
// at a time as come in about a millisecond, hands them out one by one, and once both the pipeline
// and the user take their time, lets a driver thread work ahead. Used by one thread at a time.
class Consumer {
 public:
  static Result<std::unique_ptr<Consumer>> open(NodePtr root, RunOptions options,
                                                Budget& budget = Budget::process());
  ~Consumer();
  Consumer(const Consumer&) = delete;
  Consumer& operator=(const Consumer&) = delete;

  // The next rows. All rows of a chunk count as handed out when the next one is asked for; until
  // then handed_out() says how many were. At the end all that the pass held is given back.
  Next next();
  void handed_out(std::int64_t rows_of_this_chunk) {
    handed_ = rows_of_this_chunk;
    if (told_ != nullptr) told_->store(position_ + handed_ - 1, std::memory_order_relaxed);
  }

  // Sealed and bound to the pipeline's hash (sealed_state.h). Of what was handed out; may be called
  // at any time.
  Result<std::string> save() const;
  // Before the first next(). An error leaves the pass as it was, unless it is half_restored(): then
  // it stands nowhere and has to be closed.
  Status restore(std::string_view state);
  bool half_restored() const { return half_restored_; }
  // Lets a driver thread begin to read ahead now rather than with the first next().
  void start_early();

  // Stops, drains, lets threads end; next() then says the end. Never waits long.
  void close();
  // The first half of close(): from any thread, waits for nothing.
  void request_stop() { run_->request_stop(); }

  // Elements handed out, errors in their places among them.
  std::int64_t position() const { return position_ + handed_; }
  Audit audit() const;
  Run& run() const { return *run_; }
  // What the pass held from moment to moment; the watchdog fills it. May outlive the consumer.
  const std::shared_ptr<Timeline>& timeline() const { return timeline_; }
  StructurePtr structure() const { return structure_; }

 private:
  explicit Consumer(std::shared_ptr<Run> run);
  Next pull();
  void stop_the_clock();
  void release();
  Status open_input();
  Status start_over();
  Status save_input(StateWriter& out) const;
  Status restore_input(StateReader& in);
  Status deep(const std::function<void()>& body) const;
  void consider_working_ahead(std::int64_t took_ns, std::int64_t away_ns);
  static void leave_guarantees(const Chunk& rows);

  std::shared_ptr<Run> run_;
  const std::shared_ptr<Timeline> timeline_;
  std::unique_ptr<WatchedRun> watched_;  // until it is closed
  std::unique_ptr<Input> input_;
  std::unique_ptr<Ahead> ahead_;  // replaces input_
  StructurePtr structure_;
  std::int64_t rows_ = 1;        // to ask for at a time
  std::int64_t chunk_rows_ = 0;  // of the chunk being handed out
  std::int64_t handed_ = 0;
  std::int64_t position_ = 0;   // positions before the chunk being handed out
  std::int64_t delivered_ = 0;  // source rows
  Origins chunk_origins_;
  std::atomic<std::int64_t>* told_ = nullptr;  // of each row; null: nobody looks
  std::int64_t left_at_ = 0;                   // when the last next() returned
  std::int64_t away_ns_ = 0;                   // between them, in all
  const std::int64_t begun_cpu_ns_;
  std::int64_t stopped_ns_ = 0;  // 0: goes on
  std::int64_t stopped_cpu_ns_ = 0;
  std::int64_t worth_it_ = 0;  // times in a row both sides took their time
  bool early_ = false;         // the driver began before the first next()
  bool half_restored_ = false;
  bool exact_ = false;
  bool ended_ = false;
  bool closed_ = false;
};

}  // namespace spillway
