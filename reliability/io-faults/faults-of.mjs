/** What else a call of each kind answers if the disk or the process is at a limit. */
const errors = {
  open: ["EIO", "EMFILE", "ENOSPC"],
  read: ["EIO"],
  write: ["EIO", "ENOSPC"],
  sync: ["EIO", "ENOSPC"],
  rename: ["EIO", "ENOSPC"],
  unlink: ["EIO"],
  truncate: ["EIO", "ENOSPC"],
  mmap: ["EIO", "ENOMEM"],
  mkdir: ["EIO", "ENOSPC"],
};
const extents = ["once", "kind", "all"];

/** Returns each fault of each call: every error, once and from then on. */
export function allFaults(made) {
  return places(made).flatMap(({ kind, nth }) =>
    errors[kind].flatMap((error) => extents.map((extent) => ({ kind, nth, error, extent }))),
  );
}

/** Returns one fault of each call. Most of them happen once, because those leave more to go on. */
export function someFaults(made, random) {
  return places(made).map(({ kind, nth }) => ({
    kind,
    nth,
    error: random.pick(errors[kind]),
    extent: random.pick(["once", ...extents]),
  }));
}

function places(made) {
  return Object.entries(made).flatMap(([kind, count]) =>
    Array.from({ length: count }, (_, i) => ({ kind, nth: i + 1 })),
  );
}

/**
 * Returns the limits of a process: 0 to `descriptors` files that it can open, and a disk that is
 * full, or files that may not be larger, after `step` to `bytes` bytes.
 */
export function limitFaults({ descriptors, bytes, step }) {
  const sizes = Array.from({ length: bytes / step }, (_, i) => (i + 1) * step);
  return [
    ...Array.from({ length: descriptors + 1 }, (_, i) => ({ descriptors: i })),
    ...sizes.flatMap((size) => [{ space: size }, { fileSize: size }]),
  ];
}
