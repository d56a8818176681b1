// Carries the precompiled headers; see assay.cmake.
