// The command line of a process as one text.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lapse::apps {

// The words as a shell reads them: those with blanks or other characters that it would interpret are quoted.
std::string joined_command(std::span<const std::string> words);

// The words of such a text.
std::vector<std::string> split_command(std::string_view command);

// The command line of this process.
std::vector<std::string> words_of_process();

}  // namespace lapse::apps
