# Shared rules: one place for the language level, the warnings and the sanitizers.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()

set(ASSAY_SANITIZE "" CACHE STRING "Comma-separated sanitizers, for example address,undefined")

find_program(CCACHE ccache)
if(CCACHE)
  # Looser about times only, which a precompiled header needs: contents are compared.
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime "${CCACHE}")
endif()

# Install rules of a folder belong to the program; cmake/install.cmake adds what others need to link to the libraries.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME program)

# Warnings and the like are ours alone: an installed library asks its users for the include folder and C++20.
add_library(assay_rules INTERFACE)
add_library(assay_users INTERFACE)
target_include_directories(assay_users INTERFACE "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>" "$<INSTALL_INTERFACE:include>")
target_compile_features(assay_users INTERFACE cxx_std_20)
target_compile_options(assay_rules INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor
                                             -Woverloaded-virtual -Wimplicit-fallthrough -Werror)
# Messages name sources by their path in the repository, and another clone compiles to the same object.
target_compile_options(assay_rules INTERFACE "-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(assay_rules INTERFACE -Wno-restrict -Wno-array-bounds
                                               -Wno-stringop-overflow)  # false alarms of g++ 12 on std::string
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(assay_rules INTERFACE "SHELL:-Xclang -fno-pch-timestamp")  # so that ccache knows it again
  target_compile_options(assay_rules INTERFACE -Wno-shadow)  # g++ judges it; in a unity build clang sees other files' names
endif()
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(assay_rules INTERFACE -Wno-shadow -Wshadow=local
                                               -Wno-maybe-uninitialized)  # so does g++; builds of one source judge the rest
endif()
if(ASSAY_SANITIZE)
  target_compile_options(assay_rules INTERFACE -fsanitize=${ASSAY_SANITIZE} -fno-omit-frame-pointer
                                               -fno-sanitize-recover=all)
  target_link_options(assay_rules INTERFACE -fsanitize=${ASSAY_SANITIZE})
  # What fuzzers call counts what inputs reach, and has every check. The rest takes half of the time to compile without two
  # checks of each access through a pointer: one of a null pointer ends the program anyway.
  set(fuzzed $<BOOL:$<TARGET_PROPERTY:ASSAY_FUZZED>>)
  target_compile_options(assay_rules INTERFACE $<IF:${fuzzed},-fsanitize=fuzzer-no-link,-fno-sanitize=null$<COMMA>alignment>)
endif()

# What most sources include is compiled once for each build; otherwise it costs every source several seconds. Sources still
# include what they use. Only headers of others are here, so that every clone has the same text and can share a cache.
set(ASSAY_PRECOMPILED <fmt/format.h> <algorithm> <array> <chrono> <cmath> <cstdint> <filesystem> <functional> <map> <memory>
    <nlohmann/json.hpp> <optional> <set> <string> <string_view> <unordered_map> <variant> <vector>)
function(assay_precompile target)
  add_library(${target} OBJECT "${PROJECT_SOURCE_DIR}/cmake/precompiled.cpp")
  target_link_libraries(${target} PRIVATE assay_rules fmt::fmt nlohmann_json::nlohmann_json ${ARGN})
  target_precompile_headers(${target} PRIVATE ${ASSAY_PRECOMPILED})
endfunction()
assay_precompile(assay_precompiled)
if(ASSAY_FUZZ)
  assay_precompile(assay_precompiled_fuzzed)
  set_target_properties(assay_precompiled_fuzzed PROPERTIES ASSAY_FUZZED ON)
endif()
if(ASSAY_TESTS)
  assay_precompile(assay_precompiled_tests GTest::gmock)
  target_precompile_headers(assay_precompiled_tests PRIVATE <gmock/gmock.h> <gtest/gtest.h>)
  # Programs are compiled with other flags than libraries where both are position independent.
  set_target_properties(assay_precompiled_tests PROPERTIES POSITION_INDEPENDENT_CODE OFF)
endif()

