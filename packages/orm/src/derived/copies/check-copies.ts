import type { KvEntry, KvKeyPart } from "@keywright/core";
import type { RowId } from "../../errors/orm-error.js";
import type { AnyRow } from "../../model/compiled-model.js";
import { keyText } from "../../model/keys/key-text.js";
import { pointerOf } from "../../model/keys/primary-key.js";
import { inParallel } from "../../state/context/in-parallel.js";
import type { ModelStore } from "../../state/context/model-store.js";
import { viewOf } from "../../state/context/read-view.js";
import type { RelatedStore } from "../../state/context/table-context.js";
import { foundRow, readWithSchema } from "../../state/rows/read-rows.js";
import { type MigrationRun, maxBatchRows } from "../../state/run/migration-run.js";
import { readNextRows } from "../../state/run/read-entries-after.js";
import { areOutdated, compareCopies, copyRelations, type SuspectCopies } from "./compare-copies.js";

/** A row whose copied fields differ from the row that it copies, or from their defaults. */
export interface OutdatedCopy {
  readonly model: string;
  /** The primary key of the row with the copies. */
  readonly id: RowId;
  readonly relation: string;
  /** The fields of the row that differ. */
  readonly fields: readonly string[];
}

/** The rows of a model whose copied fields a verification found wrong. */
export interface CheckedCopies {
  /** The number of rows with wrong copies. */
  readonly count: number;
  /** The first 100. A row is listed once for each relation. */
  readonly first: readonly OutdatedCopy[];
  /** How many of these rows were written again. */
  readonly repaired: number;
}

/**
 * Writes rows of the checked model again, with the fields that they copy as they are now. Returns
 * how many were written. Rows that are gone are skipped.
 */
export type RenewCopies = (primaryKeys: readonly (readonly KvKeyPart[])[]) => Promise<number>;

interface CheckOptions {
  /** Writes the rows whose copies are wrong. Absent to only report them. */
  readonly renew?: RenewCopies | undefined;
  /**
   * Is called after each page with the number of rows read so far. Set if the copies are filled for
   * the first time, so that most of them differ and are not compared twice.
   */
  readonly onPage?: (rows: number) => void;
}

const maxListed = 100;
const comparedAtOnce = 8;

/**
 * Compares the copied fields of all rows of a model with the rows that they copy, while others read
 * and write. A row that looks wrong is compared again in one snapshot, or written by a commit that
 * checks both rows.
 *
 * @returns `"stopped"` if the signal stopped it.
 * @throws the error of the first row that could not be written.
 */
export async function checkCopies(
  store: RelatedStore,
  run: MigrationRun,
  { renew, onPage }: CheckOptions,
): Promise<CheckedCopies | "stopped"> {
  const relations = copyRelations(store);
  if (relations.length === 0) return { count: 0, first: [], repaired: 0 };
  const first: OutdatedCopy[] = [];
  let [count, repaired, rows] = [0, 0, 0];
  let after: readonly KvKeyPart[] | null = null;
  for (;;) {
    if (run.signal?.aborted) return "stopped";
    const limit = Math.min(maxBatchRows, run.batchRows);
    const start: readonly KvKeyPart[] | null = after;
    const view = viewOf(store);
    const entries: KvEntry<AnyRow>[] = await readWithSchema(view, () =>
      readNextRows(store, start, limit),
    );
    const found = entries.flatMap((entry) => {
      const primaryKey = entry.key.slice(1);
      if (primaryKey.length !== store.model.primaryKey.length) return [];
      return foundRow(view, primaryKey, entry, true) ?? [];
    });
    const suspects: SuspectCopies[] = [];
    for (const copying of relations) suspects.push(...(await compareCopies(store, copying, found)));
    const outdated = onPage === undefined ? await confirmed(store, suspects) : suspects;
    const ids = new Map(outdated.map(({ primaryKey }) => [keyText(primaryKey), primaryKey]));
    if (renew !== undefined && ids.size > 0) repaired += await renew([...ids.values()]);
    count += ids.size;
    first.push(...outdated.slice(0, maxListed - first.length).map((one) => report(store, one)));
    rows += entries.length;
    await run.afterBatch(entries.length);
    onPage?.(rows);
    after = entries.at(-1)?.key.slice(1) ?? after;
    if (entries.length < limit) return { count, first, repaired };
  }
}

async function confirmed(
  store: RelatedStore,
  suspects: readonly SuspectCopies[],
): Promise<readonly SuspectCopies[]> {
  const isConfirmed = await inParallel(suspects, comparedAtOnce, (one) => areOutdated(store, one));
  return suspects.filter((_, i) => isConfirmed[i]);
}

function report(
  { model }: ModelStore,
  { primaryKey, copying, fields }: SuspectCopies,
): OutdatedCopy {
  return { model: model.name, id: pointerOf(primaryKey), relation: copying.name, fields };
}
