export const exitCodes = {
  /** Done, or all files are up to date. */
  done: 0,
  failed: 1,
  usage: 2,
  /** With `--check`: files are not up to date. */
  stale: 3,
  /**
   * A decision is needed: a plan has breaking steps or lacks a migration, or an import has refused
   * entries.
   */
  undecided: 3,
} as const;

/**
 * The exit code that shells use for a process that Ctrl-C has ended. Used if a second Ctrl-C ends
 * the process in the middle.
 */
export const interruptedExitCode = 130;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];
