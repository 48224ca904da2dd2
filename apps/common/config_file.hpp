// Options in files.
#pragma once

namespace CLI {
class App;
}

namespace lapse::apps {

// Adds the option --config FILE. The file has lines `name = value`, with the names of the program's options
// without their dashes (flags: `name = true`), and comments after `#`; a byte order mark before them does no
// harm. What the command line gives, wins. An unknown name, one that is set twice and a value that the option
// refuses are errors with file and line.
void add_config(CLI::App& app);

}  // namespace lapse::apps
