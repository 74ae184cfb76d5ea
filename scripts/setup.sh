#!/usr/bin/env bash
# Installs with apt what Supple needs on Debian 12: the command-line tier by default.
#   scripts/setup.sh            what building, testing and running needs
#   scripts/setup.sh --viewer   also what the viewer needs: OpenGL, GLFW, Dear ImGui, a font, ffmpeg for films
#   scripts/setup.sh --python   also what the Python module needs beside packages of PyPI
#   scripts/setup.sh --mpi      also what supple-mpi needs: Open MPI
#   scripts/setup.sh --web      also what pages for browsers need: emscripten, and Chromium to test them
#   scripts/setup.sh --dev      all that, clang (sanitizers, fuzzers, clang-format, clang-tidy), gmsh (to regenerate meshes), and Doxygen
# Packages that are present are left alone; without root rights the missing ones are named and the exit code is 3.
set -euo pipefail

packages=(
  g++ make cmake ninja-build pkg-config git
  libeigen3-dev libopenblas-dev liblapacke-dev
  libmumps-seq-dev libmetis-dev
  libcli11-dev libtomlplusplus-dev libudunits2-dev libfmt-dev libspdlog-dev nlohmann-json3-dev
  libhdf5-dev libpugixml-dev zlib1g-dev libnanoflann-dev libxxhash-dev
  libgtest-dev libgmock-dev libbenchmark-dev
  gnuplot-nox
)
viewer=(
  libglfw3-dev libimgui-dev libstb-dev libepoxy-dev libegl-dev libgl-dev
  libegl1 libgl1-mesa-dri fonts-dejavu-core ffmpeg
)
python=(python3-dev python3-venv)
web=(emscripten node-acorn chromium)
mpi=(libopenmpi-dev openmpi-bin)
for option in "$@"; do
  case "$option" in
    --viewer) packages+=("${viewer[@]}") ;;
    --python) packages+=("${python[@]}") ;;
    --web) packages+=("${web[@]}") ;;
    --mpi) packages+=("${mpi[@]}") ;;
    --dev) packages+=("${viewer[@]}" "${mpi[@]}" "${python[@]}" xvfb xauth xdotool clang clang-format clang-tidy libclang-rt-14-dev libomp-dev dpkg-dev gmsh
    doxygen) ;;
    -h | --help) sed -n '2,9p' "$0" | sed 's/^# \{0,1\}//'; exit 0 ;;
    *) echo "setup.sh: unknown option '$option' (try --help)" >&2; exit 2 ;;
  esac
done

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  echo "setup.sh: all ${#packages[@]} packages are installed"
  exit 0
fi

sudo=()
if [ "$(id -u)" -ne 0 ]; then
  if command -v sudo >/dev/null; then
    sudo=(sudo)
  else
    echo "setup.sh: missing packages and no root rights; run as root: apt-get install ${missing[*]}" >&2
    exit 3
  fi
fi
echo "setup.sh: installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
"${sudo[@]}" apt-get update -qq
"${sudo[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}"
