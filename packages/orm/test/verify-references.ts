import type { Kv, KvKey } from "@keywright/core";
import { expect } from "vitest";
import type { Model } from "../src/index.js";

/**
 * Checks by a scan of the whole database that no row refers to one that is not there, and that
 * nothing is left of the guards and jobs of rows that are not there.
 */
export async function expectReferencesToHold(
  kv: Kv,
  models: Readonly<Record<string, Model>>,
): Promise<void> {
  const dangling: string[] = [];
  const isThere = async (key: KvKey) => (await kv.get(key)).versionstamp !== null;
  for (const { name, relations } of Object.values(models)) {
    for await (const { key, value } of kv.list<Record<string, string>>({ prefix: [name] })) {
      for (const [relation, definition] of Object.entries(relations)) {
        if (definition.kind !== "belongsTo") continue;
        const parts = definition.fields.flatMap((field) => value[field] ?? []);
        if (parts.length < definition.fields.length) continue;
        const target = [definition.model, ...parts];
        if (!(await isThere(target))) {
          dangling.push(`${key.join("/")} ${relation} ${target.join("/")}`);
        }
      }
    }
  }
  for (const own of ["refs", "cascade"]) {
    for await (const { key } of kv.list({ prefix: ["__keywright", own] })) {
      if (!(await isThere(key.slice(2)))) dangling.push(key.join("/"));
    }
  }
  expect(dangling).toEqual([]);
}
