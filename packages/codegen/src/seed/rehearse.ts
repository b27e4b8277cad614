import type { SeedModel } from "./seed-model.js";
import { type SeedTarget, seedRows } from "./seed-rows.js";
import type { Fakes } from "./values/fakes.js";

/** The most rows of a model that a rehearsal generates. */
const mostRows = 1000;

/**
 * True if references share a field, such as that of a tenant: rows for all of them may not exist.
 */
export function mayLackParents(models: readonly SeedModel[]): boolean {
  return models.some(({ count, references }) => {
    const fields = references.flatMap((reference) => reference.fields);
    return count > 0 && new Set(fields).size < fields.length;
  });
}

/**
 * Generates rows without writing them, so that a reference that no row can satisfy is found before
 * the first row is written.
 *
 * @throws the errors of {@link seedRows}, except those of the database.
 */
export async function rehearse(
  models: readonly SeedModel[],
  fakes: Fakes,
  target: Pick<SeedTarget, "existing">,
  signal: AbortSignal,
): Promise<void> {
  const fewer = models.map((model) => ({ ...model, count: Math.min(model.count, mostRows) }));
  const unwritten: SeedTarget = {
    existing: (model) => target.existing(model),
    write: async (_, rows) => rows.map(({ row }) => ({ ok: true, row })),
    onProgress: () => undefined,
  };
  await seedRows(fewer, fakes, unwritten, signal);
}
