#include "spillway/pipeline/guarded_generator.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

#include "spillway/base/clock.h"
#include "spillway/base/mutant.h"
#include "spillway/base/test_point.h"
#include "spillway/guard/exchange.h"
#include "spillway/guard/worker_verbs.h"
#include "spillway/pipeline/row_message.h"
#include "spillway/tensor/fingerprint.h"

namespace spillway {
namespace {

constexpr std::int64_t kItemsCompared = 1024;
constexpr std::size_t kLeastRoom = 64 * 1024;
constexpr std::int64_t kCareful = 1024;        // rows: no request asks for more
constexpr std::int64_t kPassNs = 100'000'000;  // between looks while delivered rows are passed

class GuardedGenerator final : public Generator {
 public:
  GuardedGenerator(CargoPtr travels, StructurePtr structure, std::shared_ptr<WorkerPool> pool,
                   const GuardRules& rules, std::string name, AccountPtr account,
                   std::uint64_t seed)
      : travels_(std::move(travels)),
        structure_(std::move(structure)),
        learnt_(structure_),
        pool_(std::move(pool)),
        rules_(rules),
        name_(std::move(name)),
        account_(std::move(account)),
        seed_(seed) {}

  ~GuardedGenerator() override { leave(true); }

  // Lets the generator close itself, if it answers at all.
  void leave(bool keep_worker) {
    if (worker_ == nullptr) return;
    GuardRules hasty = rules_;
    hasty.timeout_s = 0.1;
    Watch watch(*pool_, *worker_, hasty, name_, -1, nullptr);
    SharedMemory::Piece room;
    std::string answer;
    Status refused;
    const std::string request = MessageWriter().add(WorkerVerb::kCloseGenerator).bytes();
    const bool closed = exchange(*worker_, watch, account_, request, room, answer, refused);
    if (closed && keep_worker) pool_->give_back(std::move(worker_));
    worker_ = nullptr;
  }

  Filled fill(GrowingRows& block, std::int64_t deadline_ns,
              const std::atomic<bool>& stop) override {
    for (;;) {
      if (stop) return {};
      bool died = false;
      bool alone = true;
      std::string stack;
      if (worker_ == nullptr) {
        Status failed = start(stop, died, stack);
        if (!failed.ok()) return ended(std::move(failed));
      }
      if (!died) {
        // Soon after a death rows come one by one: those before the next one are not lost with it.
        const std::int64_t left = made_ < careful_until_ ? 1 : block.capacity() - block.added();
        alone = left == 1;
        const std::int64_t time = std::max<std::int64_t>(deadline_ns - now_ns(), 0);
        Ask ask = request(left, time, &stop);
        if (ask.answered) {
          Filled filled = publish(std::move(ask), block);
          // Nothing is lost: another one goes on from the state it has told.
          if (stated_ == made_ && made_ > 0 && pool_->overgrown(*worker_)) leave(false);
          return filled;
        }
        if (ask.stopped) {
          worker_ = nullptr;
          return {};
        }
        stack = std::move(ask.stack);
      }
      const WorkerPtr dead = std::move(worker_);
      if (dead == nullptr) return {};  // stopped
      const pid_t pid = dead->pid();
      const bool made_some = dead->beat().row > 0;
      const Death death = dead->bury();
      if (died_at_ != made_) deaths_ = kills_ = 0;
      died_at_ = made_;
      careful_until_ = made_ + kCareful;
      if (death.innocent() && ++kills_ < most_kills(rules_)) continue;
      // Rows that were made before it went with their request: they are made again, one by one.
      if (made_some && !alone) continue;
      if (!death.innocent()) ++deaths_;
      if (death.innocent() || deaths_ > rules_.restarts) {
        return ended(worker_died(death, pid, scene(std::move(stack)), pool_->budget()));
      }
    }
  }

  std::string last_file() const override { return last_file_; }

 private:
  struct Ask {
    bool answered = false;
    bool stopped = false;
    std::string stack;
    Filled filled;
    std::string state;
    Chunk rows;
  };

  Scene scene(std::string stack) const {
    Scene scene;
    scene.at = "element " + std::to_string(made_) + " of " + account_->name() + " (" + name_ + ")";
    scene.file = last_file_;
    if (made_ > 0) {
      scene.recovered = "The " + std::to_string(made_) + " before it were delivered.";
      if (state_.empty()) {
        scene.recovered +=
            " Started again it makes those anew, with whatever memory they take: "
            "give it state_dict() and load_state_dict() to go on from where it was.";
      }
    }
    scene.attempts = deaths_ + kills_;
    scene.stack = std::move(stack);
    return scene;
  }

