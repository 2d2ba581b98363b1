# The C++ client of Hearth. Components: embedded (Hearth::client_embedded) and remote (Hearth::client_remote);
# both, unless COMPONENTS names some. Each includes Hearth::client.
include(CMakeFindDependencyMacro)

if(NOT Hearth_FIND_COMPONENTS)
  set(Hearth_FIND_COMPONENTS embedded remote)
endif()

find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/HearthCommonTargets.cmake)

if(embedded IN_LIST Hearth_FIND_COMPONENTS)
  find_dependency(RocksDB)
  find_dependency(ZLIB)
  find_dependency(OpenSSL)
  find_dependency(nlohmann_json)
  include(${CMAKE_CURRENT_LIST_DIR}/HearthEmbeddedTargets.cmake)
  set(Hearth_embedded_FOUND TRUE)
endif()

if(remote IN_LIST Hearth_FIND_COMPONENTS)
  find_dependency(Protobuf)
  find_dependency(CURL)
  find_dependency(nlohmann_json)
  include(${CMAKE_CURRENT_LIST_DIR}/HearthRemoteTargets.cmake)
  set(Hearth_remote_FOUND TRUE)
endif()

foreach(component IN LISTS Hearth_FIND_COMPONENTS)
  if(Hearth_FIND_REQUIRED_${component} AND NOT Hearth_${component}_FOUND)
    set(Hearth_FOUND FALSE)
    set(Hearth_NOT_FOUND_MESSAGE "Hearth has no component ${component}")
  endif()
endforeach()
