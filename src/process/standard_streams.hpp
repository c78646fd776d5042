#pragma once

namespace fatune {

/// Makes standard input, output and error safe to use, whatever the parent has left of them. A
/// closed stream becomes /dev/null: otherwise, a file that is opened later would get its number,
/// and fatune's texts. Standard output is then not open for writing, so that its writer notices. If
/// the reader has gone away, a write fails and the program continues.
void secure_standard_streams();

/// Ends the program as a write to a pipe without a reader does by default.
void end_by_broken_pipe();

}  // namespace fatune
