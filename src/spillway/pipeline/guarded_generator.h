#pragma once

#include <memory>
#include <string>

#include "spillway/guard/cargo.h"
#include "spillway/guard/pass_seeds.h"
#include "spillway/guard/watch.h"
#include "spillway/pipeline/generator.h"

namespace spillway {

// A generator that lives in a worker process. When the worker dies, it starts again in another and
// passes over what was delivered; where the last of that is not the same again, nothing is guessed:
// GeneratorNotReplayable. One that tells its state (Generator::state) goes on from the newest
// instead, and moves to another worker when it has made its own grow too large. An element at which
// it dies again is the generator's error and its end.
class GuardedGeneratorFactory final : public GeneratorFactory {
 public:
  // `inner` is not started here: it knows code and name. `travels`: what a worker makes its own of.
  GuardedGeneratorFactory(std::shared_ptr<GeneratorFactory> inner, CargoPtr travels,
                          StructurePtr structure, std::shared_ptr<WorkerPool> pool,
                          GuardRules rules);

  Result<std::unique_ptr<Generator>> start(const AccountPtr& account) override;
  std::string code() const override { return inner_->code(); }
  std::string describe() const override { return inner_->describe(); }

 private:
  const std::shared_ptr<GeneratorFactory> inner_;
  const CargoPtr travels_;
  const StructurePtr structure_;
  const std::shared_ptr<WorkerPool> pool_;
  const GuardRules rules_;
  PassSeeds seeds_;
};

}  // namespace spillway
