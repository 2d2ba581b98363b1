# Libraries are targets called hearth_<name>, to avoid name collisions. Our own files call them <name>.
#
# hearth_libraries(<variable> <name>...): the targets of these libraries. External targets have a "::" in
# their names and are left unchanged.
function(hearth_libraries variable)
  list(TRANSFORM ARGN PREPEND hearth_ REGEX "^[a-z0-9_]+$" OUTPUT_VARIABLE result)
  set(${variable} ${result} PARENT_SCOPE)
endfunction()

# hearth_external(<name> <library>...): an external library without a CMake target.
function(hearth_external name)
  add_library(hearth_${name} INTERFACE)
  target_link_libraries(hearth_${name} INTERFACE ${ARGN})
  set_target_properties(hearth_${name} PROPERTIES EXPORT_NAME ${name})
endfunction()

# hearth_module(<name> SRCS ... [DEPS ...] [TESTS ...] [TEST_DEPS ...])
#
# One folder, one static library, explicit sources. The <name>_links program pulls in the whole archive with
# only its declared DEPS, so a use of an undeclared module fails at link time. TESTS become one program,
# <name>_test, which may also use TEST_DEPS. HEARTH_UNOPTIMISED: modules declared after it is set are compiled
# without optimisation.
set(HEARTH_WARNINGS -Wall -Wextra -Wshadow -Wconversion -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 reports false uninitialised members in every optional of a variant. Clang finds the real ones.
  list(APPEND HEARTH_WARNINGS -Wno-maybe-uninitialized)
  if(CMAKE_CXX_FLAGS_DEBUG MATCHES "sanitize=thread")
    # With ThreadSanitizer it also reports that moving a string reads beyond its inline buffer.
    list(APPEND HEARTH_WARNINGS -Wno-array-bounds -Wno-stringop-overread -Wno-stringop-overflow)
  endif()
endif()
file(WRITE ${CMAKE_BINARY_DIR}/empty_main.cc "int main() { return 0; }\n")

# All modules, which Clang analyses even if only some tests are built.
add_custom_target(modules)

function(hearth_module name)
  cmake_parse_arguments(M "" "" "SRCS;DEPS;TESTS;TEST_DEPS" ${ARGN})
  hearth_combine(sources ${name} ${M_SRCS})
  hearth_libraries(dependencies ${M_DEPS})
  add_library(hearth_${name} STATIC ${sources})
  set_target_properties(hearth_${name} PROPERTIES EXPORT_NAME ${name})
  add_dependencies(modules hearth_${name})
  target_include_directories(hearth_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>)
  target_compile_options(hearth_${name} PRIVATE ${HEARTH_WARNINGS})
  target_link_libraries(hearth_${name} PUBLIC ${dependencies} Threads::Threads)
  if(HEARTH_UNOPTIMISED)
    target_compile_options(hearth_${name} PRIVATE -O0)
    hearth_precompile(hearth_${name} unoptimised_modules)
  else()
    hearth_precompile(hearth_${name} modules)
  endif()
  if(HEARTH_LINK_CHECKS)
    add_executable(${name}_links ${CMAKE_BINARY_DIR}/empty_main.cc)
    target_link_libraries(${name}_links PRIVATE "$<LINK_LIBRARY:WHOLE_ARCHIVE,hearth_${name}>")
    add_dependencies(tests ${name}_links)
  endif()
  if(M_TESTS)
    hearth_test(${name}_test SRCS ${M_TESTS} DEPS ${name} ${M_TEST_DEPS})
  endif()
endfunction()

# Tests compute little themselves. Without optimisation they compile in a third of the time. Objects and
# programs use the same options, so that they can share a precompiled header.
# The C library's checked calls require optimisation.
set(HEARTH_TEST_OPTIONS ${HEARTH_WARNINGS} -O0 -fPIC -U_FORTIFY_SOURCE)
if(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
  list(APPEND HEARTH_TEST_OPTIONS -g0)  # Failures report their own location.
endif()
if(HEARTH_FUZZ)
  # Both are meant for the modules, and double the compile time of tests.
  list(APPEND HEARTH_TEST_OPTIONS -fno-sanitize=undefined,fuzzer-no-link)
endif()

# hearth_support(<name> [OPTIMISED] SRCS ... DEPS ...): a library shared by tests. OPTIMISED: it is
# compute-intensive, or benchmarks use it.
function(hearth_support name)
  cmake_parse_arguments(S "OPTIMISED" "" "SRCS;DEPS" ${ARGN})
  hearth_combine(sources ${name} ${S_SRCS})
  hearth_libraries(dependencies ${S_DEPS})
  add_library(hearth_${name} STATIC ${sources})
  target_link_libraries(hearth_${name} PUBLIC ${dependencies})
  if(S_OPTIMISED)
    target_compile_options(hearth_${name} PRIVATE ${HEARTH_WARNINGS})
    hearth_precompile(hearth_${name} modules)
  else()
    target_compile_options(hearth_${name} PRIVATE ${HEARTH_TEST_OPTIONS})
    hearth_precompile(hearth_${name} tests)
  endif()
endfunction()

# hearth_suite(<name> SRCS ... DEPS ...): tests that several programs run, each on its own implementation.
# They are objects, because nothing refers to them by name.
function(hearth_suite name)
  cmake_parse_arguments(S "" "" "SRCS;DEPS" ${ARGN})
  hearth_combine(sources ${name} ${S_SRCS})
  hearth_libraries(dependencies ${S_DEPS})
  add_library(hearth_${name} OBJECT ${sources})
  target_compile_options(hearth_${name} PRIVATE ${HEARTH_TEST_OPTIONS})
  target_link_libraries(hearth_${name} PUBLIC ${dependencies} GTest::gmock)
  hearth_precompile(hearth_${name} tests)
endfunction()

# Everything that ctest runs, and the link checks. Benchmarks are not included.
add_custom_target(tests)

# hearth_test(<name> SRCS ... DEPS ...): one GoogleTest program, run by ctest.
function(hearth_test name)
  cmake_parse_arguments(T "" "" "SRCS;DEPS" ${ARGN})
  hearth_combine(sources ${name} ${T_SRCS})
  add_executable(${name} ${sources})
  target_compile_options(${name} PRIVATE ${HEARTH_TEST_OPTIONS})
  hearth_libraries(dependencies ${T_DEPS})
  target_link_libraries(${name} PRIVATE ${dependencies} GTest::gmock_main)
  hearth_precompile(${name} tests)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 1200)
  add_dependencies(tests ${name})
  foreach(test_source IN LISTS T_SRCS)
    file(REAL_PATH ${test_source} listed BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    set_property(GLOBAL APPEND PROPERTY HEARTH_LISTED_TESTS ${listed})
  endforeach()
endfunction()

# hearth_combine(<variable> <name> <source>...)
#
# Sets <variable> to files that include the sources, HEARTH_COMBINED of them each: headers are then read once
# for many sources, which halves the time of a full build. Sources with their own compile options stay
# separate. The files name the sources by paths relative to the project's folder, so that all clones can share the
# compiler cache; CMake's own unity builds use absolute paths.
function(hearth_combine variable name)
  set(result)
  set(combined 0)
  foreach(source IN LISTS ARGN)
    file(REAL_PATH ${source} path BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${path})
    get_source_file_property(options ${source} COMPILE_OPTIONS)
    if(options OR HEARTH_COMBINED LESS 2)
      list(APPEND result ${source})
      continue()
    endif()
    math(EXPR number "${combined} / ${HEARTH_COMBINED}")
    math(EXPR combined "${combined} + 1")
    string(APPEND content_${number} "#include \"${path}\"\n")
    list(APPEND numbers ${number})
  endforeach()
  list(REMOVE_DUPLICATES numbers)
  foreach(number IN LISTS numbers)
    set(file ${CMAKE_BINARY_DIR}/combined/${name}_${number}.cc)
    file(CONFIGURE OUTPUT ${file} CONTENT "${content_${number}}" @ONLY)
    # GCC warns about anonymous types in fields unless the main file declares them.
    set_source_files_properties(${file} PROPERTIES INCLUDE_DIRECTORIES ${PROJECT_SOURCE_DIR}
      COMPILE_OPTIONS $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
    list(APPEND result ${file})
  endforeach()
  set(${variable} ${result} PARENT_SCOPE)
endfunction()

# Fails the configure step if a *_test.cc file belongs to no target.
function(hearth_check_every_test_is_listed)
  get_property(listed GLOBAL PROPERTY HEARTH_LISTED_TESTS)
  file(GLOB_RECURSE found CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/src/*_test.cc ${PROJECT_SOURCE_DIR}/apps/*_test.cc
    ${PROJECT_SOURCE_DIR}/test/*_test.cc)
  # These are parts of suites, which other programs run.
  list(FILTER found EXCLUDE REGEX "/testing/")
  foreach(test_source IN LISTS found)
    if(NOT test_source IN_LIST listed)
      message(FATAL_ERROR "${test_source} is listed by no target")
    endif()
  endforeach()
endfunction()
