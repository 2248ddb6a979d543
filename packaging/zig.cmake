# A release's build (scripts/release): zig's compiler and the libraries that packaging/libraries put into
# the folder $BBF_PREFIX, for the processor $BBF_ARCH. The target with its C library is in tools/cc.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR $ENV{BBF_ARCH})
set(prefix $ENV{BBF_PREFIX})
set(CMAKE_C_COMPILER ${prefix}/tools/cc)
set(CMAKE_AR ${prefix}/tools/ar)
set(CMAKE_RANLIB ${prefix}/tools/ranlib)
set(CMAKE_FIND_ROOT_PATH ${prefix})
set(CMAKE_PREFIX_PATH /)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
# pkg-config: those libraries, not the machine's.
set(ENV{PKG_CONFIG_LIBDIR} ${prefix}/lib/pkgconfig)
# No sanitizer, which is zig's default for a build without -O; and no name of a folder in a file.
set(CMAKE_C_FLAGS_INIT "-fno-sanitize=all -ffile-prefix-map=${prefix}=/usr/src/libraries")
set(BBF_PORTABLE ON CACHE BOOL "" FORCE)
# The tools of the build itself (layout_java, embed) are built for the target.
set(CMAKE_CROSSCOMPILING_EMULATOR /usr/bin/env)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
  set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -R 16G -L /usr/aarch64-linux-gnu)
endif()
