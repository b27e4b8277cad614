import type { KvKey, KvKeyPart } from "@keywright/core";
import type { CompiledIndex } from "../../../model/compiled-model.js";
import { rowHasKey } from "../../../model/keys/expected-entries.js";
import { rowKey } from "../../../model/keys/primary-key.js";
import type { ModelStore } from "../../../state/context/model-store.js";
import { readStored } from "../../../state/rows/read-rows.js";
import type { PageReader } from "../../../state/run/page-reader.js";
import { inspectEntry, primaryKeyAt } from "./inspect-entry.js";
import type { Suspect, VerifyStep } from "./verify-rows.js";
import type { Verification } from "./verify-state.js";

export async function sumEntries(
  context: ModelStore,
  pages: PageReader,
  verification: Verification,
  index: CompiledIndex,
  limit: number,
): Promise<VerifyStep> {
  const { after } = verification.state;
  const { entries, isLast } = await pages.entries([index.place], after, limit);
  for (const { key, value } of entries) verification.sums.remove(context.model, key, value);
  const looked = entries.length;
  const last = entries.at(-1);
  if (last !== undefined) verification.advance(last.key, looked, "entries");
  return { looked, isLast, suspects: [] };
}

/** Skips entries of pointers that the sums show to be right. */
export async function verifyEntries(
  context: ModelStore,
  pages: PageReader,
  verification: Verification,
  index: CompiledIndex,
  limit: number,
): Promise<VerifyStep> {
  const { model } = context;
  const { after } = verification.state;
  const { entries, isLast } = await pages.entries([index.place], after, limit);
  const isPointer = index.store === "pointer";
  const suspects: Suspect[] = [];
  const suspect = (key: KvKey) => suspects.push(() => inspectEntry(context, index, key));
  const named: { key: KvKey; primaryKey: readonly KvKeyPart[] }[] = [];
  for (const { key, value } of entries) {
    if (isPointer && !verification.sums.differsAt(key)) continue;
    const primaryKey = primaryKeyAt(model, index, key, value);
    if (primaryKey === undefined) suspect(key);
    else named.push({ key, primaryKey });
  }
  const rows = await readStored(
    context,
    named.map(({ primaryKey }) => rowKey(model, primaryKey)),
  );
  for (const [i, { key, primaryKey }] of named.entries()) {
    const row = rows[i];
    if (row === undefined || !rowHasKey(model, index, key, primaryKey, row)) suspect(key);
  }
  const looked = entries.length;
  const last = entries.at(-1);
  // Entries of pointers were already counted when they were summed up.
  if (last !== undefined) verification.advance(last.key, looked, isPointer ? undefined : "entries");
  return { looked, isLast, suspects };
}
