import type { TableContext } from "../../context/table-context.js";
import type { CompiledIndex } from "../../model/compiled-model.js";
import { commitBatch } from "../run/commit-batch.js";
import type { MigrationRun } from "../run/migration-run.js";
import { addBatch, type BackfillBatch } from "./backfill-batch.js";

/**
 * Writes the entries of one row that has more of them than one commit takes: some with each commit, under the checks of the
 * whole batch. Where the row changes between two of them its writer takes away what is there of the old one, as writers do with
 * any row of an index that is built.
 *
 * @returns the indexes of entries that are too large even alone; undefined where a check failed or the signal stopped it.
 * @throws {LeaseLostError} where another runner has the lease.
 */
export async function fillInPieces(
  context: TableContext,
  run: MigrationRun,
  { checks, entries, duplicates }: BackfillBatch,
): Promise<CompiledIndex[] | undefined> {
  const { kv, catalog, model } = context;
  const { check } = catalog.snapshot;
  const refused = new Set<CompiledIndex>();
  const writes: BackfillBatch[] = [
    ...entries.map((entry) => ({ checks, entries: [entry], duplicates: [], unindexed: [] })),
    ...duplicates.map((each) => ({ checks, entries: [], duplicates: [each], unindexed: [] })),
  ];
  let [at, size] = [0, Math.max(1, Math.ceil(writes.length / 2))];
  while (at < writes.length) {
    if (run.signal?.aborted) return undefined;
    const some = writes.slice(at, at + size);
    const piece: BackfillBatch = {
      checks,
      entries: some.flatMap((write) => write.entries),
      duplicates: some.flatMap((write) => write.duplicates),
      unindexed: [],
    };
    const result = await commitBatch(run.lease, () => {
      const operation = kv.atomic().check(check);
      addBatch(context, operation, piece);
      return operation;
    });
    await run.took(0);
    if (result.ok) at += some.length;
    else if (result.tooLarge === undefined) return undefined;
    else if (some.length > 1) size = Math.max(1, Math.floor(some.length / 2));
    else {
      const names = [
        ...piece.entries.map(({ entry }) => entry.index.name),
        ...piece.duplicates.map(({ index }) => index),
      ];
      for (const index of model.indexes) if (names.includes(index.name)) refused.add(index);
      at++;
    }
  }
  return [...refused];
}
