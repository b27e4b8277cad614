import type { RelatedStore } from "../../state/context/table-context.js";
import { unguardedCopies } from "../../state/schema/manifests/model-manifest.js";

/**
 * Records which copied fields may be outdated, because a program whose model lacks the relation
 * does not update them. `migrate` fills them again. Until then, indexes with them cannot be read.
 */
export async function recordUnguardedCopies(tables: RelatedStore["tables"]): Promise<void> {
  const models = Array.from(tables.values(), ({ model }) => model);
  const storedOf = (name: string) => tables.get(name)?.catalog.snapshot.entry.relations ?? [];
  for (const { model, catalog } of tables.values()) {
    if (model.copied.size === 0) continue;
    const unguarded = unguardedCopies(model, models, storedOf);
    if (unguarded.length > 0) await catalog.recordUnfilled(unguarded.map(({ text }) => text));
  }
}
