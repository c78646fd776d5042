#include "results/results_file.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <rapidjson/error/en.h>
#include <rapidjson/filereadstream.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>
#include <nlohmann/json.hpp>

#include "attention/flop.hpp"
#include "core/device_peaks.hpp"
#include "core/error.hpp"
#include "core/outcome.hpp"
#include "rank/common_choices.hpp"
#include "results/json_pieces.hpp"
#include "results/read_parts.hpp"

namespace fatune {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kBestConfigs = "fatune.best_configs";
constexpr std::array<std::string_view, 3> kFormats{"fatune.results", "fatune.runs", kBestConfigs};

/// Assembles reports from the pieces.
class Assembly final : public PieceSink {
 public:
  void see_head(const std::string& key, const Json& value) override {
    if (key == "format") {
      check_format(value);
      format_ = value.get<std::string>();
    }
  }

  bool take(std::string_view path, Json& piece) override {
    if (path == "runs") {
      add_run(piece);
    } else if (path == "gpus") {
      RunReport& gpu = runs_.emplace_back();
      gpu.device = read_device(piece);
      gpu.problems = std::exchange(problems_, {});
      set_clocks(gpu);
    } else {
      return take_of_run(without_list(path), piece);
    }
    return true;
  }

  /// `root`: the rest, after all pieces were taken.
  std::vector<RunReport> finish(Json& root) {
    if (format_.empty()) {
      check_format(nullptr);
    }
    if (format_ == kFormats[0]) {
      add_run(root);
    } else if (format_ == kBestConfigs) {
      add_header(root);
    }
    return std::move(runs_);
  }

 private:
  static void check_format(const Json& value) {
    const auto* text = value.get_ptr<const std::string*>();
    if (text == nullptr || std::ranges::find(kFormats, *text) == kFormats.end()) {
      throw Error(ExitCode::bad_file, "its \"format\" is not one of those that fatune reads", {},
                  fmt::format("give a file in one of the formats {}", fmt::join(kFormats, ", ")));
    }
  }

  /// Removes the outer list: "problems/ranking" for "runs/problems/ranking".
  static std::string_view without_list(std::string_view path) {
    for (const std::string_view list : {"runs/", "gpus/"}) {
      if (path.starts_with(list)) {
        return path.substr(list.size());
      }
    }
    return path;
  }

  bool take_of_run(std::string_view path, Json& piece) {
    if (path == "problems/ranking" || path == "problems/runners_up") {
      results_.ranking.push_back(read_ranked(piece));
    } else if (path == "problems/failures") {
      results_.failures.push_back(read_result(piece));
    } else if (path == "problems/audited") {
      results_.audited.push_back(read_result(piece));
    } else if (path == "problems") {
      take_problem(piece);
    } else {
      return false;
    }
    return true;
  }

  static Result read_ranked(Json& piece) {
    Result result = read_result(piece);
    if (!is_ranked(result.outcome)) {
      throw Error(ExitCode::bad_file, "it has a rank, but no time", "outcome",
                  "results without a time are failures");
    }
    return result;
  }

  void take_problem(Json& piece) {
    const auto winner = piece.find("winner");
    if (winner != piece.end() && !winner->is_null()) {
      take_ceilings(*winner, piece);
      results_.ranking.insert(results_.ranking.begin(), read_ranked(*winner));
    }
    problems_.push_back(read_problem_report(piece, std::exchange(results_, {})));
  }

  /// Takes the chip's ceilings. A file of winners has only its winner's rate in percent of them.
  void take_ceilings(const Json& winner, Json& problem) {
    const auto whole = [&](const char* percent) {
      const Json& part = winner.value(percent, Json());
      const Json& tflops = winner.value("literature_tflops", Json());
      return part.is_number() && tflops.is_number() && part > 0.0
                 ? 100.0 * tflops.get<double>() / part.get<double>()
                 : 0.0;
    };
    problem["matmul_tflops"] = whole("percent_of_matmul");
    peak_tflops_[problems_.size()] = whole("percent_of_peak_at_clock");
  }

  /// Sets the clock at which the GPU has the peak that the winners' percentages refer to.
  void set_clocks(RunReport& gpu) {
    const auto flop_per_clock = nominal_tensor_flop_per_clock(gpu.device.arch);
    for (const auto& [problem, tflops] : std::exchange(peak_tflops_, {})) {
      if (tflops > 0.0 && flop_per_clock && gpu.device.sm_count > 0) {
        GpuConditions& conditions = gpu.problems.at(problem).conditions.emplace();
        conditions.sm_mhz_median =
            tflops / kFlopPerUsToTflops / (*flop_per_clock * gpu.device.sm_count);
      }
    }
  }

  void add_run(Json& part) {
    RunReport& run = runs_.emplace_back(read_run(part, read_device(part)));
    run.problems = std::exchange(problems_, {});
    run.choices = common_choices(run.problems);
  }

  /// Gives the reports of all GPUs of a file of winners the header that they share.
  void add_header(const Json& header) {
    for (RunReport& gpu : runs_) {
      RunReport run = read_run(header, gpu.device);
      run.problems = std::move(gpu.problems);
      gpu = std::move(run);
    }
  }

  std::string format_;
  ProblemResults results_;
  std::vector<ProblemReport> problems_;
  std::map<std::size_t, double> peak_tflops_;  ///< by index in problems_; 0: not known
  std::vector<RunReport> runs_;
};

/// `line_at` returns the line of a byte, for messages.
template <typename Stream, typename LineAt>
std::vector<RunReport> read_stream(Stream& stream, const std::string& origin, LineAt line_at) {
  constexpr unsigned kFlags =
      rapidjson::kParseFullPrecisionFlag | rapidjson::kParseValidateEncodingFlag;
  Assembly assembly;
  JsonPieces pieces(assembly, origin);
  rapidjson::Reader reader;
  if (const auto result = reader.Parse<kFlags>(stream, pieces); !result) {
    pieces.refuse(rapidjson::GetParseError_En(result.Code()), line_at(result.Offset()));
  }
  return pieces.locate([&] { return assembly.finish(pieces.root()); });
}

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using OpenFile = std::unique_ptr<std::FILE, CloseFile>;

OpenFile open_file(const std::filesystem::path& file) {
  OpenFile stream(std::fopen(file.c_str(), "rb"));
  if (!stream || std::filesystem::is_directory(file)) {
    throw Error(ExitCode::io, "cannot be read", file.string());
  }
  return stream;
}

}  // namespace

std::vector<RunReport> read_results(const std::filesystem::path& file) {
  const OpenFile stream = open_file(file);
  std::vector<char> block(std::size_t{1} << 16);
  rapidjson::FileReadStream bytes(stream.get(), block.data(), block.size());
  return read_stream(bytes, file.string(), [&](std::size_t at_byte) {
    std::ifstream again(file, std::ios::binary);
    std::istreambuf_iterator<char> byte(again);
    std::size_t line = 1;
    for (std::size_t i = 0; i < at_byte && byte != std::istreambuf_iterator<char>(); ++i, ++byte) {
      line += static_cast<std::size_t>(*byte == '\n');
    }
    return line;
  });
}

std::vector<RunReport> read_results_text(std::string_view text, const std::string& origin) {
  rapidjson::MemoryStream bytes(text.data(), text.size());
  return read_stream(bytes, origin, [&](std::size_t at_byte) {
    return 1 + static_cast<std::size_t>(std::ranges::count(text.substr(0, at_byte), '\n'));
  });
}

}  // namespace fatune
