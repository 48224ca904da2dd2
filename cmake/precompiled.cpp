// Gives a precompiled header a source to be built with.
