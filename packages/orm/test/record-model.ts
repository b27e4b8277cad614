import { type Kv, openKv } from "@keywright/core";
import { createDatabase, type Model } from "../src/index.js";

/**
 * Records a model in the catalog of a database as an earlier version did, which did not compare the
 * places of its entries with those of models that only the database has.
 */
export async function recordModel(kv: Kv, model: Model): Promise<void> {
  const other = await openKv();
  try {
    await createDatabase({ kv: other, models: { model } });
    for await (const { key, value } of other.list({ prefix: ["__keywright"] })) {
      if ((await kv.get(key)).versionstamp === null) await kv.set(key, value);
    }
  } finally {
    await other.close();
  }
}
