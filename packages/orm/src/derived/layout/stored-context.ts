import { ModelCatalog } from "../../state/catalog/model-catalog.js";
import { withPrimaryKey } from "../../state/catalog/other-layout.js";
import type { ModelStore } from "../../state/context/model-store.js";

/**
 * Returns the context of a program with the same model that has the primary key of the database. In
 * it, a run builds the rows by the key of the program, like any program that still writes.
 */
export async function storedContext<Context extends ModelStore>(
  context: Context,
): Promise<Context> {
  const { kv, catalog } = context;
  const model = withPrimaryKey(context.model, catalog.snapshot.storedKey);
  const { relations } = catalog.snapshot.entry;
  return { ...context, model, catalog: await ModelCatalog.open(kv, model, { relations }) };
}
