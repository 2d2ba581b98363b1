# hearth_app(<name> SRCS ... [DEPS ...] [TESTS ...] [WEB ...])
#
# The application in apps/<name>: the library app_<name>, included as "apps/<name>/...". WEB names
# the entries of its page in apps/<name>/web.
function(hearth_app name)
  cmake_parse_arguments(A "" "" "SRCS;DEPS;TESTS;WEB" ${ARGN})
  if(A_WEB)
    hearth_web(${name} FOLDER apps/${name}/web ENTRIES ${A_WEB})
    list(APPEND A_DEPS web_${name})
  endif()
  hearth_module(app_${name} SRCS ${A_SRCS} DEPS ${A_DEPS} TESTS ${A_TESTS})
  target_include_directories(app_${name} PUBLIC ${PROJECT_SOURCE_DIR})
endfunction()
