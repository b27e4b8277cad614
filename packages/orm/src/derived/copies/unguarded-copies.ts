import type { RelatedStore } from "../../state/context/table-context.js";
import { unguardedCopies } from "../../state/schema/manifests/model-manifest.js";

/**
 * Records which copies a program without their relation may have let become outdated. They are
 * filled by `migrate`, and indexes with them cannot be read until then.
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
