"""R: interpreted by Rscript, without anybody's profile or saved workspace."""

from sandbox.languages import Language

LANGUAGE = Language(
    name="r",
    aliases=("rscript",),
    source_file="main.R",
    run=("Rscript", "--vanilla", "{program}/main.R"),
    needs=("Rscript",),
    version=("Rscript", "--version"),
    packages=("r-base-core",),
    configuration=("/etc/R",),
    data_limit=False,
    cpu_factor=1.5,
    start_cpu_s=0.3,
)
