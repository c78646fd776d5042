#include "unit/measure/device_on_host.hpp"

#include <setjmp.h>
#include <ucontext.h>
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace device_on_host {
namespace {

constexpr std::size_t kStackBytes = 64 * 1024;

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

// A point to resume from. The thread sanitizer must be told of every one, and of every switch.
struct Place {
  ucontext_t context{};
  jmp_buf jump{};
  bool left = false;  // left by a jump, so it must be resumed by one
#ifdef __SANITIZE_THREAD__
  void* sanitizer_fiber = nullptr;
#endif
};

// Switches by jumps, because kernels switch a million times and each switch of contexts is a system
// call. Under sanitizers it switches contexts, because they report jumps between stacks as errors.
void go(Place& from, Place& to) {
#ifdef __SANITIZE_THREAD__
  __tsan_switch_to_fiber(to.sanitizer_fiber, 0);
#endif
  if (kSanitized) {
    swapcontext(&from.context, &to.context);
    return;
  }
  from.left = true;
  if (_setjmp(from.jump) != 0) {
    return;
  }
  if (to.left) {
    _longjmp(to.jump, 1);
  }
  setcontext(&to.context);
}

struct Fiber {
  Place place;
  Index thread;
  bool finished = false;
  std::unique_ptr<std::byte[]> stack = std::make_unique<std::byte[]>(kStackBytes);
};

// The block that is running.
struct Block {
  const std::function<void()>* kernel = nullptr;
  std::vector<Fiber> pool;  // reused by every block
  std::span<Fiber> fibers;  // of this block
  std::vector<std::uint32_t> exchanged;
  Fiber* running = nullptr;
  Place scheduler;
};

Block& block() {
  static Block the_block;
  return the_block;
}

void run_thread() {
  (*block().kernel)();
  block().running->finished = true;
  go(block().running->place, block().scheduler);
}

void start(Fiber& fiber, unsigned index) {
  fiber.thread = {index, 0, 0};
  fiber.finished = false;
  fiber.place.left = false;
  ucontext_t& context = fiber.place.context;
  getcontext(&context);
  context.uc_stack.ss_sp = fiber.stack.get();
  context.uc_stack.ss_size = kStackBytes;
  context.uc_link = nullptr;
  makecontext(&context, run_thread, 0);
#ifdef __SANITIZE_THREAD__
  if (fiber.place.sanitizer_fiber == nullptr) {
    fiber.place.sanitizer_fiber = __tsan_create_fiber(0);
  }
  block().scheduler.sanitizer_fiber = __tsan_get_current_fiber();
#endif
}

// Lets every thread run to its next barrier or its end. Returns false if all had ended before.
bool run_to_barrier() {
  bool any = false;
  for (Fiber& fiber : block().fibers) {
    if (!fiber.finished) {
      block().running = &fiber;
      current_thread = fiber.thread;
      go(block().scheduler, fiber.place);
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

void barrier() { go(block().running->place, block().scheduler); }

std::uint32_t exchange(std::uint32_t value, unsigned partner) {
  block().exchanged[current_thread.x] = value;
  barrier();
  const std::uint32_t other = block().exchanged[partner];
  barrier();  // all have read before any overwrites
  return other;
}

void run_grid(Index grid, Index block_size, const std::function<void()>& kernel) {
  block().kernel = &kernel;
  block().pool.resize(std::max<std::size_t>(block().pool.size(), block_size.x));
  block().fibers = std::span(block().pool).first(block_size.x);
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
