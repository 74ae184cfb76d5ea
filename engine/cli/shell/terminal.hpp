#pragma once
// What stderr is, and text for people on it.

#include <string>
#include <vector>

#include "kernels/base/error.hpp"

namespace supple::cli {

bool stderr_is_terminal();
// Columns of the terminal behind stderr; 80 when unknown.
int terminal_width();
// error.report(), coloured where stderr is a terminal and NO_COLOR is not set.
std::string coloured_report(const Error& error);
// "note: ..." on stderr, one line.
void print_note(const std::string& text);
// "warning: ..." on stderr, coloured where it is a terminal; nothing for an empty text.
void print_warning(const std::string& text);

// An argument as a shell takes it: quoted where it needs to be.
std::string shell_quoted(const std::string& argument);
// The words that start this program again, its path first: those of start_again_by(), else the path of the process.
std::vector<std::string> this_program();
// For a process whose program is another one, such as Python's interpreter. Before any thread is started.
void start_again_by(std::vector<std::string> words);

}  // namespace supple::cli
