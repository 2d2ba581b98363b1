# `cmake --install`: the client libraries, with all that they stand on, as the CMake package Hearth.
#
#   find_package(Hearth REQUIRED)                      all of it
#   find_package(Hearth REQUIRED COMPONENTS embedded)  without libcurl, libjwt and protobuf
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(HEARTH_EMBEDDED_MODULES
  base model storage vector index query watch engine client client_embedded)
set(HEARTH_REMOTE_MODULES protocol libjwt wire client_remote)

# Headers keep their folders below include/hearth, because they include one another by them.
set(HEARTH_INCLUDE ${CMAKE_INSTALL_INCLUDEDIR}/hearth)
foreach(module IN LISTS HEARTH_EMBEDDED_MODULES HEARTH_REMOTE_MODULES)
  target_include_directories(${module} INTERFACE
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}> $<INSTALL_INTERFACE:${HEARTH_INCLUDE}>)
endforeach()
foreach(folder base model storage vector index query watch engine client)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/${folder} DESTINATION ${HEARTH_INCLUDE}
    FILES_MATCHING PATTERN "*.h"
    PATTERN testing EXCLUDE
    REGEX "client/(grpc_|query_proto|remote_transport|service_account|hearth\\.h)" EXCLUDE)
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/src/client/hearth.h DESTINATION ${HEARTH_INCLUDE})

set(HEARTH_PACKAGE ${CMAKE_INSTALL_LIBDIR}/cmake/Hearth)
foreach(part Embedded Remote)
  string(TOUPPER ${part} upper)
  install(TARGETS ${HEARTH_${upper}_MODULES} EXPORT Hearth${part}Targets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/hearth)
  install(EXPORT Hearth${part}Targets NAMESPACE Hearth:: DESTINATION ${HEARTH_PACKAGE})
endforeach()
write_basic_package_version_file(${CMAKE_BINARY_DIR}/HearthConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_LIST_DIR}/HearthConfig.cmake
  ${CMAKE_BINARY_DIR}/HearthConfigVersion.cmake DESTINATION ${HEARTH_PACKAGE})
