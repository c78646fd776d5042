#pragma once

namespace fatune {

/// Makes standard input, output and error safe to use, whatever the parent has left of them. What
/// is closed becomes /dev/null: else a file that is opened later would get its
/// number, and our texts. Standard output is then not open for writing, so that its writer finds
/// out. A reader that has gone away fails a write and does not end the program.
void secure_standard_streams();

/// Ends the program as a write to a pipe without a reader does when nobody has asked otherwise.
void end_by_broken_pipe();

}  // namespace fatune
