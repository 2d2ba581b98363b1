# Headers that most sources include, compiled once: this saves a second or two per source. Sources still
# include what they use, because the `dev` preset does not precompile.
#
# CMake's target_precompile_headers would put absolute paths into its commands, and clones could not share
# Clang's output. Here all paths are relative to the build folder.
set(HEARTH_PRECOMPILED_STANDARD
  algorithm array atomic charconv chrono cmath cstdint deque filesystem fstream functional future
  limits map memory optional random set span sstream string string_view thread unordered_map utility
  variant vector)

# hearth_precompiled_header(<name> HEADERS ... OPTIONS ...)
function(hearth_precompiled_header name)
  cmake_parse_arguments(P "" "" "HEADERS;OPTIONS" ${ARGN})
  list(TRANSFORM P_HEADERS REPLACE "(.+)" "#include <\\1>\n")
  list(JOIN P_HEADERS "" content)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/precompiled/${name}.h CONTENT "${content}" @ONLY)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
  separate_arguments(flags UNIX_COMMAND "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_type}}")
  get_directory_property(directory_options COMPILE_OPTIONS)
  list(APPEND flags ${directory_options} ${P_OPTIONS} -std=c++${CMAKE_CXX_STANDARD})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # Header timestamps differ between clones.
    list(APPEND flags -Xclang -fno-pch-timestamp)
  endif()
  add_custom_command(OUTPUT precompiled/${name}.h.gch
    COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} ${CMAKE_CXX_COMPILER} ${flags}
            -x c++-header -c precompiled/${name}.h -o precompiled/${name}.h.gch
    DEPENDS ${CMAKE_BINARY_DIR}/precompiled/${name}.h
    WORKING_DIRECTORY ${CMAKE_BINARY_DIR} VERBATIM)
  add_custom_target(precompiled_${name} DEPENDS precompiled/${name}.h.gch)
endfunction()

# A precompiled header only works with the options it was compiled with, and tests are not optimised.
get_target_property(gtest_options GTest::gtest INTERFACE_COMPILE_OPTIONS)
hearth_precompiled_header(modules HEADERS ${HEARTH_PRECOMPILED_STANDARD} OPTIONS -fPIC)
hearth_precompiled_header(unoptimised_modules
  HEADERS ${HEARTH_PRECOMPILED_STANDARD} OPTIONS -fPIC -O0)
hearth_precompiled_header(tests
  HEADERS ${HEARTH_PRECOMPILED_STANDARD} gmock/gmock.h gtest/gtest.h
  OPTIONS ${HEARTH_TEST_OPTIONS} ${gtest_options})

# hearth_precompile(<target> modules|unoptimised_modules|tests)
function(hearth_precompile target name)
  if(NOT HEARTH_PRECOMPILED)
    return()
  endif()
  if(name STREQUAL "tests")
    target_compile_options(${target} PRIVATE ${gtest_options})
  endif()
  target_compile_options(${target} PRIVATE -Winvalid-pch "SHELL:-include precompiled/${name}.h")
  get_target_property(sources ${target} SOURCES)
  set_property(SOURCE ${sources} APPEND PROPERTY
    OBJECT_DEPENDS ${CMAKE_BINARY_DIR}/precompiled/${name}.h.gch)
  add_dependencies(${target} precompiled_${name})
endfunction()
