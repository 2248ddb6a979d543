# Whether the tests are built: BBF_TESTS=AUTO (where their packages are found), ON (required, as in the
# presets of CI) or OFF. BUILD_TESTING=OFF, the name that packagers know, also turns them off.
# Sets BBF_WITH_TESTS; finds PkgConfig::CMOCKA and Python3.
set(BBF_TESTS AUTO CACHE STRING "Build the tests: AUTO (if their packages are found), ON or OFF")
set_property(CACHE BBF_TESTS PROPERTY STRINGS AUTO ON OFF)
set(BBF_WITH_TESTS OFF)
if(DEFINED BUILD_TESTING AND NOT BUILD_TESTING)
  set(BBF_TESTS OFF)
endif()

if(BBF_TESTS)
  set(missing "")
  pkg_check_modules(CMOCKA QUIET IMPORTED_TARGET cmocka)
  if(NOT CMOCKA_FOUND)
    list(APPEND missing libcmocka-dev)
  endif()
  if(NOT CMAKE_CROSSCOMPILING) # Python's part does not run there
    find_package(Python3 QUIET COMPONENTS Interpreter)
    set(status 1)
    if(Python3_FOUND)
      execute_process(COMMAND ${Python3_EXECUTABLE} -c "import jsonschema" RESULT_VARIABLE status
                      OUTPUT_QUIET ERROR_QUIET)
    else()
      list(APPEND missing python3)
    endif()
    if(NOT status EQUAL 0)
      list(APPEND missing python3-jsonschema)
    endif()
  endif()
  list(JOIN missing " " packages)
  if(NOT missing)
    set(BBF_WITH_TESTS ON)
  elseif(BBF_TESTS STREQUAL "AUTO")
    message(STATUS "Tests are not built; they need: apt-get install ${packages}")
  else()
    message(FATAL_ERROR "BBF_TESTS=ON needs: apt-get install ${packages} (scripts/install test "
                        "installs all; -DBBF_TESTS=OFF builds without tests)")
  endif()
endif()
