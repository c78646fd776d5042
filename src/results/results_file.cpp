#include "results/results_file.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <rapidjson/error/en.h>
#include <rapidjson/filereadstream.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include "core/error.hpp"
#include "core/outcome.hpp"
#include "rank/common_choices.hpp"
#include "record/record_json.hpp"
#include "results/json_pieces.hpp"

namespace fatune {
namespace {

using Json = RecordJson;

constexpr std::array<std::string_view, 2> kFormats{"fatune.results", "fatune.runs"};

void check_format(const Json& value) {
  const auto* text = value.get_ptr<const std::string*>();
  if (text == nullptr || std::ranges::find(kFormats, *text) == kFormats.end()) {
    throw Error(ExitCode::bad_file, "its \"format\" is not one of those that fatune reads", {},
                fmt::format("give a file in one of the formats {}", fmt::join(kFormats, ", ")));
  }
}

void check_version(const Json& value) {
  if (value != kResultsVersion) {
    throw Error(ExitCode::bad_file,
                fmt::format("it has version {} of its format, this fatune reads {}", value.dump(),
                            kResultsVersion),
                "format_version", "measure again, or read it with the fatune that wrote it");
  }
}

/// Assembles reports from the pieces.
class Assembly final : public PieceSink {
 public:
  void see_head(const std::string& key, const Json& value) override {
    if (key == "format") {
      check_format(value);
      format_ = value.get<std::string>();
    } else if (key == "format_version") {
      check_version(value);
      has_version_ = true;
    }
  }

  bool take(std::string_view path, Json& piece) override {
    constexpr std::string_view kList = "runs/";
    const std::string_view of_run = path.starts_with(kList) ? path.substr(kList.size()) : path;
    if (path == "runs") {
      add_run(piece);
    } else if (of_run == "problems/ranking") {
      ranking_.push_back(read_ranked(piece));
    } else if (of_run == "problems/failures") {
      failures_.push_back(read_record<Result>(piece));
    } else if (of_run == "problems/audited") {
      audited_.push_back(read_record<Result>(piece));
    } else if (of_run == "problems") {
      add_problem(piece);
    } else {
      return false;
    }
    return true;
  }

  /// `root`: the rest, after all pieces were taken.
  std::vector<RunReport> finish(const Json& root) {
    check_format(format_);
    if (!has_version_) {
      check_version(nullptr);
    }
    if (format_ == kFormats.front()) {
      add_run(root);
    }
    return std::move(runs_);
  }

 private:
  static Result read_ranked(const Json& piece) {
    auto result = read_record<Result>(piece);
    if (!is_ranked(result.outcome)) {
      throw Error(ExitCode::bad_file, "it has a rank, but no time", "outcome",
                  "results without a time are failures");
    }
    return result;
  }

  void add_problem(const Json& piece) {
    ProblemReport& problem = problems_.emplace_back(read_record<ProblemReport>(piece));
    problem.ranking = std::exchange(ranking_, {});
    problem.failures = std::exchange(failures_, {});
    problem.audited = std::exchange(audited_, {});
  }

  void add_run(const Json& piece) {
    RunReport& run = runs_.emplace_back(read_record<RunReport>(piece));
    run.problems = std::exchange(problems_, {});
    run.choices = common_choices(run.problems);
  }

  std::string format_;
  bool has_version_ = false;
  std::vector<Result> ranking_;
  std::vector<Result> failures_;
  std::vector<Result> audited_;
  std::vector<ProblemReport> problems_;
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
    throw Error(ExitCode::bad_file, "cannot be read", file.string(),
                "name a file that fatune has written");
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
