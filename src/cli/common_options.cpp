#include "cli/common_options.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/text_parts.hpp"

namespace fatune {
namespace {

struct CommonOptions {
  std::string_view command;
  std::string_view names;
};

/// A command with many options has at most ten of these.
constexpr std::array kCommonOptions{
    CommonOptions{"sweep",
                  "--preset --seq --dhead --dtype --causal --space --device --search --out "
                  "--format"},
    CommonOptions{"run",
                  "--config --preset --seq --causal --batch --heads --runs --device --out "
                  "--format"},
    CommonOptions{"verify-winner", "--tolerance --budget --family --device --best --db --format"},
    CommonOptions{"cases",
                  "--preset --seq --dhead --dtype --causal --heads --device --budget --format"},
    CommonOptions{"check",
                  "--config --space --small --seq --causal --seeds --diff --sanitizer --device "
                  "--format"},
    CommonOptions{"debug",
                  "--config --init --seq --seq-blocks --causal --out --kernel-dir --device "
                  "--format"},
    CommonOptions{"emulate",
                  "--config --space --seq --causal --schedules --check --profile --strict --arch "
                  "--format"},
    CommonOptions{"list",
                  "--space --family --kernel-dir --seq --dhead --arch --pruned --presets --filter "
                  "--format"},
    CommonOptions{"compile",
                  "--config --space --family --kernel-dir --seq --arch --out --ptx --strict "
                  "--format"},
    CommonOptions{"sass",
                  "--config --run --rank --cubin --arch --seq --opcodes --kernel-dir --format"},
    CommonOptions{"sass diff", "--opcodes --listing --arch --seq --causal --kernel-dir --format"},
    CommonOptions{"sass cfg", "--config --run --rank --cubin --arch --seq --format"},
    CommonOptions{"sass clean", "--config --run --rank --cubin --arch --seq"},
    CommonOptions{"sass map",
                  "--config --run --rank --arch --source --ptx --sass --annotate --depth "
                  "--format"},
    CommonOptions{"sass why", "--run --space --family --arch --seq --top --format"},
    CommonOptions{"profile",
                  "--config --space --run --top --seq --metrics --backend --out --device "
                  "--format"},
    CommonOptions{"export", "--best --run --to --out --cover --family --format"},
    CommonOptions{"import", "--from --seq --dhead --dtype --arch --gpu --db --format"},
    CommonOptions{"evaluate",
                  "--family --kernel-dir --preset --seq --dhead --dtype --causal --device"},
    CommonOptions{"predict",
                  "--preset --seq --dhead --dtype --causal --batch --heads --gpu --arch --format"},
};

}  // namespace

std::vector<std::string> common_option_names(const std::string& command) {
  const auto* const row = std::ranges::find(kCommonOptions, command, &CommonOptions::command);
  std::vector<std::string> names;
  std::string_view rest = row == kCommonOptions.end() ? "" : row->names;
  while (!rest.empty()) {
    names.emplace_back(take_until(rest, ' '));
  }
  return names;
}

}  // namespace fatune
