# What assay-simulate is asked and answers; linked by the program itself.
assay_library(simulation SOURCES simulation.cpp simulate_steps.cpp DEPENDS assay_core)
assay_test(simulation SOURCES simulation_test.cpp)

# The simulated side, with SimGrid: linked by assay-simulate alone. Left out where there is no SimGrid 3.32: its
# configuration and its speed were tried with that release.
if(ASSAY_SANITIZE)  # its actors have stacks of SimGrid's own, which sanitizers cannot follow
  return()
endif()
pkg_check_modules(SIMGRID QUIET IMPORTED_TARGET GLOBAL simgrid>=3.32 simgrid<3.33)
if(NOT SIMGRID_FOUND)
  message(STATUS "no SimGrid 3.32: assay-simulate is left out")
  return()
endif()
assay_library(simulate SOURCES simulate.cpp simulate_network.cpp DEPENDS assay_simulation PkgConfig::SIMGRID)
add_executable(assay-simulate simulate_main.cpp)
target_link_libraries(assay-simulate PRIVATE assay_simulate)
set_target_properties(assay-simulate PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/libexec")
install(TARGETS assay-simulate DESTINATION libexec/assay)

assay_test(simulate SOURCES simulate_test.cpp simulated_cost_test.cpp DEPENDS assay_model assay_predict)
