#include "spillway/guard/guarded_call.h"

#include <algorithm>
#include <utility>

#include "spillway/base/bytes.h"
#include "spillway/guard/exchange.h"
#include "spillway/guard/worker_verbs.h"

namespace spillway {
namespace {

constexpr double kSetupS = 300;

}  // namespace

GuardedCall::GuardedCall(std::shared_ptr<WorkerPool> pool, std::string setup, std::string what,
                         GuardRules rules)
    : pool_(std::move(pool)), setup_(std::move(setup)), what_(std::move(what)), rules_(rules) {}

GuardedCall::~GuardedCall() { close(); }

void GuardedCall::close() {
  closed_ = true;
  if (!pool_->check_home().ok()) return;  // a thread that holds the lock is not here
  WorkerPtr ended;
  const MutexLock lock(mutex_);
  ended = std::move(worker_);
}

Result<Parcel> GuardedCall::call(const Parcel& request, const AccountPtr& account) {
  SW_RETURN_IF_ERROR(pool_->check_home());
  const MutexLock lock(mutex_);
  const Doing calling(Phase::kFunction, stage_text("guarded", what_, ""), 0, -1, this);
  for (int deaths = 1;; ++deaths) {
    if (closed_) return invalid_argument(what_, " was closed");
    if (worker_ == nullptr) SW_RETURN_IF_ERROR(start(account));
    Answer answer = ask(request, rules_, account);
    if (!answer.died) return std::move(answer.parcel);
    Status died = bury(answer, deaths, "this call");
    if (answer.stopped || deaths > rules_.restarts) return died;
  }
}

Status GuardedCall::start(const AccountPtr& account) {
  const Doing starting(Phase::kFunction, stage_text("start of guarded", what_, ""), 0, -1, this);
  SW_ASSIGN(worker_, WorkerPool::Calling(*pool_).take(rules_.kind, WorkerPool::Which::kFresh));
  Parcel setup;
  setup.text = setup_;
  GuardRules patient = rules_;  // it may load a model
  if (patient.timeout_s > 0) patient.timeout_s = std::max(patient.timeout_s, kSetupS);
  Answer answer = ask(setup, patient, account);
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

GuardedCall::Answer GuardedCall::ask(const Parcel& request, const GuardRules& rules,
                                     const AccountPtr& account) {
  Answer answer;
  SharedMemory& memory = worker_->memory();
  Watch watch(*pool_, *worker_, rules, what_, -1, &closed_);
  answer.input = memory.take(account, room_for(request));
  answer.room = memory.take(account, room_);
  if (!answer.input || !answer.room) {
    answer.parcel =
        out_of_resource("shared memory: no address is left for ", format_bytes(room_for(request)));
    return answer;
  }
  MessageWriter message;
  message.add(WorkerVerb::kParcel).add(answer.room.offset());
  message.add(static_cast<std::uint64_t>(answer.room.bytes().size()));
  write_parcel(request, answer.input.offset(), answer.input.bytes(), message);
  std::string got;
  if (!exchange(*worker_, watch, account, message.bytes(), answer.room, got)) {
    answer.died = true;
    answer.stopped = watch.stopped();
    answer.stack = watch.stack();
    return answer;
  }
  room_ = answer.room.bytes().size();
  MessageReader in(got);
  in.get<WorkerVerb>();
  if (in.get<std::uint8_t>() != 0) worker_->keep(std::move(answer.input));
  Status error = read_status(in, !worker_->kind().sandboxed);
  if (error.ok()) {
    answer.parcel = own_parcel(in, std::move(answer.room));
  } else {
    answer.parcel = std::move(error);
  }
  return answer;
}

}  // namespace spillway
