"""The commands that build a program: one recipe for each family of
configurations (configs.Config.recipe).

A recipe is a function of (toolchain, job, program, objects, folder): a list of
Steps, and the files that the program depends on beside the job's own source.
`objects` are the compiled files of the harness, `folder` takes files that are
made on the way.
"""

from dataclasses import dataclass
from pathlib import Path

from . import configs, suites

COMMON = suites.OWN / "common"
PEERS = suites.OWN / "peers"
# What the kernels print goes through dump_binary.c.
HARNESS = ("-w", "-DPOLYBENCH_TIME", "-DPOLYBENCH_DUMP_ARRAYS",
           "-fno-builtin-fprintf")
# Behind the program's name: the record of what the plugin left alone.
RECORD = ".yaml"
LINK = ("-Wl,--wrap=fprintf", "-lm")


@dataclass(frozen=True)
class Step:
    """A command, and the folder that it runs in (None: any)."""
    command: list
    folder: Path = None


def dataset_flags(job):
    """What chooses a kernel's sizes and type."""
    flags = [f"-D{job.dataset}_DATASET"]
    if job.type != "default":
        flags.append(f"-DDATA_TYPE_IS_{job.type.upper()}")
    return flags


def _kernel_flags(job):
    flags = [*dataset_flags(job), *HARNESS]
    if job.kernel.repeats:
        flags.append("-DPOLYBENCH_RUNS=polybench_runs()")
    return flags + [f"-I{folder}" for folder in job.kernel.includes]


def _record_flags(program):
    return [f"-foptimization-record-file={program}{RECORD}",
            "-foptimization-record-passes=polly-acc.*"]


def _cuda_flags(toolchain):
    return [f"--cuda-path={toolchain.cuda}",
            f"--cuda-gpu-arch={toolchain.arch}",
            "-Wno-unknown-cuda-version"]


def _cuda_link(toolchain):
    return [f"-L{toolchain.cuda}/lib64", "-lcudart_static", "-ldl", "-lrt",
            "-lpthread"]


def clang(toolchain, job, program, objects, _folder):
    """A C kernel with clang, and with the plugin if the configuration
    offloads."""
    config = job.config
    command = [toolchain.clang, *configs.COMMON_FLAGS, *config.flags,
               *_kernel_flags(job)]
    inputs, libraries = [], [*LINK, *config.libraries]
    if config.offload:
        command += [f"-fpass-plugin={toolchain.plugin}", "-mllvm",
                    "-polly-acc", "-mllvm",
                    f"-polly-acc-arch={toolchain.arch}",
                    *_record_flags(program)]
        libraries = [str(toolchain.runtime), *libraries, "-ldl", "-lpthread"]
        inputs = [toolchain.plugin, toolchain.runtime]
    command += [str(job.kernel.source), *objects, "-o", str(program),
                *libraries]
    return [Step(command)], inputs


def _body(kernel, config):
    """The file of peers/ that replaces the kernel's loops."""
    return PEERS / config.body / f"{kernel.name}.h"


def fits(kernel, config):
    """Whether a configuration has the kernel: a peer has some."""
    return not config.body or _body(kernel, config).exists()


def _body_flags(job):
    """Flags that replace the kernel's loops, and the files they are in."""
    if not job.config.body:
        return [], []
    body = _body(job.kernel, job.config)
    common = body.with_name(f"{job.config.body}.h")
    return [f'-DPOLYBENCH_KERNEL_FILE="{body}"', "-include", str(common)], \
        [body, common]


def gcc(toolchain, job, program, objects, _folder):
    """A C kernel with GCC."""
    body, inputs = _body_flags(job)
    return [Step([toolchain.gcc, *configs.COMMON_FLAGS, *job.config.flags,
                  *_kernel_flags(job), *body, str(job.kernel.source), *objects,
                  "-o", str(program), *job.config.libraries, *LINK])], inputs


def cublas(toolchain, job, program, objects, _folder):
    """A kernel whose computation is cuBLAS calls."""
    body, inputs = _body_flags(job)
    library = f"{toolchain.cuda}/lib64"
    command = [
        toolchain.clang, *configs.COMMON_FLAGS, *_kernel_flags(job), *body,
        f"-I{toolchain.cuda}/include",
        str(job.kernel.source), *objects, "-o", str(program), *LINK,
        f"-L{library}", f"-Wl,-rpath,{library}", "-lcublas", "-lcudart"]
    return [Step(command)], inputs


def ppcg(toolchain, job, program, objects, folder):
    """A C kernel that PPCG has turned into CUDA."""
    source = job.kernel.source
    host, device = f"{source.stem}_host.cu", f"{source.stem}_kernel.cu"
    flags = _kernel_flags(job)
    macros = [flag for flag in flags if flag.startswith(("-D", "-I"))]
    compile_cuda = [
        f"{toolchain.clang}++", "-O3", *_cuda_flags(toolchain), *flags, host,
        device, *objects, "-o", str(program), *LINK, *_cuda_link(toolchain)]
    return [Step([toolchain.ppcg, "--target=cuda", *macros, str(source)],
                 folder), Step(compile_cuda, folder)], [toolchain.ppcg]


def cuda(toolchain, job, program, _objects, _folder):
    """A CUDA program of PolyBench-ACC, which compares with its own loops. The
    macro is a function that CUDA no longer has."""
    includes = [f"-I{folder}" for folder in job.kernel.includes]
    return [Step([f"{toolchain.clang}++", "-O3", "-w", "-DRUN_ON_CPU",
                  "-DcudaThreadSynchronize=cudaDeviceSynchronize",
                  *_cuda_flags(toolchain), *dataset_flags(job), *includes,
                  str(job.kernel.source), "-o", str(program),
                  *_cuda_link(toolchain)])], []


def dynpar(toolchain, job, program, _objects, _folder):
    """A program of dynpar/, which compares with a result of its own."""
    config = job.config
    variant = config.build.removesuffix("@cpu")
    flags = ["-std=c++17", "-O3", "-w",
             *job.kernel.variant_flags(variant, str(toolchain.plugin))]
    inputs = [job.kernel.source.with_name("dynpar.h")]
    if config.offload:
        inputs.append(toolchain.plugin)
    if config.device == "cpu":
        return [Step([str(toolchain.wrapper), "--device=cpu",
                      f"--cuda-path={toolchain.cuda}", *flags,
                      str(job.kernel.source), "-o", str(program)])], \
            [*inputs, toolchain.wrapper]
    library = f"{toolchain.cuda}/lib64"
    return [Step([f"{toolchain.clang}++", *flags, *_cuda_flags(toolchain),
                  "-D__CUDACC_RDC__", "-fgpu-rdc", "-Wl,-s",
                  str(job.kernel.source), "-o", str(program),
                  "-Xoffload-linker", "-lcudadevrt", "-Xoffload-linker",
                  f"-L{library}", *_cuda_link(toolchain)])], inputs


RECIPES = {"clang": clang, "gcc": gcc, "cublas": cublas, "ppcg": ppcg,
           "cuda": cuda, "dynpar": dynpar}
