# pacc_add_unit_test(NAME SOURCES file.c... LIBS target...): a cmocka program
# in build/bin/test that ctest runs.
include(FindPkgConfig)
pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)

function(pacc_add_unit_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE pacc_c_flags ${ARG_LIBS} PkgConfig::CMOCKA)
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin/test)
  add_test(NAME ${name} COMMAND ${name})
endfunction()
