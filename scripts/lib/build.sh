# Sourced after common.sh. Builds the product, the simulated GPU and driver, and lays the driver's libraries out under the
# names that clients open: libcuda.so.1, libnvidia-ml.so.1 (and the development names, for linkers and Triton-like tools).

# build PACKAGE…: in the profile that ships.
build() {
    local package packages=()
    for package in "$@"; do packages+=(-p "$package"); done
    use_cargo
    (cd "$REPO" && cargo build --release --quiet "${packages[@]}") || die "the build failed"
}

build_product() { build mgpu-shim mgpu-coordinator mgpu-cli; }

build_simulator() {
    build mgpu-sim mgpu-sim-cuda mgpu-sim-nvml
    mkdir -p "$SIM_LIB"
    install_library "$BIN/libcuda.so" libcuda
    install_library "$BIN/libnvidia_ml.so" libnvidia-ml
}

# install_library FILE NAME: a new inode and a rename, so that running processes keep the library that they mapped.
install_library() {
    cp "$1" "$SIM_LIB/.$2.new" && mv "$SIM_LIB/.$2.new" "$SIM_LIB/$2.so.1" && ln -sf "$2.so.1" "$SIM_LIB/$2.so" ||
        die "$SIM_LIB/$2.so.1 could not be written"
}

# Compiles the sample programs and load generators against the pinned CUDA headers; device code by the pinned nvcc.
build_workloads() {
    local cuda source program
    build mgpu-workload-cudarc
    cuda=$(cuda_root) || die "the CUDA compiler is not installed: run scripts/setup"
    mkdir -p "$WORKLOADS"
    if [ ! "$WORKLOADS/kernels.fatbin" -nt "$REPO/tests/workloads/cuda/kernels.cu" ]; then
        "$cuda/bin/nvcc" -fatbin -gencode arch=compute_75,code=sm_75 -gencode arch=compute_80,code=sm_80 \
            -gencode arch=compute_90,code=sm_90 -gencode arch=compute_90,code=compute_90 \
            -o "$WORKLOADS/kernels.fatbin" "$REPO/tests/workloads/cuda/kernels.cu" || die "nvcc failed"
    fi
    for source in "$REPO"/tests/workloads/c/*.c "$REPO"/tests/workloads/cuda/*.cpp; do
        program=$WORKLOADS/$(basename "${source%.*}")
        is_newer "$program" "$source" "$(dirname "$source")"/*.h && continue
        case $source in
        *.c) cc -std=gnu11 -O2 -Wall -Wextra -I"$cuda/include" -o "$program" "$source" -L"$SIM_LIB" -lcuda -lpthread -ldl ;;
        *) c++ -std=c++17 -O2 -Wall -Wextra -I"$cuda/include" -o "$program" "$source" -L"$SIM_LIB" -lcuda ;;
        esac || die "compiling $source failed"
    done
}

# is_newer PRODUCT SOURCE…: nothing to do.
is_newer() {
    local product=$1 source
    shift
    for source in "$@"; do [ "$product" -nt "$source" ] || return 1; done
}

# Prints the folder of the pinned CUDA toolkit wheels.
cuda_root() {
    local root
    for root in "$VENV"/lib/python3*/site-packages/nvidia/cu13; do
        [ -x "$root/bin/nvcc" ] && { printf '%s\n' "$root"; return 0; }
    done
    return 1
}
