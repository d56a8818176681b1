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
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE}")
endif()

add_library(assay_rules INTERFACE)
target_include_directories(assay_rules INTERFACE "${PROJECT_SOURCE_DIR}")
target_compile_options(assay_rules INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor
                                             -Woverloaded-virtual -Wimplicit-fallthrough -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(assay_rules INTERFACE -Wno-restrict)  # false alarms of g++ 12 on std::string at -O3
endif()
target_compile_definitions(assay_rules INTERFACE ASSAY_VERSION="${PROJECT_VERSION}")
if(ASSAY_SANITIZE)
  target_compile_options(assay_rules INTERFACE -fsanitize=${ASSAY_SANITIZE} -fno-omit-frame-pointer
                                               -fno-sanitize-recover=all)
  target_link_options(assay_rules INTERFACE -fsanitize=${ASSAY_SANITIZE})
endif()

# assay_library(core SOURCES a.cpp DEPENDS fmt::fmt): the library of one folder.
function(assay_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(assay_${name} STATIC ${ARG_SOURCES})
  target_link_libraries(assay_${name} PUBLIC assay_rules ${ARG_DEPENDS})
endfunction()

# assay_test(core SOURCES a_test.cpp): one test program per folder, each test case its own ctest entry.
function(assay_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  if(NOT ASSAY_TESTS)
    return()
  endif()
  add_executable(${name}_test ${ARG_SOURCES})
  target_link_libraries(${name}_test PRIVATE assay_${name} ${ARG_DEPENDS} GTest::gmock GTest::gtest GTest::gtest_main)
  gtest_discover_tests(${name}_test TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 60 PROPERTIES LABELS "${name}" TIMEOUT 120)
endfunction()

# assay_fuzzer(record SOURCES record_fuzz.cpp DEPENDS assay_core): a libFuzzer program, built only by the fuzz preset.
function(assay_fuzzer name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  if(NOT ASSAY_FUZZ)
    return()
  endif()
  add_executable(fuzz_${name} ${ARG_SOURCES})
  target_link_libraries(fuzz_${name} PRIVATE ${ARG_DEPENDS} assay_rules)
  target_compile_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
endfunction()