  Filled ended(Status error) {
    Filled filled;
    filled.more = More::kError;
    filled.error = std::move(error);
    filled.finished = true;
    return filled;
  }

  // A fresh worker whose generator is where this one was. `died`: it did not get there.
  Status start(const std::atomic<bool>& stop, bool& died, std::string& stack) {
    SW_ASSIGN(worker_, WorkerPool::Calling(*pool_).take(rules_.kind, WorkerPool::Which::kAny,
                                                        [&stop] { return stop.load(); }));
    receiver_ = RowReceiver();
    worker_->hold(travels_);
    MessageWriter message;
    std::vector<int> fds;
    message.add(WorkerVerb::kStartGenerator);
    travels_->send(message, fds);
    message.add(std::string_view(name_)).add(seed_).add(std::string_view(state_));
    write_structure(structure_, message);
    Watch watch(*pool_, *worker_, rules_, name_, made_, &stop);
    SharedMemory::Piece none;
    std::string answer;
    Status refused;
    if (!exchange(*worker_, watch, account_, message.bytes(), none, answer, refused, fds)) {
      return lost(watch, died, stack);
    }
    MessageReader in(answer);
    in.get<WorkerVerb>();
    Status failed = read_status(in, !rules_.kind.sandboxed);
    if (!failed.ok()) {
      pool_->give_back(std::move(worker_));
      return failed;
    }
    std::int64_t passed = mutant("repeated_after_death") ? made_ : stated_;
    while (passed < made_) {
      SW_TEST_POINT("delivered rows are passed over");
      Ask ask = request(made_ - passed, kPassNs, &stop);
      if (!ask.answered) {
        died = true;
        stack = ask.stack;
        if (ask.stopped) worker_ = nullptr;
        return {};
      }
      const std::int64_t rows = ask.rows.rows();
      passed += rows + (ask.filled.more == More::kError ? 1 : 0);
      const bool over = ask.filled.more == More::kEnd || ask.filled.finished;
      const bool same = passed < made_ || last_print_ == 0 ||
                        (rows > 0 && print_of(ask.rows, rows - 1) == last_print_);
      if ((over && passed < made_) || !same) return not_replayable(passed);
    }
    return {};
  }

  Status lost(const Watch& watch, bool& died, std::string& stack) {
    died = true;
    stack = watch.stack();
    if (watch.stopped()) worker_ = nullptr;
    return {};
  }

  Status not_replayable(std::int64_t passed) {
    worker_ = nullptr;
    Status status = Status::error(
        ErrorKind::kUser, Code::kFailedPrecondition, "the generator's worker died after ", made_,
        " elements, and started again it does not yield the same: they differ by element ", passed,
        ". Nothing was repeated or left out. Make it start from what it reads (seed its random "
        "numbers, open its files anew)");
    status.edit().type = "GeneratorNotReplayable";
    return status;
  }

  // Up to `rows` rows, within about `time_ns`.
  Ask request(std::int64_t rows, std::int64_t time_ns, const std::atomic<bool>* stop) {
    Ask ask;
    Watch watch(*pool_, *worker_, rules_, name_, made_, stop);
    worker_->beat().row = -1;
    lend(stop);
    watch.go_on();
    SharedMemory::Piece& room = lent_;
    MessageWriter message;
    message.add(WorkerVerb::kFillGenerator).add(worker_->beat_offset()).add(rows).add(time_ns);
    message.add(room ? room.offset() : 0);
    message.add(static_cast<std::uint64_t>(room ? room.bytes().size() : 0));
    std::string answer;
    Status refused;
    if (!exchange(*worker_, watch, account_, message.bytes(), room, answer, refused)) {
      ask.stopped = watch.stopped();
      ask.stack = watch.stack();
      return ask;
    }
    room_ = room ? room.bytes().size() : kLeastRoom;
    ask.answered = true;
    read(answer, rows, std::move(lent_), ask);
    if (!refused.ok()) {
      // Rows that were made and have no place here cannot be made again.
      ask.filled.error = std::move(refused);
      ask.filled.more = More::kError;
      ask.filled.finished = true;
    }
    return ask;
  }

  // Room for what may come back, before anything is asked for.
  void lend(const std::atomic<bool>* stop) {
    SharedMemory& memory = worker_->memory();
    lent_ = memory.try_take(account_, room_);
    if (lent_) return;
    auto least = memory.reserve(account_, kLeastRoom, [stop] { return stop != nullptr && *stop; });
    // Refused: the rows themselves will be, with the holders.
    if (least.ok()) lent_ = std::move(least).value();
  }

