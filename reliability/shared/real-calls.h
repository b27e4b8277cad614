// For libraries that are loaded with LD_PRELOAD: the functions of the C library that they replace.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* Macros of stdio.h when the compiler optimises. */
#undef fread_unlocked
#undef fwrite_unlocked

/* Declares real_<name>, which load_<name>() sets. */
#define REAL(type, name, ...)                       \
  static type (*real_##name)(__VA_ARGS__);          \
  static void load_##name(void) {                   \
    if (!real_##name) *(void **)&real_##name = dlsym(RTLD_NEXT, #name); \
  }
