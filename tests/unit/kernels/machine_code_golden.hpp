#pragma once

#include <string>
#include <vector>

#include "base/file_tree.hpp"
#include "model/config.hpp"
#include "model/device_limits.hpp"
#include "model/problem.hpp"
#include "plan/family.hpp"

namespace fatune {

/// One configuration on one problem.
struct MachineCodeCase {
  Config config;
  Problem problem;
  Arch arch;
};

/// Compares a hash of each case's machine code with those in tests/golden/<name>, or writes them
/// there. Another compiler makes other code of the same source: then there is nothing to compare
/// with, and the test is skipped. Only a part of the cases is compiled (exhaustive.hpp).
void expect_machine_code(const FileTree& files, const Family& family,
                         const std::vector<MachineCodeCase>& cases, const std::string& name);

}  // namespace fatune
