export const exitCodes = {
  /** Done, or all files are up to date. */
  done: 0,
  failed: 1,
  usage: 2,
  /** With `--check`: files are not up to date. */
  stale: 3,
  /** A plan has breaking steps or lacks a migration, or an import has refused entries. */
  undecided: 3,
} as const;

/** The exit code of shells for Ctrl-C, used if a second Ctrl-C ends the process. */
export const interruptedExitCode = 130;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];
