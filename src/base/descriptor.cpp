#include "base/descriptor.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/random.h>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "base/environment.hpp"
#include "base/error.hpp"

namespace fatune {
namespace {

struct StandardStream {
  int number;
  int flags;  ///< flags of the file that replaces a closed stream
};

// The order matters: an opened file gets the lowest free number.
constexpr std::array<StandardStream, 3> kStreams{
    {{STDIN_FILENO, O_RDONLY}, {STDOUT_FILENO, O_RDONLY}, {STDERR_FILENO, O_WRONLY}}};

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = ".fatune-";
constexpr std::string_view kSuffix = ".tmp";
constexpr std::size_t kDigits = 16;
constexpr auto kLife = std::chrono::hours(1);

/// Empty, with the reason in errno, if the system has no random numbers.
std::string random_name() {
  std::uint64_t number = 0;
  return ::getrandom(&number, sizeof number, 0) == sizeof number
             ? fmt::format("{}{:0{}x}{}", kPrefix, number, kDigits, kSuffix)
             : std::string();
}

bool is_temporary(const std::string& name) {
  return name.size() == kPrefix.size() + kDigits + kSuffix.size() && name.starts_with(kPrefix) &&
         name.ends_with(kSuffix) &&
         name.find_first_not_of("0123456789abcdef", kPrefix.size()) == kPrefix.size() + kDigits;
}

}  // namespace

void secure_standard_streams() {
  for (const StandardStream& stream : kStreams) {
    if (::fcntl(stream.number, F_GETFD) < 0) {
      static_cast<void>(::open("/dev/null", stream.flags));
    }
  }
  std::signal(SIGPIPE, SIG_IGN);
}

void end_by_broken_pipe() {
  std::signal(SIGPIPE, SIG_DFL);
  std::raise(SIGPIPE);
}

TemporaryFile::TemporaryFile(fs::path target, mode_t mode) : target_(std::move(target)) {
  const std::string name = random_name();
  if (!name.empty()) {
    path_ = target_.parent_path() / name;
    constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    file_ = Descriptor(::open(path_.c_str(), kFlags, mode));
  }
}

TemporaryFile::~TemporaryFile() {
  if (is_open()) {
    ::unlink(path_.c_str());  // fails, as it should, if the file is in place
  }
}

bool TemporaryFile::write(std::string_view bytes) { return write_all(file_.get(), bytes); }

bool TemporaryFile::put_in_place() { return ::rename(path_.c_str(), target_.c_str()) == 0; }

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0) {
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

void remove_stale_temporaries(const fs::path& folder) {
  const auto oldest = fs::file_time_type::clock::now() - kLife;
  std::error_code error;
  for (fs::directory_iterator it(folder.empty() ? "." : folder, error), end; !error && it != end;
       it.increment(error)) {
    std::error_code gone;
    if (is_temporary(it->path().filename().string()) &&
        it->symlink_status(gone).type() == fs::file_type::regular &&
        it->last_write_time(gone) < oldest && !gone) {
      fs::remove(it->path(), gone);
    }
  }
}

ScratchFolder::ScratchFolder() {
  const std::string place = environment_variable("TMPDIR").value_or("/tmp");
  std::string pattern = place + "/fatune-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) {
    throw Error(ExitCode::io,
                fmt::format("cannot make a temporary folder: {}", std::strerror(errno)), place,
                "make it, or set TMPDIR to a folder that can be written");
  }
  path_ = pattern;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace fatune
