/* The version of the headers, for C and C++. The build reads it here; documents and packages get it from the build. */
#ifndef LAPSE_CORE_VERSION_H
#define LAPSE_CORE_VERSION_H

#define LAPSE_VERSION_MAJOR 0
#define LAPSE_VERSION_MINOR 1
#define LAPSE_VERSION_PATCH 0

/* 1 for headers of this version and of later ones. */
#define LAPSE_VERSION_AT_LEAST(major, minor, patch)                                                      \
  (LAPSE_VERSION_MAJOR > (major) || (LAPSE_VERSION_MAJOR == (major) && LAPSE_VERSION_MINOR > (minor)) || \
   (LAPSE_VERSION_MAJOR == (major) && LAPSE_VERSION_MINOR == (minor) && LAPSE_VERSION_PATCH >= (patch)))

#endif
