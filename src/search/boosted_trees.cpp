#include "search/boosted_trees.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <xgboost/c_api.h>

#include <array>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/cuda_places.hpp"
#include "core/environment.hpp"
#include "core/error.hpp"

namespace fatune {
namespace {

constexpr const char* kXgboostVariable = "FATUNE_XGBOOST";
// The name on Debian and Ubuntu comes first, then the usual name elsewhere.
constexpr std::array kXgboostNames{"libxgboost.so.0", "libxgboost.so"};

/// Paths where a Python package of XGBoost may have its library. The environment that this program
/// is installed in comes first.
std::vector<std::string> python_libraries() {
  std::vector<std::filesystem::path> prefixes = python_prefixes();
  if (const auto prefix = program_prefix()) {
    prefixes.insert(prefixes.begin(), *prefix);
  }
  std::vector<std::string> libraries;
  for (const std::filesystem::path& prefix : prefixes) {
    for (const std::filesystem::path& folder : python_packages(prefix)) {
      libraries.push_back(folder / "xgboost" / "lib" / "libxgboost.so");
    }
  }
  return libraries;
}

void* open_first(const std::vector<std::string>& names) {
  void* library = nullptr;
  for (const std::string& name : names) {
    library = library != nullptr ? library : dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  return library;
}

/// The functions of XGBoost's C API that are used here, and the library.
class Xgboost {
 public:
  Xgboost() : library_(open()) {
    if (library_ == nullptr) {
      problem_ = "XGBoost, which learns from measurements, cannot be loaded: ";
      const char* const reason = dlerror();
      problem_ += reason == nullptr ? "there is no library" : reason;
      return;
    }
    find("XGBGetLastError", last_error);
    find("XGDMatrixCreateFromMat", create_matrix);
    find("XGDMatrixSetFloatInfo", set_float_info);
    find("XGDMatrixFree", free_matrix);
    find("XGBoosterCreate", create_booster);
    find("XGBoosterSetParam", set_param);
    find("XGBoosterUpdateOneIter", update);
    find("XGBoosterPredictFromDMatrix", predict);
    find("XGBoosterFree", free_booster);
  }

  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }
  /// Throws Error(internal) unless `status`, returned by a function of XGBoost, means success.
  void check(int status) const {
    if (status != 0) {
      throw Error(ExitCode::internal, fmt::format("XGBoost failed: {}", last_error()));
    }
  }

  decltype(&XGBGetLastError) last_error = nullptr;
  decltype(&XGDMatrixCreateFromMat) create_matrix = nullptr;
  decltype(&XGDMatrixSetFloatInfo) set_float_info = nullptr;
  decltype(&XGDMatrixFree) free_matrix = nullptr;
  decltype(&XGBoosterCreate) create_booster = nullptr;
  decltype(&XGBoosterSetParam) set_param = nullptr;
  decltype(&XGBoosterUpdateOneIter) update = nullptr;
  decltype(&XGBoosterPredictFromDMatrix) predict = nullptr;
  decltype(&XGBoosterFree) free_booster = nullptr;

 private:
  static void* open() {
    if (const auto named = environment_variable(kXgboostVariable)) {
      return dlopen(named->c_str(), RTLD_NOW | RTLD_LOCAL);
    }
    void* const of_python = open_first(python_libraries());
    return of_python != nullptr ? of_python
                                : open_first({kXgboostNames.begin(), kXgboostNames.end()});
  }

  template <typename Function>
  void find(const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library_, name));
    if (function == nullptr && problem_.empty()) {
      problem_ = fmt::format("the XGBoost that was found has no {}", name);
    }
  }

  void* library_;
  std::string problem_;
};

const Xgboost& the_xgboost() {
  static const Xgboost loaded;
  return loaded;
}

/// RAII wrapper of a matrix of XGBoost.
class Matrix {
 public:
  explicit Matrix(const FeatureRows& rows) {
    constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();
    the_xgboost().check(the_xgboost().create_matrix(rows.values.data(), rows.rows(), rows.columns,
                                                    kMissing, &handle_));
  }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;
  ~Matrix() { the_xgboost().free_matrix(handle_); }

  [[nodiscard]] DMatrixHandle handle() const noexcept { return handle_; }

 private:
  DMatrixHandle handle_ = nullptr;
};

// One thread: the races on the GPU and the compilers need the other threads. The sums do not depend
// on the number of threads.
constexpr std::array<std::pair<const char*, const char*>, 9> kXgboostSettings{{
    {"objective", "reg:squarederror"},
    {"tree_method", "hist"},
    {"max_depth", "4"},
    {"eta", "0.15"},
    {"min_child_weight", "1"},
    {"subsample", "0.8"},
    {"colsample_bynode", "0.5"},
    {"nthread", "1"},
    {"verbosity", "0"},
}};
constexpr int kTrees = 120;

}  // namespace

struct BoostedTrees::Booster {
  BoosterHandle handle = nullptr;

  explicit Booster(const Matrix& matrix) {
    const DMatrixHandle data = matrix.handle();
    the_xgboost().check(the_xgboost().create_booster(&data, 1, &handle));
  }
  Booster(const Booster&) = delete;
  Booster& operator=(const Booster&) = delete;
  ~Booster() { the_xgboost().free_booster(handle); }

  void set(const char* name, const char* value) const {
    the_xgboost().check(the_xgboost().set_param(handle, name, value));
  }
};

std::optional<std::string> BoostedTrees::why_missing() {
  const std::string& problem = the_xgboost().problem();
  return problem.empty() ? std::nullopt : std::optional(problem);
}

void BoostedTrees::check() {
  if (const auto problem = why_missing()) {
    throw Error(ExitCode::usage, *problem, "--search model",
                "install libxgboost0 or the Python package xgboost-cpu, or set FATUNE_XGBOOST to a "
                "libxgboost.so");
  }
}

BoostedTrees::BoostedTrees(const FeatureRows& rows, const std::vector<float>& targets,
                           std::uint64_t seed) {
  const Xgboost& xgboost = the_xgboost();
  const Matrix matrix(rows);
  xgboost.check(xgboost.set_float_info(matrix.handle(), "label", targets.data(), targets.size()));
  booster_ = std::make_unique<Booster>(matrix);
  for (const auto& [name, value] : kXgboostSettings) {
    booster_->set(name, value);
  }
  booster_->set("seed", std::to_string(seed % (1U << 31)).c_str());
  for (int tree = 0; tree < kTrees; ++tree) {
    xgboost.check(xgboost.update(booster_->handle, tree, matrix.handle()));
  }
}

BoostedTrees::BoostedTrees(BoostedTrees&&) noexcept = default;
BoostedTrees& BoostedTrees::operator=(BoostedTrees&&) noexcept = default;
BoostedTrees::~BoostedTrees() = default;

std::vector<float> BoostedTrees::predict(const FeatureRows& rows) const {
  constexpr const char* kPlainValues =
      R"({"type":0,"training":false,"iteration_begin":0,"iteration_end":0,"strict_shape":false})";
  const Matrix matrix(rows);
  const bst_ulong* shape = nullptr;
  bst_ulong dimensions = 0;
  const float* values = nullptr;
  the_xgboost().check(the_xgboost().predict(booster_->handle, matrix.handle(), kPlainValues, &shape,
                                            &dimensions, &values));
  return {values, values + rows.rows()};
}

}  // namespace fatune
