import type { Progress } from "../../engine/progress.js";

/**
 * Entries that were copied, commits that were copied after them, entries that were compared, and
 * commits that were copied while the source refused further ones.
 */
export type MoveProgress = Progress<"copying" | "catching up" | "comparing" | "switching">;

/** Options of `moveKv`. */
export interface MoveOptions {
  /**
   * The name of the target that programs are told after the move. It must not contain a password.
   * The default is its path or its URL without user, password and parameters.
   */
  readonly to?: string | undefined;
  /**
   * Ends the move with the reason of the signal. The source stays in charge, and the target cannot
   * be opened until it was moved again.
   */
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: MoveProgress) => void) | undefined;
}

/** The result of a move. */
export interface MoveResult {
  /** Entries and messages that were copied at first. 0 if an interrupted move was continued. */
  readonly entries: number;
  /** Commits that programs made during the move, and that were copied after the entries. */
  readonly commits: number;
  /** Entries and messages that were compared before the source refused commits. */
  readonly compared: number;
  /** Milliseconds from the first refused commit of the source to the end of the move. */
  readonly fencedMilliseconds: number;
  /** True if an interrupted move was continued. */
  readonly resumed: boolean;
  /** The versionstamp that the last commit has in the source. */
  readonly versionstamp: string;
}
