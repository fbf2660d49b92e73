"""The lit suites. The folders mirror lib/; every tool is LLVM 22's, by its
absolute path, since PATH may hold another release.

Substitutions
  %opt %clang %clangxx %FileCheck %llvm-remarkutil ...  LLVM's tools
  %plugin       PollyACC.so
  %pacc_opt     opt with the plugin
  %pacc_cc      clang -O3 with the plugin and offloading on
  %flang        (feature: flang)
  %rtlib        flags that link the host runtime
  %ptxas %libdevice %cuda   of the CUDA toolkit (features: ptxas, libdevice, cuda)
  %polly-acc-clang %polly-acc-flang %pacc-occupancy ...  the project's tools
  %source %build %llvm      folders

Features: ptxas, libdevice, cuda (a toolkit with headers), gpu (a driver and a
device; no test may need it), flang, make, gcc, ccache, root, and the host's architecture (x86_64).
"""

import os
import platform
import shutil

import lit.formats

config.name = "Polly-ACC"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".ll", ".c", ".cpp", ".cu", ".f90", ".test"]
config.excludes = ["Inputs", "unit", "fuzz", "CMakeLists.txt"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.pacc_build, "test")

# lit needs psutil to stop a test; without it tools/check's own limit is left.
if lit_config.maxIndividualTestTimeIsSupported[0]:
    lit_config.maxIndividualTestTime = 300

build = config.pacc_build
tools = config.llvm_tools
library = os.path.join(build, "lib")
plugin = os.path.join(library, "PollyACC.so")
acc_flags = f"-fpass-plugin={plugin} -mllvm -polly-acc -fno-math-errno"

# Nothing of the user's settings may reach a test.
for name in [n for n in os.environ if n.startswith("PACC_")]:
    config.environment.pop(name, None)
config.environment["PATH"] = os.pathsep.join([tools, os.environ["PATH"]])
config.environment["LC_ALL"] = "C.UTF-8"
temporary = os.path.join(config.test_exec_root, "tmp")
os.makedirs(temporary, exist_ok=True)
config.environment["TMPDIR"] = temporary
for name in ["CUDA_PATH", "CUDA_HOME"]:
    config.environment.pop(name, None)

llvm_names = [
    "FileCheck", "clang", "count", "flang", "llc", "llvm-as", "llvm-dis",
    "llvm-dwarfdump", "llvm-link", "llvm-nm", "llvm-objdump", "llvm-reduce",
    "llvm-remarkutil", "llvm-strip", "not", "opt", "split-file",
]
substitutions = {name: os.path.join(tools, name) for name in llvm_names}
substitutions.update(
    {
        "clangxx": os.path.join(tools, "clang++"),
        "pacc_opt": f"{tools}/opt -load-pass-plugin={plugin}",
        "pacc_cc": f"{tools}/clang -O3 {acc_flags}",
        "pacc_flags": acc_flags,
        "plugin": plugin,
        "rtlib": f"-L{library} -lpacc_rt -Wl,-rpath,{library}",
        "ptxas": config.ptxas,
        "libdevice": config.libdevice,
        "cuda": config.cuda_path,
        "cmake": config.cmake,
        "python": config.python,
        "source": config.pacc_source,
        "build": build,
        "llvm": tools,
    }
)
for name in ["polly-acc-clang", "polly-acc-clang++", "polly-acc-flang", "pacc-occupancy", "pacc-report"]:
    substitutions[name] = os.path.join(build, "bin", name)
# A name ends where no longer name goes on, so that %clang is not in %clangxx.
for name, text in substitutions.items():
    pattern = "%" + name.replace("+", r"\+") + r"(?![\w+-])"
    config.substitutions.append((pattern, text.replace("\\", r"\\")))

features = {
    "ptxas": bool(config.ptxas),
    "libdevice": bool(config.libdevice),
    "cuda": os.path.exists(os.path.join(config.cuda_path, "include", "cuda_runtime.h")),
    "gpu": os.path.exists("/dev/nvidia0"),
    "flang": os.path.exists(os.path.join(tools, "flang")),
    "make": bool(shutil.which("make")),
    "gcc": bool(shutil.which("gcc")),
    "ccache": bool(shutil.which("ccache")),
    "root": os.geteuid() == 0,
    platform.machine(): True,
}
config.available_features.update(name for name, there in features.items() if there)
