import { type Kv, type KvKey, ulid } from "@keywright/core";
import { InvalidArgumentError } from "../../../errors/query-errors.js";
import type { CompiledModel } from "../../../model/compiled-model.js";
import type { AdoptRun } from "../adopt-run.js";
import { adoptingKey } from "../adopt-state.js";
import type { SourceKv, SourceLayout } from "./source-layout.js";

/** Finds out by a write whether the source is the database. A dry run compares the objects. */
export async function isSameDatabase(kv: Kv, source: SourceKv, run: AdoptRun): Promise<boolean> {
  if ((source as unknown) === kv || run.dryRun) return (source as unknown) === kv;
  const mark = ulid();
  await run.commit((operation) => operation.set(adoptingKey, mark));
  const { value } = await source.get(adoptingKey);
  await run.commit((operation) => operation.delete(adoptingKey));
  return value === mark;
}

/**
 * Returns whether the documents of a source in the same database are the model's own rows, so that
 * nothing has to be written.
 *
 * @throws {InvalidArgumentError} if a model would write where the source has its data.
 */
export function isInPlace(
  model: CompiledModel,
  models: Iterable<CompiledModel>,
  layout: SourceLayout,
): boolean {
  const [first, ...rest] = layout.rows;
  if (first === model.prefix && rest.length === 0) return true;
  for (const { name, prefix, indexes } of models) {
    const prefixes = [prefix, ...indexes.map((index) => index.prefix)];
    const conflict = prefixes.find((part) =>
      [layout.rows, ...layout.indexes].some(startsWith(part)),
    );
    if (conflict === undefined) continue;
    const reason = `the source is in the same database, and the model ${name} stores its entries under ${JSON.stringify(conflict)}, as the source does; give the model other prefixes, or adopt into another database`;
    throw new InvalidArgumentError(model.name, "models", reason);
  }
  return false;
}

function startsWith(part: string): (key: KvKey) => boolean {
  return (key) => key.length === 0 || key[0] === part;
}
