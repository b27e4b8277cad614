import type { KvEntry, KvKey, KvKeyPart } from "@keywright/core";
import type { AnyRow, CompiledIndex } from "../../model/compiled-model.js";
import type { ModelStore } from "../../state/context/model-store.js";
import type { RelatedStore } from "../../state/context/table-context.js";
import type { MigrationRun } from "../../state/run/migration-run.js";
import type { Verification } from "./verification.js";

/**
 * Writes rows of a model again, with the fields that they copy as they are now. Returns how many
 * were written. Rows that are gone are skipped.
 *
 * @throws the error of the first row that could not be written.
 */
export type RenewRows = (primaryKeys: readonly (readonly KvKeyPart[])[]) => Promise<number>;

export interface VerificationOptions {
  /** Those to verify. `withVerification` leaves out those that are not complete. */
  readonly indexes: readonly CompiledIndex[];
  readonly repair: boolean;
  /** True to verify nothing but the indexes. */
  readonly onlyIndexes?: boolean;
  /** Rebuilds the counters in any case, if `repair` is true. */
  readonly recount?: boolean;
  /** A stopped verification is resumed only by a call with the same text. */
  readonly partOf?: string;
  readonly rowsTotal?: number | undefined;
  /** How many rows or entries are read before the progress is stored again. */
  readonly saveEvery?: number;
}

/** What a kind of derived data needs to verify a model. */
export interface VerifyContext<Store extends ModelStore = RelatedStore>
  extends VerificationOptions {
  readonly store: Store;
  readonly run: MigrationRun;
  readonly verification: Verification;
  /** Repairs rows. Absent if the indexes are verified alone. */
  readonly renewRows?: RenewRows;
}

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

export type Suspects<Found> = readonly Suspect<Found>[];

/** A scan of keys that one kind of derived data has. */
export interface Walk<Found> {
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
 * How one kind of derived data is compared with the rows. There are two phases. In the first phase,
 * the rows and then the walks of all kinds add to the sums of the verification and subtract from
 * them. What has no sums is compared directly. The second phase repeats this if the sums are not
 * zero, and compares what may differ.
 */
export interface Verifier<Found = unknown, Store extends ModelStore = RelatedStore> {
  /** Returns what looks wrong about a page of the rows. It may contain entries with longer keys. */
  compare(
    page: readonly KvEntry<AnyRow>[],
    context: VerifyContext<Store>,
  ): Suspects<Found> | Promise<Suspects<Found>>;
  /** Returns the walks of the current phase, which follow the rows, always in the same order. */
  walks?(context: VerifyContext<Store>): readonly Walk<Found>[];
  /** Adds findings to the verification, and repairs them under checks if it is asked to. */
  settle(found: readonly Confirmed<Found>[], context: VerifyContext<Store>): Promise<void>;
  /** Called after all scans. Resolves to true if all of the kind is to be built again. */
  mustRebuild?(context: VerifyContext<Store>): Promise<boolean>;
}
