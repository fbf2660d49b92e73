# shellcheck shell=bash
# setup.sh: all set-up for tools/check and tools/demo, which source it. It
# finds or installs what the build needs (Debian packages, a CUDA toolkit) and
# configures the build folder. On a machine that has everything it needs
# neither a network nor root, and takes under two seconds.
#
# Environment
#   PACC_BUILD_DIR  build folder; default build/ in the project
#   PACC_LLVM       prefix of LLVM 22; default /usr/lib/llvm-22
#   PACC_CUDA       auto (default), a toolkit's path, `wheels` (NVIDIA's Python
#                   packages, put under the build folder), or `none`
#   PACC_JOBS       parallel jobs; default the number of processors

pacc_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
pacc_build=${PACC_BUILD_DIR:-$pacc_root/build}
pacc_llvm=${PACC_LLVM:-/usr/lib/llvm-22}
pacc_jobs=${PACC_JOBS:-$(nproc)}
pacc_cuda=
# Further packages that the caller needs, as "package file" lines.
pacc_more_packages=

# The release of CUDA whose wheels are taken when there is no toolkit.
pacc_cuda_release=13.0
pacc_cuda_wheels=(nvidia-cuda-nvcc nvidia-nvvm nvidia-cuda-crt
  nvidia-cuda-runtime nvidia-cuda-cccl)

pacc_say() { printf '%s\n' "$*"; }
pacc_note() { printf 'setup: %s\n' "$*"; }
pacc_die() {
  printf 'setup: error: %s\n' "$*" >&2
  exit 1
}

