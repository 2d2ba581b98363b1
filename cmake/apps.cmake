# hearth_app(<name> SRCS ... [DEPS ...] [TESTS ...] [WEB ...])
#
# The application in apps/<name>: the library app_<name>, included as "apps/<name>/...". WEB lists the entries
# of its page in apps/<name>/web. Its firestore.indexes.json becomes IndexConfigJson(), which <name>.h
# declares.
function(hearth_app name)
  cmake_parse_arguments(A "" "" "SRCS;DEPS;TESTS;WEB" ${ARGN})
  if(A_WEB)
    hearth_web(${name} FOLDER apps/${name}/web ENTRIES ${A_WEB})
    list(APPEND A_DEPS web_${name})
  endif()
  set(indexes ${CMAKE_CURRENT_SOURCE_DIR}/firestore.indexes.json)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${indexes})
  file(READ ${indexes} index_config_json)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/app_indexes.cc.in
    ${CMAKE_CURRENT_BINARY_DIR}/${name}_indexes.cc @ONLY)
  list(APPEND A_SRCS ${CMAKE_CURRENT_BINARY_DIR}/${name}_indexes.cc)
  hearth_module(app_${name} SRCS ${A_SRCS} DEPS ${A_DEPS} TESTS ${A_TESTS})
  target_include_directories(hearth_app_${name} PUBLIC ${PROJECT_SOURCE_DIR})
endfunction()
