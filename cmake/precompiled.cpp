// Carries the precompiled header; see precompiled.hpp.
