import type { Progress } from "@keywright/core";
import type { Row } from "./rows.js";
import type { StudioError } from "./studio-error.js";
import type { KeyPart } from "./studio-info.js";

export interface MigrationState {
  readonly models: readonly {
    readonly model: string;
    readonly indexes: Readonly<Record<string, IndexProgressInfo>>;
    /** The number of rows that could not be changed to the new schema. */
    readonly failed: number;
  }[];
  readonly steps: readonly StepInfo[];
  /**
   * The models that the plan takes back: to a schema that the database had before, or by the `down`
   * of a migration.
   */
  readonly goesBack: readonly string[];
  /** True if programs with the models of the database can still write after the plan. */
  readonly isSideBySide: boolean;
  readonly migrations: readonly {
    readonly name: string;
    readonly model: string;
    /** Why it cannot be undone, as a clause after "because". Null if it can. */
    readonly obstacle: string | null;
  }[];
  /** Changes that no step brings about, as sentences. */
  readonly warnings: readonly string[];
  readonly databaseOnly: readonly { readonly model: string; readonly rows: number | null }[];
  /** The run that holds the lease: of this or of another process. */
  readonly runner: {
    readonly host: string;
    readonly since: Date;
    readonly isAlive: boolean;
  } | null;
}

export interface IndexProgressInfo {
  readonly state: string;
  readonly isDeclared: boolean;
  readonly progress: Progress | null;
  readonly duplicates: number;
}

export interface StepInfo {
  readonly id: string;
  readonly model: string;
  readonly kind: string;
  /** `safe`, `backfill`, `rebuild`, `data` or `breaking`. A breaking step has to be accepted. */
  readonly class: string;
  readonly reason: string;
  /** The action that must come first, for people. Null if the step can run. */
  readonly blocked: string | null;
}

/** A long piece of work of this studio. One runs at a time. `try` is a migration without writes. */
export interface Job {
  readonly kind: "migrate" | "try" | "verify" | "repair" | "files";
  readonly state: "running" | "stopping" | "ended" | "failed";
  readonly progress: JobProgress | null;
  /**
   * How it ended: `done`, `stopped`, `passed`, `would-fail`, `duplicates`, `clean`, `damaged`, …
   */
  readonly outcome: string | null;
  readonly error: StudioError | null;
  /** The damage that a verification found, by index. */
  readonly found: readonly FoundDamage[];
  /** What a change of rows would do. A migration changes nothing if rows would fail. */
  readonly tried: readonly TriedModel[];
  /** What a check of the files found, or null if none was made. */
  readonly files: CheckedFiles | null;
}

export interface CheckedFiles {
  /** The number of files with tables, and their bytes. */
  readonly files: number;
  readonly bytes: number;
  readonly damages: readonly DamagedPlace[];
}

/** A place in a file whose bytes are not those that were written. */
export interface DamagedPlace {
  readonly file: string;
  /** In bytes from the beginning of the file. */
  readonly offset: number;
  readonly reason: string;
  /**
   * The keys between which entries may be missing or wrong, both inclusive. Bytes if they are no
   * keys of entries. Null if they are not known.
   */
  readonly firstKey: readonly KeyPart[] | Uint8Array | null;
  readonly lastKey: readonly KeyPart[] | Uint8Array | null;
  /** The rows and indexes with keys between these, for people. Null if it may be any entry. */
  readonly affected: readonly string[] | null;
}

/** In rows, or in bytes if files are checked. */
export type JobProgress = Progress & { readonly model: string };

/** What a planned change of rows makes of all rows of a model that it has not reached yet. */
export interface TriedModel {
  readonly model: string;
  readonly rows: number;
  readonly changed: number;
  /** Rows that the change or an index refuses. They would stay as they are. */
  readonly failed: number;
  /** In how many rows each field is added, changed or removed. */
  readonly fields: readonly {
    readonly field: string;
    readonly added: number;
    readonly changed: number;
    readonly removed: number;
  }[];
  /** The first rows that would change, with the fields that differ. */
  readonly examples: readonly { readonly key: Row; readonly before: Row; readonly after: Row }[];
  /** The first rows that would fail. */
  readonly failures: readonly { readonly key: Row; readonly reason: string }[];
}

export interface FoundDamage {
  readonly model: string;
  readonly rows: number;
  /**
   * The name of an index, or what else was verified: `"counts, sums and ranks"` or `"copied
   * fields"`.
   */
  readonly index: string;
  readonly missing: number;
  readonly dangling: number;
  readonly mismatched: number;
}
