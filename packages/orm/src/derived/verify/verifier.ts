import type { KvEntry, KvKey } from "@keywright/core";
import type { AnyRow } from "../../model/compiled-model.js";

/**
 * Reads again what looked wrong in a scan, with everything that it depends on in one snapshot or
 * while nothing of it changes. Resolves to undefined if it is right by then.
 */
export type Suspect<Found> = () => Promise<Found | undefined>;

/** Something that is wrong, and how to read it once more. */
export interface Confirmed<Found> {
  readonly found: Found;
  readonly readAgain: Suspect<Found>;
}

type Suspects<Found> = readonly Suspect<Found>[];

/** A scan of keys that one kind of derived data has. */
export interface Scan<Found> {
  /** The prefix of the keys. Undefined if `compare` reads them itself, all in one call. */
  readonly prefix: KvKey | undefined;
  /**
   * Returns what looks wrong in a page, which others may have changed since it was read.
   *
   * @param after the last key before the page. Null at the beginning.
   * @returns `"stopped"` if the signal stopped it. Then it is called again by the next run.
   */
  compare(
    page: readonly KvEntry<unknown>[],
    after: KvKey | null,
  ): Suspects<Found> | Promise<Suspects<Found> | "stopped">;
}

/**
 * Compares one kind of derived data with the rows. There are two phases. In the first, the rows and
 * then the scans of all kinds add to the sums of the verification and subtract from them, or
 * compare what no sums are made of. The second phase repeats this if the sums are not zero, and
 * compares what may differ.
 */
export interface Verifier<Found = unknown> {
  /** Returns what looks wrong about a page of the rows. It may contain entries with longer keys. */
  compareRows?(page: readonly KvEntry<AnyRow>[]): Suspects<Found> | Promise<Suspects<Found>>;
  /** Returns the scans of the current phase after the one of the rows, always in the same order. */
  scans?(): readonly Scan<Found>[];
  /** Adds findings to the verification, and repairs them under checks if it is asked to. */
  settle(found: readonly Confirmed<Found>[]): Promise<void>;
  /** Called after all scans. Resolves to true if all of the kind is to be built again. */
  mustRebuild?(): Promise<boolean>;
}
