import type { Progress } from "../../engine/progress.js";
import type { KvEntry } from "../kv.js";

/** The result of a copy. */
export interface CopyResult {
  /** Entries that were copied, including those of the earlier calls that this call resumes. */
  readonly entries: number;
  /** Bytes of their keys and values in Keywright's encoding. */
  readonly bytes: number;
  /** The number that `entries` reaches at the end. */
  readonly total: number;
  /**
   * Entries that were compared with the source, if the option `verify` is true or the source has no
   * views.
   */
  readonly verified: number;
  /** Messages of the queue that were copied. Only a file of Deno KV has them. */
  readonly messages: number;
  /** True if this call resumed a copy that had stopped. */
  readonly resumed: boolean;
}

/**
 * The progress of a copy, in entries, with the result so far. A copy that stops returns no result.
 */
export type CopyProgress = Progress<"copying" | "verifying"> & CopyResult;

/** Options of `copyKv`. */
export interface CopyOptions {
  /** Called after each commit. If it throws, the copy stops with its error. */
  readonly onProgress?: (progress: CopyProgress) => void;
  /**
   * Returns in how many milliseconds the copy of an entry expires. For a source that does not
   * report it, such as a `Deno.Kv`. If it returns undefined, the copy expires when the source
   * reports that the entry does. If it returns 0 or less, the entry is left out.
   */
  readonly expireIn?: (entry: KvEntry<unknown>) => number | undefined;
  /**
   * If it is false, the messages of the queue are left out. The default is true. Only a file of
   * Deno KV has them.
   */
  readonly messages?: boolean;
  /** Begins with the first entry and ignores the progress of an earlier call. */
  readonly restart?: boolean;
  /**
   * Compares all entries of the source with the target at the end. The default is false. A source
   * without views is always compared.
   */
  readonly verify?: boolean;
  /** Stops the copy between two commits, with the reason of the signal. */
  readonly signal?: AbortSignal;
}
