#pragma once

#include <array>
#include <string>
#include <string_view>

namespace fatune::testing_cli {

/// Arbitrary texts that a results file may contain, and that have effects where they are not shown
/// as plain text: in HTML, XML, Markdown, spreadsheets or terminals. "long" stands for a long text.
inline constexpr auto kHostileTexts =
    std::to_array<std::string_view>({"</script><script>alert(1)</script>",
                                     "\"><img src=x onerror=alert(1)>",
                                     "' onload=\"alert(1)",
                                     "a\u202eb\u2066c",
                                     "]]><!--",
                                     "../../etc/passwd",
                                     "\x01\x1b[31m",
                                     "long",
                                     "=cmd|' /C calc'!A0",
                                     "@SUM(1+1)*cmd|' /C calc'!A0",
                                     "-2+3+cmd|' /C calc'!A0",
                                     {"a\0b", 3},
                                     "\x1b]0;title\x07",
                                     "\u009b31m",
                                     "a|b||c",
                                     "`code` ![x](http://x/y.png)",
                                     "[click](javascript:alert(1))",
                                     "a\n# heading\r\n| a | b |",
                                     "\t=1+1",
                                     "&amp;<![CDATA["});

inline std::string hostile_text(std::string_view text) {
  constexpr std::size_t kLong = 100000;
  return text == "long" ? std::string(kLong, 'x') : std::string(text);
}

}  // namespace fatune::testing_cli
