import type { CompiledIndex } from "../../../model/compiled-model.js";
import type { ModelStore } from "../../../state/context/model-store.js";
import type { MigrationRun } from "../../../state/run/migration-run.js";
import { addBatch, type BackfillBatch } from "./backfill-batch.js";

/**
 * Writes the entries of one row that has more entries than one commit accepts. Each commit writes
 * some of them, under all checks of the batch. If the row changes between two commits, its writer
 * removes the old entries that were already written, as for any row of an index that is being
 * built.
 *
 * @returns the indexes with an entry that is too large even for a separate commit. Undefined if a
 * check failed or the signal stopped it.
 */
export async function fillInPieces(
  context: ModelStore,
  run: MigrationRun,
  { checks, entries, duplicates }: BackfillBatch,
): Promise<CompiledIndex[] | undefined> {
  const { kv, catalog, model } = context;
  const { check } = catalog.snapshot;
  const refused = new Set<CompiledIndex>();
  const writes: BackfillBatch[] = [
    ...entries.map((entry) => ({
      checks,
      entries: [entry],
      segments: [],
      duplicates: [],
      unindexed: [],
    })),
    ...duplicates.map((duplicate) => ({
      checks,
      entries: [],
      segments: [],
      duplicates: [duplicate],
      unindexed: [],
    })),
  ];
  let [position, size] = [0, Math.max(1, Math.ceil(writes.length / 2))];
  while (position < writes.length) {
    if (run.signal?.aborted) return undefined;
    const chunk = writes.slice(position, position + size);
    const piece: BackfillBatch = {
      checks,
      entries: chunk.flatMap((write) => write.entries),
      segments: [],
      duplicates: chunk.flatMap((write) => write.duplicates),
      unindexed: [],
    };
    const result = await run.lease.commitBatch(() => {
      const operation = kv.atomic().check(check);
      addBatch(context, operation, piece);
      return operation;
    });
    await run.afterBatch(0);
    if (result.ok) position += chunk.length;
    else if (result.tooLarge === undefined) return undefined;
    else if (chunk.length > 1) size = Math.max(1, Math.floor(chunk.length / 2));
    else {
      const names = [
        ...piece.entries.map(({ entry }) => entry.index.name),
        ...piece.duplicates.map(({ index }) => index),
      ];
      for (const index of model.indexes) if (names.includes(index.name)) refused.add(index);
      position++;
    }
  }
  return [...refused];
}
