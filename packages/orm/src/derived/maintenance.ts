import type { Kv, KvKey } from "@keywright/core";
import type { CompiledModel } from "../model/compiled-model.js";
import type { CatalogEntry, StoredIndex } from "../state/catalog/catalog-entry.js";
import type { ModelStore } from "../state/context/model-store.js";
import type { RelatedStore } from "../state/context/table-context.js";
import type { MigrationRun } from "../state/run/migration-run.js";
import type { MigrationStep, PlannedStep } from "../state/run/migration-step.js";
import type { ModelFacts } from "../state/run/model-facts.js";
import type { RenewRows, Verifier } from "./verify/verifier.js";

/** An index that is removed from the database. The program need not have it. */
export interface DroppedIndex {
  readonly model: CompiledModel;
  readonly name: string;
  readonly stored: StoredIndex;
  readonly entry: CatalogEntry;
  /** True if another index has the same entries, so that they stay. */
  readonly isShared: boolean;
}

/** Something that is removed: keys are deleted, and the catalog then no longer lists it. */
export interface Drop {
  /** Set if an index is removed, with what all kinds have for it. */
  readonly index?: DroppedIndex;
  readonly prefixes: readonly KvKey[];
  readonly keys?: readonly KvKey[];
  readonly removeFrom: (entry: CatalogEntry) => CatalogEntry;
  /** True if programs may have begun to read by the catalog as it is. They end first. */
  readonly isRead?: true;
}

export interface BuildOptions {
  /** Verifies what was built before it is read. True by default. */
  readonly verify?: boolean | undefined;
  /** Counts the rows first, so that the progress has a total. True by default. */
  readonly count?: boolean | undefined;
}

export interface BuildDerivedOptions extends BuildOptions {
  readonly renewRows: RenewRows;
}

/**
 * How one kind of derived data is planned by migrations, built, removed, verified and repaired. It
 * is apart from `Derived`, because a program that only reads and writes rows does not need it.
 */
export interface Maintenance {
  readonly name: string;
  /** Returns the steps that the plan of a model has for this kind. */
  steps?(facts: ModelFacts): readonly PlannedStep[];
  /**
   * Returns the catalog entry with what it lists of this kind from the moment when a migration with
   * these steps begins.
   */
  begin?(
    entry: CatalogEntry,
    facts: ModelFacts,
    steps: readonly MigrationStep[],
    kv: Kv,
  ): CatalogEntry | Promise<CatalogEntry>;
  /**
   * Returns the catalog entry with everything of this kind disabled that programs will no longer
   * maintain after the migration has begun. So they stop reading it before.
   *
   * @param planned the entry after the migration has begun.
   */
  disable?(entry: CatalogEntry, facts: ModelFacts, planned: CatalogEntry): CatalogEntry;
  /**
   * Returns the prefixes of the keys of this kind for an index, which a drop of the index clears.
   */
  placesOfIndex?(index: DroppedIndex): readonly KvKey[];
  /** Returns the catalog entry after an index was removed, without what it lists of this kind. */
  withoutIndex?(entry: CatalogEntry, name: string): CatalogEntry;
  /** Returns the next thing of this kind that the catalog lists as dropping. */
  nextDrop?(store: ModelStore): Drop | undefined;
  /**
   * Builds for all rows what the catalog or the model lists and is not built yet, while programs
   * write. The next call resumes a build that was stopped or killed.
   *
   * @returns false if the signal stopped it.
   */
  build(store: RelatedStore, run: MigrationRun, options: BuildDerivedOptions): Promise<boolean>;
  /** Compares this kind with the rows. */
  readonly verifier: Verifier;
}
