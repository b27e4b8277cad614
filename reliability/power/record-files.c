// Records what a process does with the files of one folder, so that disk-state.mjs can construct
// what a power cut may leave of them. Loaded with LD_PRELOAD; power-run.mjs builds and starts it.
//
// KW_POWER_FOLDER  the folder. Only the files directly in it are recorded.
// KW_POWER_LOG     the file that the events are appended to, one per line:
//   name <name> <inode>        the name now stands for the file
//   rename <from> <to> <inode>
//   unlink <name>
//   size <inode> <bytes>       written up to here
//   sync <inode> <bytes>       synced up to here
//   folder                     the entries of the folder are synced
//   unmodelled <text>          a call that this program does not model
// KW_POWER_SAVED   a folder on the same disk, in which each file gets a second link named after its
//                  inode, so that its content outlives its deletion.
//
// A file that is opened to be overwritten becomes a new file, so that its old content stays in the
// second link. Apart from that, LevelDB only appends to files, so a size and the content at the end
// say what was in a file at any time. It writes through stdio and reads through mmap.
//
// One lock makes the order of the events that of the calls. A sync of a file holds no lock, because
// it takes long: its event has the size that the file had before, and comes after.
#include "../shared/real-calls.h"
#include <pthread.h>

#define MAX_FDS 65536

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *folder;
static const char *saved;
static int log_fd = -1;
/* The last recorded size of the file of a descriptor, -1 if it is not recorded. */
static off_t sizes[MAX_FDS];

REAL(int, open, const char *, int, ...)
REAL(int, open64, const char *, int, ...)
REAL(FILE *, fopen, const char *, const char *)
REAL(FILE *, fopen64, const char *, const char *)
REAL(int, close, int)
REAL(int, fclose, FILE *)
REAL(int, fflush_unlocked, FILE *)
REAL(size_t, fwrite_unlocked, const void *, size_t, size_t, FILE *)
REAL(ssize_t, write, int, const void *, size_t)
REAL(ssize_t, writev, int, const struct iovec *, int)
REAL(ssize_t, pwrite64, int, const void *, size_t, off64_t)
REAL(int, fsync, int)
REAL(int, fdatasync, int)
REAL(int, rename, const char *, const char *)
REAL(int, unlink, const char *)
REAL(int, link, const char *, const char *)
REAL(int, ftruncate64, int, off64_t)

__attribute__((constructor)) static void begin(void) {
  load_open(); load_open64(); load_fopen(); load_fopen64(); load_close(); load_fclose();
  load_fflush_unlocked(); load_fwrite_unlocked(); load_write(); load_writev(); load_pwrite64();
  load_fsync(); load_fdatasync(); load_rename(); load_unlink(); load_link(); load_ftruncate64();
  for (int fd = 0; fd < MAX_FDS; fd++) sizes[fd] = -1;
  const char *path = getenv("KW_POWER_LOG");
  saved = getenv("KW_POWER_SAVED");
  folder = getenv("KW_POWER_FOLDER");
  if (!path || !saved || !folder) {
    folder = NULL;
    return;
  }
  log_fd = real_open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (log_fd < 0) abort();
}

static void record(const char *format, ...) {
  char line[1024];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  /* A lost event would make a wrong disk state. */
  if (length >= (int)sizeof line || real_write(log_fd, line, length) != length) abort();
}

/* The name of a file directly in the folder, or NULL. */
static const char *name_in_folder(const char *path) {
  if (!folder || !path) return NULL;
  size_t length = strlen(folder);
  if (strncmp(path, folder, length) != 0 || path[length] != '/') return NULL;
  const char *name = path + length + 1;
  return *name == 0 || strchr(name, '/') ? NULL : name;
}

/* A descriptor of an unrecorded file. Its number may be that of a file that was closed by libuv,
 * which calls the system directly. */
static int unrecorded(int fd) {
  if (folder && fd >= 0 && fd < MAX_FDS) sizes[fd] = -1;
  return fd;
}

static int is_recorded(int fd) { return fd >= 0 && fd < MAX_FDS && sizes[fd] >= 0; }

static int is_folder(int fd) {
  struct stat of_fd, of_folder;
  return folder && fstat(fd, &of_fd) == 0 && S_ISDIR(of_fd.st_mode) &&
         stat(folder, &of_folder) == 0 && of_fd.st_ino == of_folder.st_ino &&
         of_fd.st_dev == of_folder.st_dev;
}

static void record_size(int fd) {
  struct stat status;
  if (!is_recorded(fd) || fstat(fd, &status) != 0 || status.st_size == sizes[fd]) return;
  sizes[fd] = status.st_size;
  record("size %lu %ld\n", (unsigned long)status.st_ino, (long)status.st_size);
}

/* Called with the lock, after a file was opened for writing. */
static void record_open(const char *path, const char *name, int fd, int is_new) {
  struct stat status;
  if (fd >= MAX_FDS || fstat(fd, &status) != 0) abort();
  sizes[fd] = status.st_size;
  if (!is_new) return;
  char copy[4096];
  snprintf(copy, sizeof copy, "%s/%lu", saved, (unsigned long)status.st_ino);
  if (real_link(path, copy) != 0) abort();
  record("name %s %lu\n", name, (unsigned long)status.st_ino);
}

