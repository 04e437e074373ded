#pragma once

#include "spillway/memory/budget.h"

namespace spillway {

// Who will give bytes back? A reservation may wait only while some engine thread still works. When
// every one of them waits and a consumer is inside next(), or the program's own thread is the one
// that asks, nobody will: the reservation fails with the table of holders instead of waiting for
// ever. These three scopes keep that count; they nest,
// and a thread counts once.

// The thread runs engine or user code on behalf of a pipeline.
class Working {
 public:
  explicit Working(Budget& budget);
  ~Working();
  Working(const Working&) = delete;
  Working& operator=(const Working&) = delete;

  // Whether this thread is counted. One that is not is a program's own, outside any pipeline.
  static bool here();

 private:
  Budget& budget_;
};

// The thread waits for another engine thread, or for bytes.
class Parked {
 public:
  explicit Parked(Budget& budget);
  ~Parked();
  Parked(const Parked&) = delete;
  Parked& operator=(const Parked&) = delete;

 private:
  Budget& budget_;
  int saved_;
};

// The thread is a consumer inside next().
class Consuming {
 public:
  explicit Consuming(Budget& budget) : working_(budget), budget_(budget) { ++budget_.consuming; }
  ~Consuming() { --budget_.consuming; }
  Consuming(const Consuming&) = delete;
  Consuming& operator=(const Consuming&) = delete;

 private:
  Working working_;
  Budget& budget_;
};

}  // namespace spillway
