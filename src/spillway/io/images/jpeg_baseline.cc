#include "spillway/io/images/jpeg_baseline.h"

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <optional>

#include "spillway/io/images/jpeg_huffman.h"
#include "spillway/io/images/jpeg_picture.h"
#include "spillway/io/images/jpeg_scan.h"

namespace spillway {
namespace jpeg {
namespace {

// A code made ready. Images mostly have the same ones, which are then made once, and share the
// cache.
struct Table {
  HuffmanTable table;
  HuffmanCode code;
  bool dc = false;
  bool made = false;
  int users = 0;
};

// An image on its way.
struct Work {
  Plan plan;
  Lane lane;
  Picture picture;
  JpegJob* job = nullptr;
  std::array<Table*, 6> used{};
  std::optional<Workspace> memory;
  std::byte* room = nullptr;
  std::size_t room_bytes = 0;
  const std::uint8_t* bits = nullptr;  // in the room
  std::array<Table, 6> tables;         // any image's: two for each component of each are enough
};

class Batch {
 public:
  Batch(const DecodeOptions& options, const Workspace& workspace, std::span<Work> works)
      : options_(options), workspace_(workspace), works_(works) {
    for (std::size_t i = 0; i < works.size(); ++i) order_[i] = &works[i];
  }

  void run(std::span<JpegJob> jobs) {
    const int most = static_cast<int>(works_.size());
    std::size_t next = 0;
    for (;;) {
      while (running_ < most && next < jobs.size()) start(jobs[next++]);
      if (running_ == 0) return;
      std::array<Lane*, kMostLanes> lanes{};
      for (int i = 0; i < running_; ++i) lanes[at(i)] = &order_[at(i)]->lane;
      go_on(decode(lanes.data(), running_));
    }
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  // Leaves the job as it is where the image is not ours, or there is no room.
  void start(JpegJob& job) {
    Work& work = *order_[at(running_)];
    work.plan = {};
    DecodeOptions options = options_;
    if (job.crop) options.crop = job.crop;
    if (!make_plan(job.bytes, options, work.plan) || !find_tables(work)) return;
    job.done = prepare(work, job);
    if (job.done && job.status.ok()) {
      job.done = false;
      ++running_;
    } else {
      let_go(work);
    }
  }

  // False: not ours.
  bool prepare(Work& work, JpegJob& job) {
    const ImageBytes scan = job.bytes.subspan(work.plan.header.scan);
    const std::size_t parts = work.plan.parts();
    const std::size_t picture_bytes = Picture::working_bytes(work.plan);
    if (!make_room(work, picture_bytes + unstuffed_bytes(scan.size(), parts))) return false;
    auto* const bits = reinterpret_cast<std::uint8_t*>(work.room + picture_bytes);
    if (!unstuff(scan, parts, bits)) return false;
    work.bits = bits;
    work.job = &job;
    job.status =
        job.sink->begin({1, work.plan.window.height, work.plan.window.width, work.plan.channels});
    if (!job.status.ok()) return true;
    work.picture.open(work.plan, work.room, *job.sink, best_kernels());
    work.lane.restart_interval = work.plan.header.restart_interval;
    jpeg::start(work.lane, bits);
    return begin_band(work);
  }

  bool make_room(Work& work, std::size_t bytes) {
    if (bytes <= work.room_bytes) return true;
    work.room_bytes = 0;
    work.memory.emplace(workspace_.sibling());
    const auto got = work.memory->allocate(bytes);
    if (!got.ok()) return false;
    work.room = got.value();
    work.room_bytes = bytes;
    return true;
  }

  // Null: not a code of ours.
  Table* find_table(const HuffmanCode& code, bool dc) {
    Table* free = nullptr;
    for (Work& work : works_) {
      for (Table& table : work.tables) {
        if (table.made && table.dc == dc && table.code == code) {
          ++table.users;
          return &table;
        }
        // One that was never made, or else any.
        if (table.users == 0 && (free == nullptr || free->made)) free = &table;
      }
    }
    free->made = free->table.build(code, dc);
    if (!free->made) return nullptr;
    free->code = code;
    free->dc = dc;
    free->users = 1;
    return free;
  }

  bool find_tables(Work& work) {
    const Header& h = work.plan.header;
    work.used = {};
    work.lane.unit_blocks = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(h.count); ++i) {
      const Component& c = h.components[i];
      Table* const dc = work.used[2 * i] = find_table(h.dc[c.dc], true);
      Table* const ac = work.used[2 * i + 1] = find_table(h.ac[c.ac], false);
      if (dc == nullptr || ac == nullptr) {
        let_go(work);
        return false;
      }
      for (int k = 0; k < c.across * c.down; ++k) {
        work.lane.unit[work.lane.unit_blocks++] = {&dc->table, &ac->table,
                                                   static_cast<std::uint8_t>(i)};
      }
    }
    return true;
  }
  static void let_go(const Work& work) {
    for (Table* const table : work.used) {
      if (table != nullptr) --table->users;
    }
  }

  static bool begin_band(Work& work) {
    return next_band(work.lane, work.picture.coefficients(), work.picture.last(),
                     work.plan.band_blocks());
  }

  // An image's band is complete, or it failed.
  void go_on(int which) {
    Work& work = *order_[at(which)];
    if (!work.lane.failed) {
      work.job->status = work.picture.take_band();
      if (!work.job->status.ok()) {
        work.job->done = true;
      } else if (work.picture.complete()) {
        work.job->done = !work.plan.whole() || at_end(work.lane);
      } else if (begin_band(work)) {
        return;
      }
    }
    if (work.lane.left_over && !work.job->done) refuse_left_over(work);
    let_go(work);
    --running_;
    std::swap(order_[at(which)], order_[at(running_)]);
  }

  // libjpeg does not see the last bytes that are left: they lie in its buffer of bits.
  void refuse_left_over(Work& work) const {
    if (options_.try_recover_truncated) return;
    JpegJob& job = *work.job;
    const std::size_t scan = work.plan.header.scan;
    const std::size_t at =
        scan + stuffed_place(job.bytes.subspan(scan), place_of(work.lane, work.bits));
    job.status = corrupt_image(ImageFormat::kJpeg, job.bytes, at,
                               "coded bytes are left behind the last pixel, before the next mark");
    job.done = true;
  }

  const DecodeOptions& options_;
  const Workspace& workspace_;
  const std::span<Work> works_;
  std::array<Work*, kMostLanes> order_{};  // the running ones first
  int running_ = 0;
};

}  // namespace
}  // namespace jpeg

void decode_jpegs(std::span<JpegJob> jobs, const DecodeOptions& options, Workspace& workspace,
                  int at_once) {
  if (jobs.empty()) return;
  const auto count =
      std::min(jobs.size(), static_cast<std::size_t>(std::clamp(at_once, 1, jpeg::kMostLanes)));
  // Too much for the stack of a worker.
  Workspace memory = workspace.sibling();
  const auto room = memory.allocate(count * sizeof(jpeg::Work));
  if (!room.ok()) return;
  auto* const works = reinterpret_cast<jpeg::Work*>(room.value());
  for (std::size_t i = 0; i < count; ++i) new (works + i) jpeg::Work;
  jpeg::Batch(options, workspace, {works, count}).run(jobs);
  std::destroy_n(works, count);
}

}  // namespace spillway
