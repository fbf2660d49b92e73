# Flags that every target of the project shares.
include(GNUInstallDirs)

set(PACC_LLVM_BIN ${LLVM_TOOLS_BINARY_DIR})

# Exported as an empty shell, since the static runtime links it.
add_library(pacc_c_flags INTERFACE)
target_include_directories(pacc_c_flags INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_options(pacc_c_flags INTERFACE
  "$<BUILD_INTERFACE:$<$<COMPILE_LANGUAGE:C>:-Wall;-Wextra;-Wconversion;-fvisibility=hidden>>")
install(TARGETS pacc_c_flags EXPORT PollyACCTargets)

# Code that includes LLVM's, Polly's or isl's headers. Nothing of them is
# linked: the symbols come from the libLLVM of the process (opt, clang) that
# loads the plugin.
add_library(pacc_llvm_flags INTERFACE)
separate_arguments(pacc_llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_options(pacc_llvm_flags INTERFACE ${pacc_llvm_definitions}
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wno-unused-parameter -fno-rtti
    -fno-exceptions -fvisibility=hidden -fvisibility-inlines-hidden>)
target_include_directories(pacc_llvm_flags SYSTEM INTERFACE
  ${LLVM_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS}/polly)
