# What `cmake --install` puts beside the program: the man page and the completion that the program writes itself, and, as
# the component "development", the libraries and headers for find_package(assay).
set(ASSAY_LIBRARIES core stats network platform machine process plan store queries load rank measure vet compare tune model simulation predict report)

if(NOT ASSAY_SANITIZE)
  set(manual "${CMAKE_BINARY_DIR}/share/man/man1/assay.1")
  set(completion "${CMAKE_BINARY_DIR}/share/bash-completion/completions/assay")
  add_custom_command(
    OUTPUT "${manual}.gz" "${completion}"
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${CMAKE_BINARY_DIR}/share/man/man1"
            "${CMAKE_BINARY_DIR}/share/bash-completion/completions"
    COMMAND assay manual > "${manual}"
    COMMAND gzip -9nf "${manual}"
    COMMAND assay completion > "${completion}"
    DEPENDS assay
    COMMENT "Writing the man page and the completion" VERBATIM)
  add_custom_target(assay_manual ALL DEPENDS "${manual}.gz" "${completion}")
  install(FILES "${manual}.gz" DESTINATION share/man/man1)
  install(FILES "${completion}" DESTINATION share/bash-completion/completions)
endif()
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION share/doc/assay RENAME copyright)

set(targets assay_users)
set_target_properties(assay_users PROPERTIES EXPORT_NAME users)
foreach(name ${ASSAY_LIBRARIES})
  set_target_properties(assay_${name} PROPERTIES EXPORT_NAME ${name})
  list(APPEND targets assay_${name})
endforeach()
install(TARGETS ${targets} EXPORT assay ARCHIVE DESTINATION lib COMPONENT development)
install(EXPORT assay NAMESPACE assay:: FILE assayTargets.cmake DESTINATION lib/cmake/assay COMPONENT development)

# Headers of tests stay here: they end in _fixture.hpp.
foreach(folder core stats network platform process plan store load measure vet compare tune model predict report)
  set(place "${PROJECT_SOURCE_DIR}/assay/${folder}")
  file(GLOB_RECURSE headers RELATIVE "${PROJECT_SOURCE_DIR}" CONFIGURE_DEPENDS "${place}/*.hpp" "${place}/*.inc")
  list(FILTER headers EXCLUDE REGEX "_fixture\\.hpp$")
  foreach(header ${headers})
    get_filename_component(within "${header}" DIRECTORY)
    install(FILES "${PROJECT_SOURCE_DIR}/${header}" DESTINATION "include/${within}" COMPONENT development)
  endforeach()
endforeach()

include(CMakePackageConfigHelpers)
configure_package_config_file(cmake/assayConfig.cmake.in "${CMAKE_BINARY_DIR}/assayConfig.cmake"
                              INSTALL_DESTINATION lib/cmake/assay)
# Before 1.0 each minor version may change the interface.
write_basic_package_version_file("${CMAKE_BINARY_DIR}/assayConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/assayConfig.cmake" "${CMAKE_BINARY_DIR}/assayConfigVersion.cmake"
        DESTINATION lib/cmake/assay COMPONENT development)
