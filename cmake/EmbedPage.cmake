# Writes the parts of the viewer's page as constants of a C++ source:
#   cmake -DFOLDER=apps/viewer/page -DOUT=page_parts.cpp "-DMODULES=a.mjs;b.mjs" -P EmbedPage.cmake
# The modules are in an order in which they may follow each other in one script.
function(constant_of file name result)
  file(READ "${FOLDER}/${file}" text)
  set(${result} "constexpr std::string_view ${name} = R\"~page~(${text})~page~\";\n" PARENT_SCOPE)
endfunction()

constant_of(page.html kDocument document)
constant_of(style.css kStyle style)
set(constants "")
set(names "")
foreach(module IN LISTS MODULES)
  string(MAKE_C_IDENTIFIER "k_${module}" name)
  constant_of(${module} ${name} constant)
  string(APPEND constants "${constant}")
  list(APPEND names ${name})
endforeach()
list(JOIN names ", " names)
file(WRITE "${OUT}" "// Made of apps/viewer/page.
#include \"apps/viewer/page_file.hpp\"

namespace lapse::apps {

namespace {
${document}${style}${constants}}  // namespace

PageParts page_parts() {
  return {.document = kDocument, .style = kStyle, .modules = {${names}}};
}

}  // namespace lapse::apps
")