# assay_optimised(TARGET -O1): compiles it so, and without the precompiled header, which is made with the flags of all others.
function(assay_optimised target level)
  target_compile_options(${target} PRIVATE ${level})
  set_target_properties(${target} PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
endfunction()

# assay_program(NAME a.cpp b.cpp): a program that uses the precompiled header of the libraries.
function(assay_program name)
  add_executable(${name} ${ARGN})
  target_precompile_headers(${name} REUSE_FROM assay_precompiled)
  target_compile_options(${name} PRIVATE -fPIC)  # as the precompiled header is
endfunction()

# assay_library(core SOURCES a.cpp DEPENDS fmt::fmt): the library of one folder.
function(assay_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(assay_${name} STATIC ${ARG_SOURCES})
  target_precompile_headers(assay_${name} REUSE_FROM assay_precompiled)
  target_link_libraries(assay_${name} PUBLIC "$<BUILD_INTERFACE:assay_rules>" assay_users ${ARG_DEPENDS})
endfunction()

# assay_test(core SOURCES a_test.cpp): one test program per folder, each test case its own ctest entry.
# TOGETHER Name: those whose names begin so are one entry, because they share what is costly to start.
function(assay_test name)
  cmake_parse_arguments(ARG "" "TOGETHER" "SOURCES;DEPENDS" ${ARGN})
  if(NOT ASSAY_TESTS OR (ASSAY_UNIT_TESTS AND NOT name IN_LIST ASSAY_UNIT_TESTS))
    return()
  endif()
  add_executable(${name}_test ${ARG_SOURCES})
  target_precompile_headers(${name}_test REUSE_FROM assay_precompiled_tests)
  set_target_properties(${name}_test PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_link_libraries(${name}_test PRIVATE assay_${name} ${ARG_DEPENDS} GTest::gmock GTest::gtest GTest::gtest_main)
  set(discovered)
  if(ARG_TOGETHER)
    set(discovered TEST_FILTER "-${ARG_TOGETHER}*")
    add_test(NAME ${name}.${ARG_TOGETHER} COMMAND ${name}_test "--gtest_filter=${ARG_TOGETHER}*")
    set_tests_properties(${name}.${ARG_TOGETHER} PROPERTIES LABELS "${name}" TIMEOUT 600)
  endif()
  gtest_discover_tests(${name}_test ${discovered} TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 60
                       PROPERTIES LABELS "${name}" TIMEOUT 120)
endfunction()

# assay_fuzzer(record SOURCES record_fuzz.cpp DEPENDS assay_core): a libFuzzer program, built by the asan preset.
function(assay_fuzzer name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  if(NOT ASSAY_FUZZ)
    return()
  endif()
  add_executable(fuzz_${name} ${ARG_SOURCES})
  target_link_libraries(fuzz_${name} PRIVATE ${ARG_DEPENDS} assay_rules)
  target_compile_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  set_target_properties(fuzz_${name} ${ARG_DEPENDS} PROPERTIES ASSAY_FUZZED ON)
  set_target_properties(${ARG_DEPENDS} PROPERTIES PRECOMPILE_HEADERS_REUSE_FROM assay_precompiled_fuzzed)
endfunction()

# assay_apart(a.cpp b.cpp): sources that share names of their own with others, so that a unity build compiles them alone.
function(assay_apart)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# assay_embedded(kName FILE.sql OUT.cpp [HEADER NAMESPACE]): the text of a file as a constant of assay/store/sql.hpp, or of HEADER.
function(assay_embedded name text out)
  set(header assay/store/sql.hpp)
  set(space assay::store::sql)
  if(ARGC GREATER 3)
    set(header ${ARGV3})
    set(space ${ARGV4})
  endif()
  add_custom_command(
    OUTPUT "${out}"
    COMMAND "${CMAKE_COMMAND}" "-DTEXT=${text}" -DNAME=${name} -DHEADER=${header} -DSPACE=${space} "-DOUT=${out}" -P
            "${PROJECT_SOURCE_DIR}/cmake/embed.cmake"
    DEPENDS "${text}" "${PROJECT_SOURCE_DIR}/cmake/embed.cmake"
    VERBATIM)
endfunction()

# assay_sql(store kName FILE.sql): SQL that a library holds. Each is a source of its own, so that tests can plant a bug in it.
function(assay_sql library name file)
  set(source "${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp")
  assay_embedded(${name} "${CMAKE_CURRENT_SOURCE_DIR}/${file}" "${source}")
  target_sources(assay_${library} PRIVATE "${source}")
  set_source_files_properties("${source}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
endfunction()
