/** What the process exits with. */
export const exitCodes = {
  /** It is done, or every file is as it should be. */
  done: 0,
  failed: 1,
  /** The command line is wrong. */
  usage: 2,
  /** With `--check`: files are not as they should be. */
  stale: 3,
  /** A plan has steps that somebody has to decide on first: breaking ones, or ones without their migration. */
  undecided: 3,
} as const;

/** What a shell says of a process that Ctrl-C has ended: a second one ends it in the middle. */
export const interrupted = 130;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];
