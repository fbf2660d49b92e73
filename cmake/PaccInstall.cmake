# What `cmake --install` lays down beside the targets (each folder installs
# its own, into the export set PollyACCTargets): documents and the package that
# find_package(PollyACC) reads. All paths in it are relative to the package's
# own place, so that the tree can be moved.
include(CMakePackageConfigHelpers)
set(pacc_package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/PollyACC)

install(EXPORT PollyACCTargets NAMESPACE PollyACC::
  DESTINATION ${pacc_package_folder})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/PollyACCConfig.cmake.in
  ${PROJECT_BINARY_DIR}/cmake/PollyACCConfig.cmake
  INSTALL_DESTINATION ${pacc_package_folder})
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/cmake/PollyACCConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cmake/PollyACCConfig.cmake
  ${PROJECT_BINARY_DIR}/cmake/PollyACCConfigVersion.cmake
  DESTINATION ${pacc_package_folder})

install(FILES docs/man/polly-acc.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
# What the README links to, where it expects it.
install(FILES README.md CONTRIBUTING.md LICENSE
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR}
  PATTERN man EXCLUDE)
install(FILES polybench/README.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR}/polybench)
install(DIRECTORY polybench/results
  DESTINATION ${CMAKE_INSTALL_DOCDIR}/polybench PATTERN runs EXCLUDE)
install(DIRECTORY polybench/peers/cublas polybench/peers/openmp
  DESTINATION ${CMAKE_INSTALL_DOCDIR}/polybench/peers)
install(DIRECTORY lib/Model/calibrate
  DESTINATION ${CMAKE_INSTALL_DOCDIR}/lib/Model)
