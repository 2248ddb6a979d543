# Cross-building for aarch64 with Debian's compiler; programs run under qemu-user. The libraries are in a
# folder that scripts/fetch-aarch64 prints; by default it is where that script puts it.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
if(DEFINED ENV{BBF_CACHE})
  set(BBF_SYSROOT $ENV{BBF_CACHE}/aarch64)
else()
  set(BBF_SYSROOT $ENV{HOME}/.cache/bbflow/aarch64)
endif()
set(BBF_LIBRARIES ${BBF_SYSROOT}/usr/lib/aarch64-linux-gnu)
# Debian's cross libc is in /usr/aarch64-linux-gnu, where the compiler and qemu look by themselves.
set(CMAKE_FIND_ROOT_PATH ${BBF_SYSROOT})
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
# pkg-config: those libraries, not the machine's.
set(ENV{PKG_CONFIG_LIBDIR} ${BBF_LIBRARIES}/pkgconfig:${BBF_SYSROOT}/usr/share/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${BBF_SYSROOT})
set(CMAKE_C_FLAGS_INIT "-isystem ${BBF_SYSROOT}/usr/include")
foreach(kind EXE MODULE SHARED)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT "-L${BBF_LIBRARIES} -Wl,-rpath-link,${BBF_LIBRARIES}")
endforeach()
# -R: qemu keeps 50 bytes for each page of address space, and the tracker reserves 140 GB of it if it
# can; without, a test takes 7 GB.
set(CMAKE_CROSSCOMPILING_EMULATOR
    qemu-aarch64 -R 16G -L /usr/aarch64-linux-gnu -E LD_LIBRARY_PATH=${BBF_LIBRARIES})
