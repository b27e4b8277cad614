// Records what a process writes to a file and to its log, and when it syncs them, so that
// files-after-cut.mjs can construct what a power cut may leave. Loaded with LD_PRELOAD. The log has
// the name of the file with `-wal` at the end. LMDB has none.
//
// KW_POWER_FILE  the file
// KW_POWER_LOG   the file that the events are appended to. An event is its kind (1 byte), an offset
//                (8 bytes), a length (4 bytes), all in the order of the machine, and that many
//                bytes:
//   w  written at the offset
//   d  written at the offset through a descriptor with O_DSYNC, so it is on disk
//   b  a sync begins
//   e  a sync has succeeded: what was written before it began is on disk
//   t  the file was cut or extended to the offset
//   n  the file was created
//   u  the file was deleted
//   f  the folder of the files was synced
//   a  text of the process (commit-under-record.mjs writes these)
// The kinds of events of the log are the same letters, upper-case.
//
// One lock makes the order of the events that of the calls.
#include "../shared/real-calls.h"
#include <pthread.h>
#include <stdint.h>

#define MAX_FDS 65536

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *file;
static int log_fd = -1;
/* A sum of these for a descriptor of one of the files, or 0. */
enum { IS_RECORDED = 1, HAS_DSYNC = 2, IS_LOG = 4 };
static unsigned char kinds[MAX_FDS];

REAL(int, open64, const char *, int, ...)
REAL(int, open, const char *, int, ...)
REAL(int, close, int)
REAL(ssize_t, write, int, const void *, size_t)
REAL(ssize_t, writev, int, const struct iovec *, int)
REAL(ssize_t, pwrite64, int, const void *, size_t, off64_t)
REAL(int, fsync, int)
REAL(int, fdatasync, int)
REAL(int, ftruncate64, int, off64_t)
REAL(int, unlink, const char *)

__attribute__((constructor)) static void begin(void) {
  load_open(); load_open64(); load_close(); load_write(); load_writev(); load_pwrite64();
  load_fsync(); load_fdatasync(); load_ftruncate64(); load_unlink();
  file = getenv("KW_POWER_FILE");
  const char *path = getenv("KW_POWER_LOG");
  if (!file || !path) {
    file = NULL;
    return;
  }
  log_fd = real_open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (log_fd < 0) abort();
}

static void record(char kind, uint64_t offset, const struct iovec *parts, int count) {
  uint32_t length = 0;
  for (int i = 0; i < count; i++) length += parts[i].iov_len;
  unsigned char head[13] = {(unsigned char)kind};
  memcpy(head + 1, &offset, 8);
  memcpy(head + 9, &length, 4);
  struct iovec all[1 + 64];
  if (count > 64) abort();
  all[0] = (struct iovec){head, sizeof head};
  for (int i = 0; i < count; i++) all[1 + i] = parts[i];
  /* A lost event would make a wrong file. */
  if (real_writev(log_fd, all, 1 + count) != (ssize_t)(sizeof head + length)) abort();
}

static int kind_of(int fd) { return fd >= 0 && fd < MAX_FDS ? kinds[fd] : 0; }

/* IS_RECORDED and perhaps IS_LOG for the path of one of the files, or 0. */
static int kind_of_path(const char *path) {
  if (!file || !path) return 0;
  size_t length = strlen(file);
  if (strncmp(path, file, length) != 0) return 0;
  if (path[length] == 0) return IS_RECORDED;
  return strcmp(path + length, "-wal") == 0 ? IS_RECORDED | IS_LOG : 0;
}

static char letter(char kind, int of) { return of & IS_LOG ? kind - 'a' + 'A' : kind; }

static int is_folder(int fd) {
  struct stat of_fd, of_folder;
  if (!file || fstat(fd, &of_fd) != 0 || !S_ISDIR(of_fd.st_mode)) return 0;
  char folder[4096];
  snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(file, '/') - file), file);
  return stat(folder, &of_folder) == 0 && of_fd.st_ino == of_folder.st_ino &&
         of_fd.st_dev == of_folder.st_dev;
}

