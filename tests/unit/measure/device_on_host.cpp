#include "unit/measure/device_on_host.hpp"

#include <ucontext.h>

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

namespace device_on_host {
namespace {

constexpr std::size_t kStackBytes = 64 * 1024;

struct Fiber {
  ucontext_t context{};
  Index thread;
  bool finished = false;
  std::unique_ptr<std::byte[]> stack = std::make_unique<std::byte[]>(kStackBytes);
};

// The block under way.
struct Block {
  const std::function<void()>* kernel = nullptr;
  std::vector<Fiber> fibers;
  std::vector<std::uint32_t> exchanged;
  Fiber* running = nullptr;
  ucontext_t scheduler{};
};

Block& block() {
  static Block the_block;
  return the_block;
}

void run_thread() {
  (*block().kernel)();
  block().running->finished = true;
  swapcontext(&block().running->context, &block().scheduler);
}

void start(Fiber& fiber, unsigned index) {
  fiber.thread = {index, 0, 0};
  fiber.finished = false;
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = fiber.stack.get();
  fiber.context.uc_stack.ss_size = kStackBytes;
  fiber.context.uc_link = nullptr;
  makecontext(&fiber.context, run_thread, 0);
}

// Lets every thread run to its next barrier or its end. False when all have ended.
bool run_to_barrier() {
  bool any = false;
  for (Fiber& fiber : block().fibers) {
    if (!fiber.finished) {
      block().running = &fiber;
      current_thread = fiber.thread;
      swapcontext(&block().scheduler, &fiber.context);
      any = true;
    }
  }
  return any;
}

void run_block() {
  unsigned index = 0;
  for (Fiber& fiber : block().fibers) {
    start(fiber, index++);
  }
  while (run_to_barrier()) {
  }
}

}  // namespace

void barrier() { swapcontext(&block().running->context, &block().scheduler); }

std::uint32_t exchange(std::uint32_t value, unsigned partner) {
  block().exchanged[current_thread.x] = value;
  barrier();
  const std::uint32_t other = block().exchanged[partner];
  barrier();  // nobody overwrites before everybody has read
  return other;
}

void run_grid(Index grid, Index block_size, const std::function<void()>& kernel) {
  block().kernel = &kernel;
  block().fibers.resize(block_size.x);
  block().exchanged.resize(block_size.x);
  grid_extent = grid;
  block_extent = block_size;
  for (current_block.z = 0; current_block.z < grid.z; ++current_block.z) {
    for (current_block.y = 0; current_block.y < grid.y; ++current_block.y) {
      for (current_block.x = 0; current_block.x < grid.x; ++current_block.x) {
        run_block();
      }
    }
  }
}

}  // namespace device_on_host
