// adapm_options_doc: prints docs/adaptive-management-options.md. With --check <file>: fails unless the file
// equals it.
#include "adapm/options.hpp"
#include "lapse/core/options/document_main.hpp"

int main(int count, char** arguments) {
  return lapse::document_main(count, arguments, adapm::options_document());
}
