#include "base/error.hpp"

namespace fatune {
namespace {

std::string compose(const std::string& what_was_wrong, const std::string& where,
                    const std::string& remedy) {
  std::string message = where.empty() ? what_was_wrong : where + ": " + what_was_wrong;
  if (!remedy.empty()) {
    message += "\n  " + remedy;
  }
  return message;
}

}  // namespace

Error::Error(ExitCode code, const std::string& what_was_wrong, const std::string& where,
             const std::string& remedy)
    : std::runtime_error(compose(what_was_wrong, where, remedy)),
      code_(code),
      what_was_wrong_(what_was_wrong),
      where_(where),
      remedy_(remedy) {}

}  // namespace fatune
