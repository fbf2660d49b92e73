# Finds a CUDA toolkit, for ptxas, libdevice and headers. Nothing of it is
# needed to build the project; tests and the wrapper's defaults use it.
#   PACC_CUDA_PATH     its folder; set it to choose one, `none` for no toolkit
#   PACC_PTXAS         <toolkit>/bin/ptxas, or empty
#   PACC_LIBDEVICE     <toolkit>/nvvm/libdevice/libdevice.10.bc, or empty
#   PACC_CUDA_VERSION  "13.0", or empty
set(pacc_cuda_parts bin/ptxas nvvm/libdevice/libdevice.10.bc include/cuda.h)
function(pacc_is_toolkit folder result)
  set(${result} FALSE PARENT_SCOPE)
  foreach(part ${pacc_cuda_parts})
    if(EXISTS ${folder}/${part})
      set(${result} TRUE PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

if(NOT DEFINED CACHE{PACC_CUDA_PATH})
  find_program(PACC_NVCC nvcc HINTS ENV CUDA_PATH ENV CUDA_HOME
    PATHS /usr/local/cuda PATH_SUFFIXES bin NO_CACHE)
  set(pacc_cuda_prefix none)
  if(PACC_NVCC)
    get_filename_component(pacc_cuda_prefix ${PACC_NVCC} REALPATH)
    get_filename_component(pacc_cuda_prefix ${pacc_cuda_prefix} DIRECTORY)
    get_filename_component(pacc_cuda_prefix ${pacc_cuda_prefix} DIRECTORY)
  endif()
  pacc_is_toolkit(${pacc_cuda_prefix} pacc_cuda_found)
  if(NOT pacc_cuda_found)
    set(pacc_cuda_prefix none)
  endif()
  foreach(variable CUDA_PATH CUDA_HOME)
    if(NOT "$ENV{${variable}}" STREQUAL "" AND NOT EXISTS $ENV{${variable}}/bin/nvcc)
      message(WARNING "${variable}=$ENV{${variable}} is no CUDA toolkit; taking "
        ${pacc_cuda_prefix})
    endif()
  endforeach()
  set(PACC_CUDA_PATH ${pacc_cuda_prefix} CACHE PATH "CUDA toolkit, or none")
endif()

# Explicit, and wrong: better said now than found out later.
pacc_is_toolkit(${PACC_CUDA_PATH} pacc_cuda_found)
if(NOT pacc_cuda_found AND NOT PACC_CUDA_PATH STREQUAL none)
  message(FATAL_ERROR "PACC_CUDA_PATH=${PACC_CUDA_PATH} is no CUDA toolkit: it \
has none of ${pacc_cuda_parts}. Name a toolkit, or none.")
endif()

set(PACC_PTXAS "")
set(PACC_LIBDEVICE "")
set(PACC_CUDA_VERSION "")
if(EXISTS ${PACC_CUDA_PATH}/bin/ptxas)
  set(PACC_PTXAS ${PACC_CUDA_PATH}/bin/ptxas)
endif()
if(EXISTS ${PACC_CUDA_PATH}/nvvm/libdevice/libdevice.10.bc)
  set(PACC_LIBDEVICE ${PACC_CUDA_PATH}/nvvm/libdevice/libdevice.10.bc)
endif()
if(EXISTS ${PACC_CUDA_PATH}/include/cuda.h)
  file(STRINGS ${PACC_CUDA_PATH}/include/cuda.h pacc_cuda_line
    REGEX "^#define CUDA_VERSION [0-9]+")
  string(REGEX REPLACE ".* ([0-9]+)$" "\\1" pacc_cuda_number "${pacc_cuda_line}")
  math(EXPR pacc_cuda_major "${pacc_cuda_number} / 1000")
  math(EXPR pacc_cuda_minor "${pacc_cuda_number} % 1000 / 10")
  set(PACC_CUDA_VERSION ${pacc_cuda_major}.${pacc_cuda_minor})
endif()
message(STATUS "CUDA: ${PACC_CUDA_PATH} (version ${PACC_CUDA_VERSION})")
