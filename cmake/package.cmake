# A Debian package of the component "program": `cpack -G DEB --config build/release/CPackConfig.cmake`. docs/packages.md has the rest.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME assay)
set(CPACK_PACKAGE_VENDOR Assay)
set(CPACK_PACKAGE_CONTACT "Assay maintainers <maintainers@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL program)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
    WORLD_EXECUTE)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME assay)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION
    "Assay runs workloads on the frameworks that are installed, keeps every sample,
 says what may be believed of it, and predicts steps on clusters.")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# For environments of the workers in Python; and for what starts several ranks.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "python3, python3-venv")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "openmpi-bin, libpq5, cmake, g++")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA "${PROJECT_SOURCE_DIR}/packaging/debian/prerm")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)
