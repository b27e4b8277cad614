import type { KvKey, KvKeyPart, KvListedEntry } from "@keywright/core";
import type { AnyRow } from "../../model/compiled-model.js";
import { isRow } from "../../model/rows/stored-row.js";
import { storedTime, type Time } from "../../model/rows/time.js";
import type { FoundRow } from "../context/any-query.js";
import type { ReadView } from "../context/read-view.js";
import { isVisible, type StoredValue, storedRow } from "./read-rows.js";

/** The primary key of a row, or the position in the key of its entry where it begins. */
type PrimaryKeyOrPosition = readonly KvKeyPart[] | number;

/**
 * A row that was read with an entry: an index entry, or that of the row. Its keys and its
 * versionstamp are decoded when they are first read.
 */
export class ListedRow implements FoundRow {
  readonly row: AnyRow;
  readonly #entry: KvListedEntry;
  readonly #stored: StoredValue;
  readonly #primaryKey: PrimaryKeyOrPosition;

  /** @param stored what contains the row. */
  constructor(
    row: AnyRow,
    entry: KvListedEntry,
    stored: StoredValue,
    primaryKey: PrimaryKeyOrPosition,
  ) {
    this.row = row;
    this.#entry = entry;
    this.#stored = stored;
    this.#primaryKey = primaryKey;
  }

  get entryKey(): KvKey {
    return this.#entry.key;
  }

  get primaryKey(): readonly KvKeyPart[] {
    return primaryKeyAt(this.#entry, this.#primaryKey);
  }

  get versionstamp(): string {
    return this.#stored.versionstamp;
  }

  get expireAt(): Time | undefined {
    return storedTime(this.#stored.expireAt);
  }
}

/**
 * Returns the row of an entry, under the conditions of `foundRow`. Most rows are what is stored, so
 * their keys are not decoded.
 */
export function listedRow(
  view: ReadView,
  entry: KvListedEntry,
  stored: StoredValue,
  primaryKey: PrimaryKeyOrPosition,
): ListedRow | undefined {
  const { value } = stored;
  const isPlain = isRow(value) && !view.snapshot.upgradesRows && !view.settings.validateReads;
  const row = isPlain ? value : storedRow(view, primaryKeyAt(entry, primaryKey), stored).row;
  return isVisible(view, row) ? new ListedRow(row, entry, stored, primaryKey) : undefined;
}

function primaryKeyAt(
  entry: KvListedEntry,
  primaryKey: PrimaryKeyOrPosition,
): readonly KvKeyPart[] {
  return typeof primaryKey === "number" ? entry.key.slice(primaryKey) : primaryKey;
}