#define OPEN(function)                                                             \
  int function(const char *path, int flags, ...) {                                 \
    va_list arguments;                                                             \
    va_start(arguments, flags);                                                    \
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;   \
    va_end(arguments);                                                             \
    load_##function();                                                             \
    const char *name = name_in_folder(path);                                       \
    if (!name || (flags & O_ACCMODE) == O_RDONLY)                                  \
      return unrecorded(real_##function(path, flags, mode));                       \
    pthread_mutex_lock(&lock);                                                     \
    if (flags & O_TRUNC) real_unlink(path);                                        \
    int is_new = access(path, F_OK) != 0;                                          \
    int fd = real_##function(path, flags, mode);                                   \
    int error = errno;                                                             \
    if (fd >= 0) record_open(path, name, fd, is_new);                              \
    pthread_mutex_unlock(&lock);                                                   \
    errno = error;                                                                 \
    return fd;                                                                     \
  }
OPEN(open)
OPEN(open64)

#define FOPEN(function)                                                  \
  FILE *function(const char *path, const char *mode) {                   \
    load_##function();                                                   \
    const char *name = name_in_folder(path);                             \
    if (!name || mode[0] == 'r') return real_##function(path, mode);     \
    pthread_mutex_lock(&lock);                                           \
    if (mode[0] == 'w') real_unlink(path);                               \
    int is_new = access(path, F_OK) != 0;                                \
    FILE *file = real_##function(path, mode);                            \
    int error = errno;                                                   \
    if (file) record_open(path, name, fileno(file), is_new);             \
    pthread_mutex_unlock(&lock);                                         \
    errno = error;                                                       \
    return file;                                                         \
  }
FOPEN(fopen)
FOPEN(fopen64)

int close(int fd) {
  load_close();
  return real_close(unrecorded(fd));
}

int fclose(FILE *file) {
  load_fclose();
  int fd = file ? fileno(file) : -1;
  if (!is_recorded(fd)) return real_fclose(file);
  pthread_mutex_lock(&lock);
  fflush(file);
  record_size(fd);
  sizes[fd] = -1;
  int result = real_fclose(file);
  pthread_mutex_unlock(&lock);
  return result;
}

/* Calls that make a file longer. */
#define GROWING(type, function, parameters, arguments, fd_of_call) \
  type function parameters {                                       \
    load_##function();                                             \
    int fd = fd_of_call;                                           \
    if (!is_recorded(fd)) return real_##function arguments;        \
    pthread_mutex_lock(&lock);                                     \
    type result = real_##function arguments;                       \
    int error = errno;                                             \
    record_size(fd);                                               \
    pthread_mutex_unlock(&lock);                                   \
    errno = error;                                                 \
    return result;                                                 \
  }
GROWING(int, fflush_unlocked, (FILE * file), (file), file ? fileno(file) : -1)
GROWING(size_t, fwrite_unlocked, (const void *data, size_t size, size_t count, FILE *file),
        (data, size, count, file), fileno(file))
GROWING(ssize_t, write, (int number, const void *data, size_t size), (number, data, size), number)
GROWING(ssize_t, writev, (int number, const struct iovec *parts, int count),
        (number, parts, count), number)
GROWING(ssize_t, pwrite64, (int number, const void *data, size_t size, off64_t offset),
        (number, data, size, offset), number)

#define SYNC(function)                                                              \
  int function(int fd) {                                                            \
    load_##function();                                                              \
    if (is_recorded(fd)) {                                                          \
      struct stat status;                                                           \
      int is_known = fstat(fd, &status) == 0;                                       \
      int result = real_##function(fd);                                             \
      int error = errno;                                                            \
      if (result == 0 && is_known)                                                  \
        record("sync %lu %ld\n", (unsigned long)status.st_ino, (long)status.st_size); \
      errno = error;                                                                \
      return result;                                                                \
    }                                                                               \
    if (!is_folder(fd)) return real_##function(fd);                                 \
    pthread_mutex_lock(&lock);                                                      \
    int result = real_##function(fd);                                               \
    int error = errno;                                                              \
    if (result == 0) record("folder\n");                                            \
    pthread_mutex_unlock(&lock);                                                    \
    errno = error;                                                                  \
    return result;                                                                  \
  }
SYNC(fsync)
SYNC(fdatasync)

/* The inode of a path. It exists, because a call with it has succeeded. */
static unsigned long inode_of(const char *path) {
  struct stat status;
  if (stat(path, &status) != 0) abort();
  return status.st_ino;
}

int rename(const char *from, const char *to) {
  load_rename();
  const char *from_name = name_in_folder(from);
  const char *to_name = name_in_folder(to);
  // A socket holds no data.
  struct stat moved;
  if ((!from_name && !to_name) || (lstat(from, &moved) == 0 && S_ISSOCK(moved.st_mode)))
    return real_rename(from, to);
  pthread_mutex_lock(&lock);
  int result = real_rename(from, to);
  int error = errno;
  if (result == 0) {
    if (from_name && to_name) record("rename %s %s %lu\n", from_name, to_name, inode_of(to));
    else record("unmodelled rename between folders\n");
  }
  pthread_mutex_unlock(&lock);
  errno = error;
  return result;
}

int unlink(const char *path) {
  load_unlink();
  const char *name = name_in_folder(path);
  if (!name) return real_unlink(path);
  pthread_mutex_lock(&lock);
  int result = real_unlink(path);
  int error = errno;
  if (result == 0) record("unlink %s\n", name);
  pthread_mutex_unlock(&lock);
  errno = error;
  return result;
}

int link(const char *from, const char *to) {
  load_link();
  const char *name = name_in_folder(to);
  if (!name) return real_link(from, to);
  pthread_mutex_lock(&lock);
  int result = real_link(from, to);
  int error = errno;
  if (result == 0) record("name %s %lu\n", name, inode_of(to));
  pthread_mutex_unlock(&lock);
  errno = error;
  return result;
}

int ftruncate64(int fd, off64_t size) {
  load_ftruncate64();
  if (is_recorded(fd)) record("unmodelled ftruncate\n");
  return real_ftruncate64(fd, size);
}
