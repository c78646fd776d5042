#include "process/descriptor.hpp"

#include <unistd.h>

namespace fatune {

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    close();
    number_ = other.release();
  }
  return *this;
}

int Descriptor::release() noexcept {
  const int number = number_;
  number_ = -1;
  return number;
}

void Descriptor::close() noexcept {
  if (number_ >= 0) {
    ::close(release());
  }
}

}  // namespace fatune
