# The `protocol` library: C++ classes for google.firestore.v1, generated at build time from the
# .proto files of the npm package google-proto-files.
set(PROTO_ROOT ${PROJECT_SOURCE_DIR}/node_modules/google-proto-files)
set(PROTO_OUT ${CMAKE_BINARY_DIR}/protocol)
if(NOT EXISTS ${PROTO_ROOT}/google/firestore/v1/firestore.proto)
  message(FATAL_ERROR "google-proto-files is missing: run `make setup` (or `npm ci`) first")
endif()

set(PROTO_FILES
  google/api/annotations.proto google/api/client.proto google/api/field_behavior.proto
  google/api/http.proto google/api/launch_stage.proto google/api/routing.proto
  google/rpc/status.proto google/type/latlng.proto)
file(GLOB firestore_protos RELATIVE ${PROTO_ROOT} ${PROTO_ROOT}/google/firestore/v1/*.proto)
list(APPEND PROTO_FILES ${firestore_protos})

# The web and mobile SDKs send one kind of write that is missing from the published files.
set(PROTO_AMENDED ${CMAKE_BINARY_DIR}/protocol_amended)
set(WRITE_PROTO google/firestore/v1/write.proto)
file(READ ${PROTO_ROOT}/${WRITE_PROTO} write_proto)
string(REPLACE "    string delete = 2;\n" "    string delete = 2;\n    string verify = 5;\n"
  write_proto_amended "${write_proto}")
if(NOT write_proto MATCHES "string verify = 5;" AND write_proto STREQUAL write_proto_amended)
  message(FATAL_ERROR "${WRITE_PROTO} is not as expected: `verify` cannot be added to it")
endif()
file(CONFIGURE OUTPUT ${PROTO_AMENDED}/${WRITE_PROTO} CONTENT "${write_proto_amended}" @ONLY)

file(MAKE_DIRECTORY ${PROTO_OUT})
foreach(proto IN LISTS PROTO_FILES)
  string(REGEX REPLACE "\\.proto$" "" stem ${proto})
  add_custom_command(
    OUTPUT ${PROTO_OUT}/${stem}.pb.cc ${PROTO_OUT}/${stem}.pb.h
    COMMAND protobuf::protoc --proto_path=${PROTO_AMENDED} --proto_path=${PROTO_ROOT}
            --cpp_out=${PROTO_OUT} ${proto}
    DEPENDS ${PROTO_ROOT}/${proto} ${PROTO_AMENDED}/${WRITE_PROTO}
    VERBATIM)
  list(APPEND PROTO_SOURCES ${PROTO_OUT}/${stem}.pb.cc)
endforeach()

add_library(hearth_protocol STATIC ${PROTO_SOURCES})
if(NOT HEARTH_HARDENED)
  # Bugs in generated code are out of scope, and it is a sixth of what sanitizer builds compile.
  target_compile_options(hearth_protocol PRIVATE -O0 -g0
    $<$<BOOL:${HEARTH_FUZZ}>:-fno-sanitize=undefined,fuzzer-no-link>)
endif()
target_include_directories(hearth_protocol SYSTEM PUBLIC $<BUILD_INTERFACE:${PROTO_OUT}>)
target_link_libraries(hearth_protocol PUBLIC protobuf::libprotobuf)
set_target_properties(hearth_protocol PROPERTIES EXPORT_NAME protocol)
