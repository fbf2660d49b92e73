# Flags that every target of the project shares.
include(GNUInstallDirs)

set(PACC_LLVM_BIN ${LLVM_TOOLS_BINARY_DIR})

add_library(pacc_c_flags INTERFACE)
target_include_directories(pacc_c_flags INTERFACE ${PROJECT_SOURCE_DIR}/include)
target_compile_options(pacc_c_flags INTERFACE
  $<$<COMPILE_LANGUAGE:C>:-Wall -Wextra -Wconversion -fvisibility=hidden>)

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
