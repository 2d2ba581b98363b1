# hearth_web(<name> FOLDER <folder> ENTRIES <file>...)
#
# The library web_<name> (hearth_libraries): the page in FOLDER, bundled by esbuild, as C++. Include
# "<name>_assets.h" for hearth::<name>::<Name>Assets(). Rebuilt when one of its source files changes; a new
# file is noticed at the next configure.
find_program(NODE node REQUIRED)

# Runs a file of tests. At the end of a process, Node closes what is still open, and sometimes waits
# forever for a handle of a process that was killed. Versions from 20.14 can exit without that.
set(HEARTH_NODE_TEST ${NODE} --test)
execute_process(COMMAND ${NODE} --test-force-exit --version
  RESULT_VARIABLE force_exit_failed OUTPUT_QUIET ERROR_QUIET)
if(NOT force_exit_failed)
  list(APPEND HEARTH_NODE_TEST --test-force-exit)
endif()
set(HEARTH_EMBED ${PROJECT_SOURCE_DIR}/tools/embed_assets.mjs)
if(NOT EXISTS ${PROJECT_SOURCE_DIR}/node_modules/esbuild/package.json)
  message(FATAL_ERROR "esbuild is missing: run `make setup` (or `npm ci`) first")
endif()

function(hearth_web name)
  cmake_parse_arguments(W "" "FOLDER" "ENTRIES" ${ARGN})
  set(folder ${PROJECT_SOURCE_DIR}/${W_FOLDER})
  set(out ${CMAKE_BINARY_DIR}/web/${name})
  file(MAKE_DIRECTORY ${out})
  string(SUBSTRING ${name} 0 1 initial)
  string(SUBSTRING ${name} 1 -1 rest)
  string(TOUPPER ${initial} initial)
  file(GLOB files CONFIGURE_DEPENDS ${folder}/*)
  add_custom_command(
    OUTPUT ${out}/${name}_assets.cc ${out}/${name}_assets.h
    COMMAND ${NODE} ${HEARTH_EMBED} ${folder} ${name} ${initial}${rest}Assets ${out}/${name}_assets.h
            ${out}/${name}_assets.cc ${out}/${name}_assets.d ${W_ENTRIES}
    DEPENDS ${HEARTH_EMBED} ${PROJECT_SOURCE_DIR}/package.json ${PROJECT_SOURCE_DIR}/node_modules/esbuild/package.json
            ${files}
    DEPFILE ${out}/${name}_assets.d
    COMMENT "Bundling ${W_FOLDER}"
    VERBATIM)
  add_library(hearth_web_${name} STATIC ${out}/${name}_assets.cc ${out}/${name}_assets.h)
  target_include_directories(hearth_web_${name} PUBLIC ${out} ${PROJECT_SOURCE_DIR}/src)
  target_compile_options(hearth_web_${name} PRIVATE ${HEARTH_WARNINGS})
endfunction()