# pacc_have PATTERN...: whether one of the files exists.
pacc_have() { compgen -G "$1" >/dev/null || { shift && (($#)) && pacc_have "$@"; }; }

# Prints the Debian packages that are missing. What counts is the file that is
# needed and not the package, so that an LLVM from elsewhere is as good.
pacc_missing_packages() {
  local package file
  while read -r package file; do
    [[ -z $package ]] || pacc_have "$file" || printf '%s\n' "$package"
  done <<END
clang-22 $pacc_llvm/bin/clang
clang-tools-22 $pacc_llvm/bin/clang-linker-wrapper
clang-format-22 $pacc_llvm/bin/clang-format
clang-tidy-22 $pacc_llvm/bin/clang-tidy
lld-22 $pacc_llvm/bin/ld.lld
libclang-rt-22-dev $pacc_llvm/lib/clang/22/lib/*/libclang_rt.asan*.a
llvm-22-dev $pacc_llvm/lib/cmake/llvm/LLVMConfig.cmake
llvm-22-tools $pacc_llvm/bin/FileCheck
libpolly-22-dev $pacc_llvm/include/polly/ScopInfo.h
libcmocka-dev /usr/include/cmocka.h
zlib1g-dev /usr/include/zlib.h
$pacc_more_packages
END
  command -v cmake >/dev/null || echo cmake
  command -v ninja >/dev/null || echo ninja-build
  command -v git >/dev/null || echo git
  command -v pkg-config >/dev/null || echo pkg-config
  [[ -x /usr/bin/python3 ]] || echo python3
  # lit stops tests that hang with its help.
  pacc_have '/usr/lib/python3*/*-packages/psutil/__init__.py' \
    '/usr/local/lib/python3*/*-packages/psutil/__init__.py' ||
    echo python3-psutil
  pacc_have '/usr/include/c++/*/vector' "$pacc_llvm/include/c++/v1/vector" ||
    echo g++
}

# pacc_apt PACKAGE...: installs packages, as root or through sudo.
pacc_apt() {
  local -a as_root=()
  local log=$pacc_build/setup-apt.log
  command -v apt-get >/dev/null ||
    pacc_die "missing: $*. This is no Debian; install them yourself (or name" \
      "LLVM's prefix in PACC_LLVM) and try again."
  if ((EUID != 0)); then
    command -v sudo >/dev/null ||
      pacc_die "missing: $*. Run as root: apt-get install $*"
    as_root=(sudo)
  fi
  as_root+=(env DEBIAN_FRONTEND=noninteractive)
  mkdir -p "$pacc_build"
  pacc_note "installing: $*"
  if ! "${as_root[@]}" apt-get -q -o DPkg::Lock::Timeout=300 update \
    >"$log" 2>&1; then
    pacc_note "apt-get update failed (see $log); trying with the lists at hand"
  fi
  local package
  for package; do
    apt-cache show "$package" >/dev/null 2>&1 ||
      pacc_die "there is no package $package in this machine's apt sources." \
        "LLVM 22 is in Debian 12's and 13's main and security archives:" \
        "check /etc/apt/sources.list and the network ($log)."
  done
  "${as_root[@]}" apt-get -q -y --no-install-recommends \
    -o DPkg::Lock::Timeout=300 install "$@" >>"$log" 2>&1 || {
    tail -n 15 "$log" >&2
    pacc_die "apt-get install $* failed; the whole output is in $log"
  }
}

# The plugin fits one release. An LLVM that is named and is another one is not
# mended by installing packages.
pacc_check_llvm() {
  local program version=
  for program in "$pacc_llvm/bin/llvm-config --version" \
    "$pacc_llvm/bin/clang -dumpversion"; do
    [[ -n $version || ! -x ${program% *} ]] || version=$($program 2>/dev/null) || true
  done
  [[ -z $version || $version == 22.* ]] ||
    pacc_die "this plugin is for LLVM 22, but PACC_LLVM=$pacc_llvm is LLVM $version"
}

pacc_setup_packages() {
  local -a missing
  mapfile -t missing < <(pacc_missing_packages)
  if ((${#missing[@]})); then
    pacc_apt "${missing[@]}"
    mapfile -t missing < <(pacc_missing_packages)
    ((${#missing[@]} == 0)) ||
      pacc_die "still missing after the installation: ${missing[*]}"
  fi
}

# pacc_is_toolkit DIR: whether there are a ptxas and libdevice.
pacc_is_toolkit() {
  [[ -x $1/bin/ptxas && -f $1/nvvm/libdevice/libdevice.10.bc ]]
}

# Sets pacc_cuda to a toolkit that is installed; empty if there is none.
pacc_find_cuda() {
  local nvcc prefix
  nvcc=$(command -v nvcc || true)
  for prefix in CUDA_PATH CUDA_HOME; do
    [[ -z ${!prefix:-} ]] || pacc_is_toolkit "${!prefix}" ||
      pacc_note "warning: $prefix=${!prefix} is no CUDA toolkit: there is no" \
        "bin/ptxas and nvvm/libdevice/libdevice.10.bc in it"
  done
  [[ -z $nvcc ]] || nvcc=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
  pacc_cuda=
  for prefix in "${CUDA_PATH:-}" "${CUDA_HOME:-}" "$nvcc" /usr/local/cuda \
    "$pacc_build/cuda"; do
    if [[ -n $prefix ]] && pacc_is_toolkit "$prefix"; then
      pacc_cuda=$prefix
      return
    fi
  done
}

# Puts NVIDIA's wheels under build/cuda, laid out like a toolkit.
pacc_cuda_from_wheels() {
  local store=$pacc_build/cuda-wheels log=$pacc_build/setup-cuda.log
  pacc_cuda=
  if ! pacc_is_toolkit "$pacc_build/cuda"; then
    python3 -m pip --version >/dev/null 2>&1 || pacc_apt python3-pip
    pacc_note "CUDA $pacc_cuda_release: fetching ${pacc_cuda_wheels[*]}"
    rm -rf "$store" "$pacc_build/cuda"
    mkdir -p "$store"
    if ! python3 -m pip install --quiet --no-deps --target "$store" \
      "${pacc_cuda_wheels[@]/%/==$pacc_cuda_release.*}" >"$log" 2>&1; then
      tail -n 5 "$log"
      return 1
    fi
    # The wheels unpack to nvidia/cu13/{bin,include,lib,nvvm}.
    local tree
    tree=$(dirname "$(dirname "$(find "$store" -path '*/bin/ptxas' |
      head -n 1)")")
    [[ -d $tree/lib && ! -e $tree/lib64 ]] && ln -s lib "$tree/lib64"
    chmod -R u+x "$tree/bin"
    ln -s "${tree#"$pacc_build/"}" "$pacc_build/cuda"
    pacc_is_toolkit "$pacc_build/cuda" || {
      echo "the wheels hold no ptxas or no libdevice" >"$log"
      return 1
    }
  fi
  pacc_cuda=$pacc_build/cuda
}

pacc_setup_cuda() {
  case ${PACC_CUDA:-auto} in
  none) pacc_cuda= ;;
  wheels)
    pacc_cuda_from_wheels ||
      pacc_die "CUDA's wheels are not to be had: see $pacc_build/setup-cuda.log"
    ;;
  auto)
    pacc_find_cuda
    [[ -n $pacc_cuda ]] || pacc_cuda_from_wheels ||
      pacc_note "no CUDA toolkit and no wheels: going on without ptxas and" \
        "libdevice (kernels that call mathematical functions stay on the CPU)"
    ;;
  *)
    pacc_cuda=$PACC_CUDA
    pacc_is_toolkit "$pacc_cuda" ||
      pacc_die "PACC_CUDA=$PACC_CUDA: there is no bin/ptxas and" \
        "nvvm/libdevice/libdevice.10.bc in it"
    ;;
  esac
}

# Runs CMake unless the folder is configured with these settings already.
pacc_configure() {
  local log=$pacc_build/setup-configure.log
  # The compilers by the names that CMakePresets.json has: another path to them
  # would make the preset start over.
  local clang=$pacc_llvm/bin/clang clangxx=$pacc_llvm/bin/clang++
  if [[ -z ${PACC_LLVM:-} ]] && command -v clang-22 clang++-22 >/dev/null; then
    clang=clang-22 clangxx=clang++-22
  fi
  local -a settings=(-G Ninja "-DCMAKE_C_COMPILER=$clang"
    "-DCMAKE_CXX_COMPILER=$clangxx"
    "-DLLVM_DIR=$pacc_llvm/lib/cmake/llvm" "-DPACC_CUDA_PATH=${pacc_cuda:-none}"
    -DPython3_EXECUTABLE=/usr/bin/python3)
  local stamp=$pacc_build/setup-configured
  if [[ -f $pacc_build/build.ninja && -f $stamp ]] &&
    [[ $(<"$stamp") == "$pacc_root ${settings[*]}" ]]; then
    return
  fi
  mkdir -p "$pacc_build"
  pacc_note "configuring $pacc_build"
  # A changed compiler would make CMake ask; start over.
  rm -f "$pacc_build/CMakeCache.txt"
  cmake -S "$pacc_root" -B "$pacc_build" "${settings[@]}" >"$log" 2>&1 || {
    tail -n 25 "$log" >&2
    pacc_die "CMake failed; the whole output is in $log"
  }
  printf '%s' "$pacc_root ${settings[*]}" >"$stamp"
}

pacc_setup() {
  pacc_check_llvm
  pacc_setup_packages
  pacc_setup_cuda
  pacc_configure
  pacc_note "LLVM $("$pacc_llvm/bin/llvm-config" --version) in $pacc_llvm," \
    "CUDA in ${pacc_cuda:-(none)}, build in $pacc_build"
}

# Shows ninja's last line, each over the one before. (An awk may wait for more
# than a line.)
pacc_progress() {
  local line
  while IFS= read -r line; do
    [[ $line != \[*/*\]* ]] || printf '\r\033[K%.78s' "$line"
  done
  printf '\r\033[K'
}

# pacc_make [TARGET...]: builds; quiet but for a line of progress on a
# terminal, and the compiler's words when it fails.
pacc_make() {
  local log=$pacc_build/setup-build.log
  pacc_note "building (${*:-everything}), $pacc_jobs jobs"
  if [[ -t 1 ]]; then
    ninja -C "$pacc_build" -j "$pacc_jobs" "$@" 2>&1 | tee "$log" |
      pacc_progress
  else
    ninja -C "$pacc_build" -j "$pacc_jobs" "$@" >"$log" 2>&1
  fi || {
    grep -v '^\[[0-9]*/[0-9]*\]' "$log" | head -n 60 >&2
    pacc_die "the build failed; the whole output is in $log"
  }
}
