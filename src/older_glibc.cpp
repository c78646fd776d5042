// The functions that GCC 12's libraries take from glibc 2.35 and 2.36, for a program that has these
// libraries linked in. With them the program also runs with glibc 2.34, which Red Hat Enterprise
// Linux 9 has.
#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

namespace {

struct Search {
  std::uintptr_t address;
  dl_find_object* found;
};

/// Returns 1, which ends the search, if the object has the address. `found` then says where its
/// unwind table is.
int look_at(dl_phdr_info* object, std::size_t, void* data) {
  const auto& search = *static_cast<Search*>(data);
  const auto at = [&](std::uintptr_t offset) {
    return reinterpret_cast<void*>(object->dlpi_addr + offset);
  };
  bool inside = false;
  *search.found = {};
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object->dlpi_phdr[i];
    if (part.p_type == PT_GNU_EH_FRAME) {
      search.found->dlfo_eh_frame = at(part.p_vaddr);
    } else if (part.p_type == PT_LOAD &&
               search.address - object->dlpi_addr - part.p_vaddr < part.p_memsz) {
      inside = true;
    }
  }
  return inside && search.found->dlfo_eh_frame != nullptr ? 1 : 0;
}

}  // namespace

// The unwinder calls this. Returns 0 if the address is known. Source: "Dynamic Linker
// Introspection" in the GNU C library's manual. NOLINTNEXTLINE(bugprone-reserved-identifier)
extern "C" __attribute__((visibility("hidden"))) int _dl_find_object(
    void* address, dl_find_object* result) noexcept {
  Search search{reinterpret_cast<std::uintptr_t>(address), result};
  return dl_iterate_phdr(look_at, &search) == 1 ? 0 : -1;
}

// Called by std::random_device, which is linked along with the C++ library's strings.
extern "C" __attribute__((visibility("hidden"))) std::uint32_t arc4random() noexcept {
  std::uint32_t bits = 0;
  if (getentropy(&bits, sizeof bits) != 0) {
    std::abort();
  }
  return bits;
}
