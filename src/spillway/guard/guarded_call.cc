#include "spillway/guard/guarded_call.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "spillway/base/bytes.h"
#include "spillway/base/interrupt.h"
#include "spillway/guard/exchange.h"
#include "spillway/guard/worker_verbs.h"
#include "spillway/memory/activity.h"

namespace spillway {
namespace {

constexpr double kSetupS = 300;

}  // namespace

class GuardedCall::Turn {
 public:
  // Patient: waits until it comes. Otherwise Ctrl-C and the end of the whole are reasons to leave.
  Turn(GuardedCall& call, bool patient) : call_(call) {
    const MutexLock lock(call_.mutex_);
    mine_ = call_.next_++;
    call_.waiting_.insert(mine_);
    while (*call_.waiting_.begin() != mine_) {
      if (!patient && (call_.closed_ || interrupted())) return;
      const Parked parked(call_.pool_->budget());
      call_.ended_.wait_for(call_.mutex_, std::chrono::milliseconds(20));
    }
    came_ = true;
  }
  ~Turn() {
    const MutexLock lock(call_.mutex_);
    call_.waiting_.erase(mine_);
    call_.ended_.notify_all();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  bool came() const { return came_; }

 private:
  GuardedCall& call_;
  std::uint64_t mine_ = 0;
  bool came_ = false;
};

GuardedCall::GuardedCall(std::shared_ptr<WorkerPool> pool, CargoPtr setup, std::string what,
                         GuardRules rules)
    : pool_(std::move(pool)), setup_(std::move(setup)), what_(std::move(what)), rules_(rules) {}

GuardedCall::~GuardedCall() { close(); }

void GuardedCall::close() {
  closed_ = true;
  if (!pool_->check_home().ok()) return;  // a thread that holds the lock is not here
  // A call under way hears of it within a moment; one that waits gives up.
  const Turn turn(*this, /*patient=*/true);
  worker_ = nullptr;
}

Result<Parcel> GuardedCall::call(const Parcel& request, const AccountPtr& account) {
  SW_RETURN_IF_ERROR(pool_->check_home());
  const Doing calling(Phase::kFunction, stage_text("guarded", what_, ""), 0, -1, this);
  const Turn turn(*this, /*patient=*/false);
  if (turn.came()) return call_in_turn(request, account);
  if (closed_) return invalid_argument(what_, " was closed");
  return cancelled();
}

Result<Parcel> GuardedCall::call_in_turn(const Parcel& request, const AccountPtr& account) {
  for (int deaths = 1;; ++deaths) {
    if (closed_) return invalid_argument(what_, " was closed");
    if (worker_ == nullptr) SW_RETURN_IF_ERROR(start(account));
    Answer answer = ask(&request, rules_, account);
    if (!answer.died) return std::move(answer.parcel);
    Status died = bury(answer, deaths, "this call");
    if (answer.stopped || deaths > rules_.restarts) return died;
  }
}

Status GuardedCall::start(const AccountPtr& account) {
  const Doing starting(Phase::kFunction, stage_text("start of guarded", what_, ""), 0, -1, this);
  SW_ASSIGN(worker_, WorkerPool::Calling(*pool_).take(rules_.kind, WorkerPool::Which::kFresh));
  GuardRules patient = rules_;  // it may load a model
  if (patient.timeout_s > 0) patient.timeout_s = std::max(patient.timeout_s, kSetupS);
  Answer answer = ask(nullptr, patient, account);
  if (answer.died) return bury(answer, 1, "its start");
  if (answer.parcel.ok()) return {};
  worker_ = nullptr;
  return std::move(answer.parcel).status();
}

Status GuardedCall::bury(const Answer& answer, int deaths, std::string_view at) {
  const WorkerPtr dead = std::move(worker_);
  if (answer.stopped) dead->kill("nobody waits for it any more", false);
  const Death death = dead->bury();
  if (answer.stopped) return cancelled();
  Scene scene;
  scene.at = std::string(at).append(" of ").append(what_);
  scene.attempts = deaths;
  scene.stack = answer.stack;
  return worker_died(death, dead->pid(), scene, pool_->budget());
}

GuardedCall::Answer GuardedCall::ask(const Parcel* request, const GuardRules& rules,
                                     const AccountPtr& account) {
  Answer answer;
  SharedMemory& memory = worker_->memory();
  Watch watch(*pool_, *worker_, rules, what_, -1, &closed_);
  const std::size_t needed = request == nullptr ? 0 : room_for(*request);
  // What it may bring back is reserved before it is sent.
  const auto give_up = [this] { return closed_.load(); };
  auto input = memory.reserve(account, needed, give_up);
  if (!input.ok()) {
    answer.parcel = std::move(input).status();
    return answer;
  }
  answer.input = std::move(input).value();
  answer.room = memory.try_take(account, room_);
  if (!answer.room) {
    auto least = memory.reserve(account, SharedMemory::kPage, give_up);
    if (!least.ok()) {
      answer.parcel = std::move(least).status();
      return answer;
    }
    answer.room = std::move(least).value();
  }
  watch.go_on();
  MessageWriter message;
  std::vector<int> fds;
  message.add(request == nullptr ? WorkerVerb::kSetUp : WorkerVerb::kParcel);
  message.add(answer.room.offset()).add(static_cast<std::uint64_t>(answer.room.bytes().size()));
  if (request == nullptr) {
    setup_->send(message, fds);
  } else {
    write_parcel(*request, answer.input.offset(), answer.input.bytes(), message);
  }
  std::string got;
  Status refused;
  if (!exchange(*worker_, watch, account, message.bytes(), answer.room, got, refused, fds)) {
    answer.died = true;
    answer.stopped = watch.stopped();
    answer.stack = watch.stack();
    return answer;
  }
  if (answer.room) room_ = answer.room.bytes().size();
  MessageReader in(got);
  in.get<WorkerVerb>();
  if (in.get<std::uint8_t>() != 0) worker_->keep(std::move(answer.input));
  Status error = read_status(in, !worker_->kind().sandboxed);
  if (!error.ok() && !refused.ok()) error = std::move(refused);
  if (error.ok()) {
    answer.parcel = own_parcel(in, std::move(answer.room));
  } else {
    answer.parcel = std::move(error);
  }
  return answer;
}

}  // namespace spillway
