import { compareKeys, type Kv, type KvKey, type KvKeyPart } from "@keywright/core";
import { expect } from "vitest";
import { compileModel, type Model } from "../src/index.js";

/**
 * Checks by a scan of the whole database that a model's rows and the entries of some of its indexes match exactly, both
 * ways. It says itself which entries a row has.
 */
export async function expectIndexesToMatch(
  kv: Kv,
  model: Model,
  indexNames?: string[],
): Promise<void> {
  const compiled = compileModel(model);
  const indexes = compiled.indexes.filter(({ name }) => indexNames?.includes(name) ?? true);
  const expected: [KvKey, unknown][] = [];
  for await (const { key, value } of kv.list<Record<string, KvKeyPart | undefined>>({
    prefix: [model.name],
  })) {
    const id = key.slice(1);
    for (const { prefix, fields, normalize, unique } of indexes) {
      const values = fields.flatMap((field) => value[field] ?? []);
      if (values.length < fields.length) continue;
      const parts = normalize ? values.map(normalize) : values;
      expected.push([[prefix, ...parts, ...(unique ? [] : id)], id.length === 1 ? id[0] : id]);
    }
  }
  const found: [KvKey, unknown][] = [];
  for (const { prefix } of indexes) {
    for await (const { key, value } of kv.list({ prefix: [prefix] })) found.push([key, value]);
  }
  const inOrder = (entries: [KvKey, unknown][]) => entries.sort(([a], [b]) => compareKeys(a, b));
  expect(inOrder(found)).toEqual(inOrder(expected));
}