#define OPEN(function)                                                            \
  int function(const char *path, int flags, ...) {                                \
    va_list arguments;                                                            \
    va_start(arguments, flags);                                                   \
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;  \
    va_end(arguments);                                                            \
    load_##function();                                                            \
    int kind = (flags & O_ACCMODE) == O_RDONLY ? 0 : kind_of_path(path);          \
    if (!kind) {                                                                  \
      int other = real_##function(path, flags, mode);                             \
      if (other >= 0 && other < MAX_FDS) kinds[other] = 0;                        \
      return other;                                                               \
    }                                                                             \
    pthread_mutex_lock(&lock);                                                    \
    int is_new = access(path, F_OK) != 0;                                         \
    int fd = real_##function(path, flags, mode);                                  \
    int error = errno;                                                            \
    if (fd >= 0 && fd < MAX_FDS) {                                                \
      kinds[fd] = kind | (flags & O_DSYNC ? HAS_DSYNC : 0);                       \
      if (is_new) record(letter('n', kind), 0, NULL, 0);                          \
    }                                                                             \
    pthread_mutex_unlock(&lock);                                                  \
    errno = error;                                                                \
    return fd;                                                                    \
  }
OPEN(open)
OPEN(open64)

int unlink(const char *path) {
  load_unlink();
  int kind = kind_of_path(path);
  if (!kind) return real_unlink(path);
  pthread_mutex_lock(&lock);
  int result = real_unlink(path);
  int error = errno;
  if (result == 0) record(letter('u', kind), 0, NULL, 0);
  pthread_mutex_unlock(&lock);
  errno = error;
  return result;
}

int close(int fd) {
  load_close();
  if (kind_of(fd)) kinds[fd] = 0;
  return real_close(fd);
}

#define WRITING(function, parameters, arguments, at, parts, count)        \
  ssize_t function parameters {                                           \
    load_##function();                                                    \
    if (!kind_of(fd)) return real_##function arguments;                   \
    pthread_mutex_lock(&lock);                                            \
    uint64_t offset = at;                                                 \
    ssize_t result = real_##function arguments;                           \
    int error = errno;                                                    \
    if (result >= 0)                                                      \
      record(letter(kind_of(fd) & HAS_DSYNC ? 'd' : 'w', kind_of(fd)), offset, parts, count); \
    pthread_mutex_unlock(&lock);                                          \
    errno = error;                                                        \
    return result;                                                        \
  }
#define ONE_PART ((struct iovec[]){{(void *)data, result}})
WRITING(write, (int fd, const void *data, size_t size), (fd, data, size), lseek(fd, 0, SEEK_CUR),
        ONE_PART, 1)
WRITING(pwrite64, (int fd, const void *data, size_t size, off64_t position),
        (fd, data, size, position), position, ONE_PART, 1)
WRITING(writev, (int fd, const struct iovec *parts, int count), (fd, parts, count),
        lseek(fd, 0, SEEK_CUR), parts, count)

#define SYNC(function)                                                  \
  int function(int fd) {                                                \
    load_##function();                                                  \
    int kind = kind_of(fd);                                             \
    if (!kind && !is_folder(fd)) return real_##function(fd);            \
    pthread_mutex_lock(&lock);                                          \
    if (kind) record(letter('b', kind), 0, NULL, 0);                    \
    pthread_mutex_unlock(&lock);                                        \
    int result = real_##function(fd);                                   \
    int error = errno;                                                  \
    pthread_mutex_lock(&lock);                                          \
    if (result == 0) record(kind ? letter('e', kind) : 'f', 0, NULL, 0); \
    pthread_mutex_unlock(&lock);                                        \
    errno = error;                                                      \
    return result;                                                      \
  }
SYNC(fsync)
SYNC(fdatasync)

int ftruncate64(int fd, off64_t size) {
  load_ftruncate64();
  int result = real_ftruncate64(fd, size);
  if (result == 0 && kind_of(fd)) record(letter('t', kind_of(fd)), size, NULL, 0);
  return result;
}
