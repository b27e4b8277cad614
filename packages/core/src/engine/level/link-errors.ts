/** The codes of the errors of a disk without hard links. */
export const linkErrors: readonly string[] = [
  "EPERM",
  "ENOSYS",
  "ENOTSUP",
  "EOPNOTSUPP",
  "EISDIR",
  "EINVAL",
  "UNKNOWN",
];
