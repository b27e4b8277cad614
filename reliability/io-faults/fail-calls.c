// Lets calls of a process fail that work with the files under one folder. Loaded with LD_PRELOAD;
// fault-campaign.mjs builds it.
//
// KW_FAULT_FOLDER   the folder.
// KW_FAULT_CONTROL  a file with one struct control. The process writes to it (fault-switch.mjs).
//
// LevelDB writes through stdio and reads through mmap and stdio. Node.js uses the calls without a
// buffer.
#include "../shared/real-calls.h"
#include <dirent.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { OPEN, READ, WRITE, SYNC, RENAME, UNLINK, TRUNCATE, MMAP, MKDIR, KINDS };
enum { ONCE, SAME_KIND, ALL_KINDS };

struct control {
  /* The call of a kind that fails, from 1, and how. 0 if none does. */
  int64_t kind, nth, error, lasts;
  /* The bytes that can be written until the disk is full. -1 if it never is. */
  int64_t space;
  /* Limits of the system: the size of a file, and the descriptors. -1 for those of the start. */
  int64_t file_size, descriptors;
  /* How many calls have failed, and how many of each kind were made. */
  int64_t failed;
  int64_t counts[KINDS];
};

static volatile struct control *control;
static const char *folder;
static struct rlimit first_file_size, first_descriptors;

REAL(int, open, const char *, int, ...)
REAL(int, open64, const char *, int, ...)
REAL(FILE *, fopen, const char *, const char *)
REAL(FILE *, fopen64, const char *, const char *)
REAL(DIR *, opendir, const char *)
REAL(int, scandir64, const char *, struct dirent64 ***, int (*)(const struct dirent64 *),
     int (*)(const struct dirent64 **, const struct dirent64 **))
REAL(ssize_t, read, int, void *, size_t)
REAL(ssize_t, pread64, int, void *, size_t, off64_t)
REAL(size_t, fread_unlocked, void *, size_t, size_t, FILE *)
REAL(ssize_t, write, int, const void *, size_t)
REAL(ssize_t, writev, int, const struct iovec *, int)
REAL(ssize_t, pwrite64, int, const void *, size_t, off64_t)
REAL(size_t, fwrite_unlocked, const void *, size_t, size_t, FILE *)
REAL(int, fflush_unlocked, FILE *)
REAL(int, fsync, int)
REAL(int, fdatasync, int)
REAL(int, rename, const char *, const char *)
REAL(int, link, const char *, const char *)
REAL(int, unlink, const char *)
REAL(int, ftruncate64, int, off64_t)
REAL(void *, mmap, void *, size_t, int, int, int, off_t)
REAL(void *, mmap64, void *, size_t, int, int, int, off64_t)
REAL(int, mkdir, const char *, mode_t)

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("KW_FAULT_CONTROL");
  const char *name = getenv("KW_FAULT_FOLDER");
  if (!path || !name) return;
  load_open(); load_mmap();
  getrlimit(RLIMIT_FSIZE, &first_file_size);
  getrlimit(RLIMIT_NOFILE, &first_descriptors);
  int fd = real_open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) abort();
  control = real_mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (control == MAP_FAILED) abort();
  close(fd);
  folder = name;
}

static int is_in_folder(const char *path) {
  if (!folder || !path) return 0;
  size_t length = strlen(folder);
  return strncmp(path, folder, length) == 0 && path[length] == '/';
}

static int is_fd_in_folder(int fd) {
  if (!folder || fd < 0) return 0;
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return is_in_folder(path);
}

static void set_limit(int resource, const struct rlimit *first, int64_t soft) {
  struct rlimit limit = *first;
  if (soft >= 0) limit.rlim_cur = soft;
  setrlimit(resource, &limit);
}

/* Counts a call, and returns true if it has to fail. Then errno is set. */
static int fails(int kind) {
  set_limit(RLIMIT_FSIZE, &first_file_size, control->file_size);
  set_limit(RLIMIT_NOFILE, &first_descriptors, control->descriptors);
  int64_t count = __sync_add_and_fetch(&control->counts[kind], 1);
  if (control->nth == 0) return 0;
  int is_hit = kind == control->kind &&
               (control->lasts == ONCE ? count == control->nth : count >= control->nth);
  if (!is_hit && !(control->lasts == ALL_KINDS && control->failed > 0)) return 0;
  __sync_add_and_fetch(&control->failed, 1);
  errno = control->error;
  return 1;
}

/* Takes up to `size` bytes of the space that is left, and returns how many there were. */
static size_t space_for(size_t size) {
  int64_t left = control->space;
  if (left < 0) return size;
  size_t taken = (int64_t)size < left ? size : (size_t)left;
  __sync_sub_and_fetch(&control->space, (int64_t)taken);
  if (taken < size) __sync_add_and_fetch(&control->failed, 1);
  return taken;
}

