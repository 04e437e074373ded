# The C++ package: `cmake --install BUILD --component cpp --prefix X`, then
# find_package(spillway) and link spillway::spillway. Static, so a program needs nothing at run time.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)
set(spillway_package ${CMAKE_INSTALL_LIBDIR}/cmake/spillway)

install(TARGETS spillway EXPORT spillwayTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT cpp)
install(DIRECTORY include/spillway DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT cpp)
# The one header of the engine that the public ones include.
install(FILES src/spillway/base/status.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/spillway/base COMPONENT cpp)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT cpp)
install(EXPORT spillwayTargets NAMESPACE spillway:: DESTINATION ${spillway_package} COMPONENT cpp)

configure_package_config_file(cmake/spillwayConfig.cmake.in
  ${PROJECT_BINARY_DIR}/spillwayConfig.cmake INSTALL_DESTINATION ${spillway_package})
# Before 1.0 a new minor version may break.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/spillwayConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/spillwayConfig.cmake
  ${PROJECT_BINARY_DIR}/spillwayConfigVersion.cmake
  DESTINATION ${spillway_package} COMPONENT cpp)
