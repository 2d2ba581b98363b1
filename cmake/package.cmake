# `cmake --install`: the client libraries, with everything they depend on, as the CMake package Hearth.
#
#   find_package(Hearth REQUIRED)                      all of it
#   find_package(Hearth REQUIRED COMPONENTS embedded)  without libcurl, libjwt and protobuf
#   find_package(Hearth REQUIRED COMPONENTS remote)    without RocksDB
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(HEARTH_COMMON_MODULES base model query request client)
set(HEARTH_EMBEDDED_MODULES
  sodium storage vector index documents execution watch transactions indexing expiry commit engine
  client_embedded)
set(HEARTH_REMOTE_MODULES protocol libjwt wire client_remote)

foreach(module IN LISTS HEARTH_COMMON_MODULES HEARTH_EMBEDDED_MODULES HEARTH_REMOTE_MODULES)
  target_include_directories(hearth_${module} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endforeach()
install(CODE "
  execute_process(COMMAND_ERROR_IS_FATAL ANY COMMAND python3
    ${PROJECT_SOURCE_DIR}/tools/public_headers.py ${PROJECT_SOURCE_DIR}/src
    \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}/hearth\")")

set(HEARTH_PACKAGE ${CMAKE_INSTALL_LIBDIR}/cmake/Hearth)
foreach(part Common Embedded Remote)
  string(TOUPPER ${part} upper)
  list(TRANSFORM HEARTH_${upper}_MODULES PREPEND hearth_ OUTPUT_VARIABLE targets)
  install(TARGETS ${targets} EXPORT Hearth${part}Targets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/hearth)
  install(EXPORT Hearth${part}Targets NAMESPACE Hearth:: DESTINATION ${HEARTH_PACKAGE})
endforeach()
write_basic_package_version_file(${CMAKE_BINARY_DIR}/HearthConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_LIST_DIR}/HearthConfig.cmake
  ${CMAKE_BINARY_DIR}/HearthConfigVersion.cmake DESTINATION ${HEARTH_PACKAGE})
