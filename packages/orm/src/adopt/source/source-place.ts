import { type Kv, type KvKey, ulid } from "@keywright/core";
import { InvalidArgumentError } from "../../errors/query-errors.js";
import type { CompiledModel } from "../../model/compiled-model.js";
import type { AdoptRun } from "../adopt-run.js";
import { adoptingKey } from "../adopt-state.js";
import type { SourceKv, SourceLayout } from "./source-layout.js";

/**
 * Whether what is written to a database can be read from the source: they are one, however each of them was opened. A dry
 * run looks only at whether they are the same object.
 */
export async function isSameDatabase(kv: Kv, source: SourceKv, run: AdoptRun): Promise<boolean> {
  if ((source as unknown) === kv || run.dryRun) return (source as unknown) === kv;
  const mark = ulid();
  await run.commit(() => kv.atomic().set(adoptingKey, mark));
  const { value } = await source.get(adoptingKey);
  await run.commit(() => kv.atomic().delete(adoptingKey));
  return value === mark;
}

/**
 * Whether the documents of a source in the same database are the model's own rows, so that there is nothing to write.
 *
 * @throws {InvalidArgumentError} where the model would write among what is the source's.
 */
export function isInPlace(
  model: CompiledModel,
  models: Iterable<CompiledModel>,
  layout: SourceLayout,
): boolean {
  const [first, ...more] = layout.rows;
  if (first === model.prefix && more.length === 0) return true;
  for (const { name, prefix, indexes } of models) {
    const own = [prefix, ...indexes.map((index) => index.prefix)];
    const taken = own.find((part) => [layout.rows, ...layout.indexes].some(within(part)));
    if (taken === undefined) continue;
    const reason = `the source is in the same database, and model ${name} writes under ${JSON.stringify(taken)}, where the source is: give it other prefixes, or adopt into another database`;
    throw new InvalidArgumentError(model.name, "models", reason);
  }
  return false;
}

function within(part: string): (key: KvKey) => boolean {
  return (key) => key.length === 0 || key[0] === part;
}
