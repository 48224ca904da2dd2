// lapse_options_doc: prints docs/options.md. With --check <file>: fails unless the file has that text.
#include "lapse/core/options/document_main.hpp"
#include "lapse/core/options/option_table.hpp"

int main(int count, char** arguments) {
  return lapse::document_main(count, arguments, lapse::options_document());
}
