// plot_samples FOLDER COUNT: writes SVGs of COUNT random plots, and of the plots that tests use,
// for a test with an XML parser.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "base/text_parts.hpp"
#include "print/plot/plot.hpp"
#include "sample_plots.hpp"

namespace {

using namespace fatune;

void write(const Plot& plot, const std::filesystem::path& folder, const std::string& name) {
  std::ofstream(folder / (name + ".svg"), std::ios::binary) << svg(plot, SvgPlace::file);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  const auto count = whole_number<std::uint32_t>(argv[2]).value_or(0);
  for (const Plot& plot : testing_plots::all_drawings()) {
    write(plot, folder, plot.id);
    write(testing_plots::with_text_everywhere(
              plot, std::string("</svg>\0\xFF", 8) + std::string(5000, 'W')),
          folder, plot.id + "-hostile");
  }
  write(testing_plots::many_points(2000), folder, "many-points");
  write(testing_plots::many_lines(480, 12), folder, "many-lines");
  for (std::uint32_t seed = 0; seed < count; ++seed) {
    write(testing_plots::random_plot(seed), folder, fmt::format("random-{}", seed));
  }
}