  void read(const std::string& answer, std::int64_t most, SharedMemory::Piece room, Ask& ask) {
    MessageReader in(answer);
    in.get<WorkerVerb>();
    ask.filled.more = in.get<More>();
    const auto after = in.get<std::uint8_t>();
    ask.filled.finished = after == 1;
    ask.filled.unsure = after == 2;
    last_file_ = in.text();
    ask.state = in.text();
    Status damaged;
    if (in.get<std::uint8_t>() != 0) {
      MessageReader rows(in.text());
      auto made = rules_.kind.sandboxed ? receiver_.copy(rows, account_, std::move(room))
                                        : receiver_.own(rows, account_, std::move(room));
      damaged = made.ok() ? check_sent(made.value(), most, learnt_) : made.error();
      if (damaged.ok()) ask.rows = std::move(made).value();
      if (ask.rows.rows() > 0 && learnt_ == nullptr) learnt_ = ask.rows.structure();
    }
    ask.filled.error = read_status(in, !rules_.kind.sandboxed);
    if (!in.ok() || ask.filled.more > More::kError) {
      damaged = internal_bug("a worker's answer arrived damaged");
    }
    if (!damaged.ok()) {
      ask.filled.error = std::move(damaged);
      ask.filled.more = More::kError;
      ask.filled.finished = true;
    }
  }

  Filled publish(Ask ask, GrowingRows& block) {
    const std::int64_t rows = ask.rows.rows();
    for (std::int64_t i = 0; i < rows; ++i) {
      std::vector<Tensor> values = ask.rows.row(i).values;
      if (block.structure() == nullptr) block.learn(ask.rows.structure());
      if (!block.in_block()) {
        block.publish(std::move(values));
        continue;
      }
      for (std::size_t c = 0; c < values.size(); ++c) {
        if (values[c].bytes() > 0) {
          std::memcpy(block.slot(c), values[c].data(), values[c].bytes());
        }
      }
      block.publish();
    }
    if (rows > 0) last_print_ = print_of(ask.rows, rows - 1);
    made_ += rows;
    if (ask.filled.more == More::kError) {
      ++made_;
      last_print_ = 0;
    }
    if (!ask.state.empty()) {
      state_ = std::move(ask.state);
      state_paid_ = Reservation();
      state_paid_ = account_->charge(state_.size());
      stated_ = made_;
    }
    return std::move(ask.filled);
  }

  static std::uint64_t print_of(const Chunk& rows, std::int64_t row) {
    Fnv64 hash;
    for (const Tensor& value : rows.row(row).values) add_fingerprint(hash, value, kItemsCompared);
    return hash.value() | 1;
  }

  const CargoPtr travels_;
  const StructurePtr structure_;  // declared; null: nothing was
  StructurePtr learnt_;           // that, or the first rows'
  const std::shared_ptr<WorkerPool> pool_;
  const GuardRules rules_;
  const std::string name_;
  const AccountPtr account_;
  const std::uint64_t seed_;  // the same after a death: what it drew comes again
  SharedMemory::Piece lent_;  // to the worker: nobody else's before that is known to be dead
  WorkerPtr worker_;
  RowReceiver receiver_;
  std::size_t room_ = kLeastRoom;
  std::int64_t made_ = 0;  // rows and errors delivered
  std::uint64_t last_print_ = 0;
  std::string state_;  // the newest it has told; empty: none
  Reservation state_paid_;
  std::int64_t stated_ = 0;  // rows and errors before that
  std::int64_t died_at_ = -1;
  std::int64_t careful_until_ = 0;
  int deaths_ = 0;
  int kills_ = 0;
  std::string last_file_;
};

}  // namespace

GuardedGeneratorFactory::GuardedGeneratorFactory(std::shared_ptr<GeneratorFactory> inner,
                                                 CargoPtr travels, StructurePtr structure,
                                                 std::shared_ptr<WorkerPool> pool, GuardRules rules)
    : inner_(std::move(inner)),
      travels_(std::move(travels)),
      structure_(std::move(structure)),
      pool_(std::move(pool)),
      rules_(std::move(rules)),
      seeds_(rules_.seed, travels_->fingerprint()) {}

Result<std::unique_ptr<Generator>> GuardedGeneratorFactory::start(const AccountPtr& account) {
  return std::unique_ptr<Generator>(std::make_unique<GuardedGenerator>(
      travels_, structure_, pool_, rules_, describe(), account, seeds_.next(account)));
}

}  // namespace spillway
