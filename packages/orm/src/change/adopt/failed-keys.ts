import type { AtomicOperation, Kv, KvKey } from "@keywright/core";
import type { CompiledModel } from "../../model/compiled-model.js";
import { key as keyShape } from "../../model/shape.js";
import { type SystemShape, systemValue } from "../../state/catalog/system-value.js";
import type { TableContext } from "../../state/context/table-context.js";
import type { AdoptRun } from "./adopt-run.js";
import {
  type AdoptState,
  adoptAgain,
  allFailedKeysPrefix,
  failedKeysPrefix,
} from "./adopt-state.js";

/** The key of a document that is to be adopted again. */
const sourceKeyShape: SystemShape<KvKey> = { problemOf: keyShape, remedy: adoptAgain };

const deletedAtOnce = 100;

/** Appends the keys of documents that failed to the list of the pass, with the state after them. */
export function setFailedKeys(
  operation: AtomicOperation,
  model: CompiledModel,
  { pass, failedCount }: AdoptState,
  keys: readonly KvKey[],
): void {
  const prefix = failedKeysPrefix(model, pass);
  for (const [i, key] of keys.entries()) operation.set([...prefix, failedCount + i], key);
}

/** Returns fewer keys than `limit` only at the end of the list of the pass before. */
export async function keysToRetry(
  kv: Kv,
  model: CompiledModel,
  { pass, toRetry, retried }: AdoptState,
  limit: number,
): Promise<KvKey[]> {
  const prefix = failedKeysPrefix(model, pass - 1);
  const keys: KvKey[] = [];
  const selector = { start: [...prefix, retried], end: [...prefix, toRetry] };
  if (retried >= toRetry) return keys;
  for await (const entry of kv.list(selector, { limit, batchSize: limit })) {
    keys.push(systemValue(entry, sourceKeyShape, model.name)!);
  }
  return keys;
}

/** @param before the first pass whose list is kept. Without it, all lists are deleted. */
export async function forgetFailedKeys(
  { kv, model }: TableContext,
  run: AdoptRun,
  before?: number,
): Promise<void> {
  if (run.dryRun) return;
  const prefix = allFailedKeysPrefix(model);
  const selector = before === undefined ? { prefix } : { prefix, end: [...prefix, before] };
  for (;;) {
    const found: KvKey[] = [];
    for await (const { key } of kv.list(selector, { limit: deletedAtOnce })) found.push(key);
    if (found.length === 0) return;
    await run.commit((operation) => {
      for (const key of found) operation.delete(key);
    });
  }
}
