// Options in files.
#pragma once

namespace CLI {
class App;
}

namespace lapse::apps {

// Adds the option --config FILE. The file has lines `name = value`, with names of the program's options
// without dashes (flags: `name = true`), and comments after `#`; it may begin with a byte order mark. The
// command line overrides it. Unknown names, names set twice and invalid values are errors with file and line.
void add_config(CLI::App& app);

}  // namespace lapse::apps