#define OPEN_CALL(function)                                                        \
  int function(const char *path, int flags, ...) {                                 \
    va_list arguments;                                                             \
    va_start(arguments, flags);                                                    \
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;   \
    va_end(arguments);                                                             \
    load_##function();                                                             \
    if (is_in_folder(path) && fails(OPEN)) return -1;                              \
    return real_##function(path, flags, mode);                                     \
  }
OPEN_CALL(open)
OPEN_CALL(open64)

/* A call that returns `failure` if it fails, for files that `is_meant` is true for. */
#define CALL(type, function, kind, parameters, arguments, is_meant, failure) \
  type function parameters {                                                 \
    load_##function();                                                       \
    if (is_meant && fails(kind)) return failure;                             \
    return real_##function arguments;                                        \
  }
CALL(FILE *, fopen, OPEN, (const char *path, const char *mode), (path, mode), is_in_folder(path), NULL)
CALL(FILE *, fopen64, OPEN, (const char *path, const char *mode), (path, mode), is_in_folder(path), NULL)
CALL(DIR *, opendir, OPEN, (const char *path), (path), is_in_folder(path), NULL)
CALL(int, scandir64, OPEN,
     (const char *path, struct dirent64 ***names, int (*filter)(const struct dirent64 *),
      int (*compare)(const struct dirent64 **, const struct dirent64 **)),
     (path, names, filter, compare), is_in_folder(path), -1)
CALL(ssize_t, read, READ, (int fd, void *data, size_t size), (fd, data, size), is_fd_in_folder(fd), -1)
CALL(ssize_t, pread64, READ, (int fd, void *data, size_t size, off64_t offset),
     (fd, data, size, offset), is_fd_in_folder(fd), -1)
CALL(int, fsync, SYNC, (int fd), (fd), is_fd_in_folder(fd), -1)
CALL(int, fdatasync, SYNC, (int fd), (fd), is_fd_in_folder(fd), -1)
CALL(int, rename, RENAME, (const char *from, const char *to), (from, to), is_in_folder(from), -1)
CALL(int, link, RENAME, (const char *from, const char *to), (from, to), is_in_folder(from), -1)
CALL(int, unlink, UNLINK, (const char *path), (path), is_in_folder(path), -1)
CALL(int, ftruncate64, TRUNCATE, (int fd, off64_t size), (fd, size), is_fd_in_folder(fd), -1)
CALL(void *, mmap, MMAP, (void *address, size_t size, int prot, int flags, int fd, off_t offset),
     (address, size, prot, flags, fd, offset), is_fd_in_folder(fd), MAP_FAILED)
CALL(void *, mmap64, MMAP, (void *address, size_t size, int prot, int flags, int fd, off64_t offset),
     (address, size, prot, flags, fd, offset), is_fd_in_folder(fd), MAP_FAILED)
CALL(int, mkdir, MKDIR, (const char *path, mode_t mode), (path, mode), is_in_folder(path), -1)
CALL(int, fflush_unlocked, WRITE, (FILE * file), (file), file && is_fd_in_folder(fileno(file)), EOF)

/* LevelDB takes a short read for an error if the file is not at its end. */
size_t fread_unlocked(void *data, size_t size, size_t count, FILE *file) {
  load_fread_unlocked();
  if (is_fd_in_folder(fileno(file)) && fails(READ)) return 0;
  return real_fread_unlocked(data, size, count, file);
}

/* LevelDB writes elements of one byte. */
size_t fwrite_unlocked(const void *data, size_t size, size_t count, FILE *file) {
  load_fwrite_unlocked();
  if (!is_fd_in_folder(fileno(file))) return real_fwrite_unlocked(data, size, count, file);
  if (fails(WRITE)) return 0;
  size_t room = space_for(size * count);
  size_t written = real_fwrite_unlocked(data, 1, room, file);
  if (written == room && room < size * count) errno = ENOSPC;
  return written / size;
}

#define UNBUFFERED(function, parameters, arguments_of_room, size)  \
  ssize_t function parameters {                                    \
    load_##function();                                             \
    size_t room = size;                                            \
    if (is_fd_in_folder(fd)) {                                     \
      if (fails(WRITE)) return -1;                                 \
      room = space_for(size);                                      \
      if (room == 0 && size > 0) {                                 \
        errno = ENOSPC;                                            \
        return -1;                                                 \
      }                                                            \
    }                                                              \
    return real_##function arguments_of_room;                      \
  }
UNBUFFERED(write, (int fd, const void *data, size_t size), (fd, data, room), size)
UNBUFFERED(pwrite64, (int fd, const void *data, size_t size, off64_t offset),
           (fd, data, room, offset), size)

/* Node.js writes the parts of a file one by one, so this call is only counted. */
ssize_t writev(int fd, const struct iovec *parts, int count) {
  load_writev();
  if (is_fd_in_folder(fd) && fails(WRITE)) return -1;
  return real_writev(fd, parts, count);
}
