# What people run is compiled so that a memory error ends the process instead of giving it away. Debug builds
# have sanitizers instead.
include(CheckCXXCompilerFlag)
include(CheckPIESupported)
check_pie_supported(LANGUAGES CXX)

set(HEARTH_HARDENED OFF)
if(CMAKE_BUILD_TYPE MATCHES "^(Release|RelWithDebInfo|MinSizeRel)$")
  set(HEARTH_HARDENED ON)
  # Checked calls of the C library. 3 also checks sizes that are known only at run time.
  add_compile_options(-D_FORTIFY_SOURCE=3 -fstack-protector-strong)
  foreach(flag -fstack-clash-protection -fcf-protection)
    string(MAKE_C_IDENTIFIER "HEARTH_HAS${flag}" supported)
    check_cxx_compiler_flag(${flag} ${supported})
    if(${supported})
      add_compile_options(${flag})
    endif()
  endforeach()
  # All symbols are resolved at the start, and their table is then read-only.
  add_link_options(LINKER:-z,relro LINKER:-z,now LINKER:-z,noexecstack)
endif()
