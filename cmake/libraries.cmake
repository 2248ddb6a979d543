# The libraries of the build, as targets: ZLIB::ZLIB, PkgConfig::JSONC, PkgConfig::LZ4,
# PkgConfig::MINIZIP, ck. Each one that is missing is
# named with its Debian package, all at once.
set(missing "")
find_package(ZLIB QUIET)
if(NOT ZLIB_FOUND)
  string(APPEND missing "\n  zlib: apt-get install zlib1g-dev")
endif()

find_package(PkgConfig QUIET)
if(NOT PKG_CONFIG_FOUND)
  string(APPEND missing "\n  pkg-config, which finds the others: apt-get install pkg-config")
else()
  pkg_check_modules(JSONC QUIET IMPORTED_TARGET json-c)
  if(NOT JSONC_FOUND)
    string(APPEND missing "\n  json-c: apt-get install libjson-c-dev")
  endif()
  pkg_check_modules(LZ4 QUIET IMPORTED_TARGET liblz4)
  if(NOT LZ4_FOUND)
    string(APPEND missing "\n  LZ4: apt-get install liblz4-dev")
  endif()
  pkg_check_modules(MINIZIP QUIET IMPORTED_TARGET minizip)
  if(NOT MINIZIP_FOUND)
    string(APPEND missing "\n  minizip: apt-get install libminizip-dev")
  endif()
  pkg_check_modules(CK QUIET ck)
endif()

# Optional, for the bbflow command only: what needs one says so when it is missing.
if(PKG_CONFIG_FOUND)
  pkg_check_modules(NCURSESW QUIET IMPORTED_TARGET ncursesw)
  if(NOT NCURSESW_FOUND)
    message(STATUS "bbflow top only with --once; the screen needs: apt-get install libncurses-dev")
  endif()
endif()

# Static: the agent is one file that needs no library which the JVM's machine may lack (design.md: libraries).
find_library(CK_ARCHIVE libck.a HINTS ${CK_LIBRARY_DIRS})
find_path(CK_INCLUDE ck_epoch.h HINTS ${CK_INCLUDE_DIRS})
mark_as_advanced(CK_ARCHIVE CK_INCLUDE)
if(NOT CK_ARCHIVE OR NOT CK_INCLUDE)
  string(APPEND missing "\n  Concurrency Kit (libck.a, ck_epoch.h): apt-get install libck-dev")
endif()

if(missing)
  message(FATAL_ERROR "bbflow needs libraries that were not found:${missing}\n"
                      "scripts/install build installs all that the build needs.")
endif()
add_library(ck STATIC IMPORTED GLOBAL)
set_target_properties(ck PROPERTIES IMPORTED_LOCATION "${CK_ARCHIVE}"
                                    INTERFACE_INCLUDE_DIRECTORIES "${CK_INCLUDE}")
