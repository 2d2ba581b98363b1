# hearth_module(<name> SRCS ... [DEPS ...] [TESTS ...])
#
# One folder, one static library, explicit sources. The <name>_links program pulls in the whole
# archive with only its declared DEPS, so a use of an undeclared module fails at link time.
set(HEARTH_WARNINGS -Wall -Wextra -Wshadow -Wconversion -Werror)
file(WRITE ${CMAKE_BINARY_DIR}/empty_main.cc "int main() { return 0; }\n")

function(hearth_module name)
  cmake_parse_arguments(M "" "" "SRCS;DEPS;TESTS" ${ARGN})
  add_library(${name} STATIC ${M_SRCS})
  target_include_directories(${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>)
  target_compile_options(${name} PRIVATE ${HEARTH_WARNINGS})
  target_link_libraries(${name} PUBLIC ${M_DEPS} Threads::Threads)
  if(HEARTH_LINK_CHECKS)
    add_executable(${name}_links ${CMAKE_BINARY_DIR}/empty_main.cc)
    target_link_libraries(${name}_links PRIVATE "$<LINK_LIBRARY:WHOLE_ARCHIVE,${name}>")
  endif()
  foreach(test_source IN LISTS M_TESTS)
    get_filename_component(test_name ${test_source} NAME_WE)
    hearth_test(${name}_${test_name} SRCS ${test_source} DEPS ${name})
  endforeach()
endfunction()

# hearth_test(<name> SRCS ... DEPS ...): one GoogleTest program, run by ctest.
function(hearth_test name)
  cmake_parse_arguments(T "" "" "SRCS;DEPS" ${ARGN})
  add_executable(${name} ${T_SRCS})
  target_compile_options(${name} PRIVATE ${HEARTH_WARNINGS})
  target_link_libraries(${name} PRIVATE ${T_DEPS} GTest::gmock_main)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 600)
  foreach(test_source IN LISTS T_SRCS)
    file(REAL_PATH ${test_source} listed BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    set_property(GLOBAL APPEND PROPERTY HEARTH_LISTED_TESTS ${listed})
  endforeach()
endfunction()

# Fails the configure step when a *_test.cc file belongs to no target.
function(hearth_check_every_test_is_listed)
  get_property(listed GLOBAL PROPERTY HEARTH_LISTED_TESTS)
  file(GLOB_RECURSE found CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/src/*_test.cc ${PROJECT_SOURCE_DIR}/apps/*_test.cc
    ${PROJECT_SOURCE_DIR}/test/*_test.cc)
  # Those are parts of suites, which others run.
  list(FILTER found EXCLUDE REGEX "/testing/")
  foreach(test_source IN LISTS found)
    if(NOT test_source IN_LIST listed)
      message(FATAL_ERROR "${test_source} is listed by no target")
    endif()
  endforeach()
endfunction()
