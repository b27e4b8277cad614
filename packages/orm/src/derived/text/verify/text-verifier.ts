import { decodeKey, type KvEntry } from "@keywright/core";
import type { AnyRow, CompiledIndex } from "../../../model/compiled-model.js";
import { expectedEntries } from "../../../model/keys/expected-entries.js";
import { isSameKey } from "../../../model/keys/key-parts.js";
import { rowKey } from "../../../model/keys/primary-key.js";
import { readStored } from "../../../state/rows/read-rows.js";
import { loadStemmer } from "../../../text/languages.js";
import type { Confirmed, Suspect, Verifier, VerifyContext, Walk } from "../../verify/verifier.js";
import { nextGroup } from "../compact/compact-groups.js";
import { documentOf } from "../document-words.js";
import { readFresh } from "../read-fresh.js";
import { damageOf } from "../stored-bytes.js";
import { groupOf, primaryKeyOfFresh, stateKey, type TextGroup } from "../text-keys.js";
import { textState } from "../text-state.js";
import { dropDamaged } from "./drop-damaged.js";
import { inspectTextRow, repairTextRow, type TextInspection } from "./inspect-row.js";
import { summedDocuments, sumOfDocument } from "./verify-segments.js";

type Suspects = Suspect<TextInspection>[];

/** How many rows are read together to compare them with the documents of a segment. */
const rowsPerRead = 500;

/**
 * Verifies that each row is in its text indexes exactly once, with its words, and that nothing is
 * there of other rows. The words of a segment are compared by a sum for each document.
 */
export const textVerifier: Verifier<TextInspection> = { compare, walks, settle };

function textIndexes({ indexes }: VerifyContext): readonly CompiledIndex[] {
  return indexes.filter(({ text }) => text !== undefined);
}

async function compare(
  page: readonly KvEntry<AnyRow>[],
  context: VerifyContext,
): Promise<Suspects> {
  const { store, verification } = context;
  const indexes = textIndexes(context);
  if (indexes.length === 0 || !verification.isSumming) return [];
  const suspects: Suspects = [];
  await dropDamagedOnce(context);
  for (const index of indexes) {
    await loadStemmer(index.text!.analyzer.language);
    for (const { key, value } of page) {
      const primaryKey = key.slice(1);
      const [entry] = expectedEntries(store.model, [index], value, primaryKey);
      if (entry === undefined) continue;
      const inspect = () => inspectTextRow(store, index, primaryKey, []);
      if ((await inspect()) !== undefined) suspects.push(inspect);
    }
  }
  return suspects;
}

function walks(context: VerifyContext): Walk<TextInspection>[] {
  if (!context.verification.isSumming) return [];
  return textIndexes(context).map((index) => ({
    prefix: undefined,
    compare: () => compareIndex(context, index),
  }));
}

/** The verifications that have looked for damaged segments. */
const checked = new WeakSet<object>();

/** Before rows are compared, a repair removes segments that cannot be read. */
async function dropDamagedOnce(context: VerifyContext): Promise<void> {
  const { store, run, repair, verification } = context;
  if (!repair || checked.has(verification)) return;
  checked.add(verification);
  for (const index of textIndexes(context)) {
    for (let group = await nextGroup(store, index, undefined); group !== undefined; ) {
      await run.afterBatch(0);
      await dropDamaged(store, run, group);
      group = await nextGroup(store, index, group.values);
    }
  }
}

async function compareIndex(
  context: VerifyContext,
  index: CompiledIndex,
): Promise<Suspects | "stopped"> {
  const { store, run } = context;
  const suspects: Suspects = [];
  await dropDamagedOnce(context);
  await loadStemmer(index.text!.analyzer.language);
  for (let group = await nextGroup(store, index, undefined); group !== undefined; ) {
    await run.afterBatch(0);
    if (run.signal?.aborted) return "stopped";
    suspects.push(...(await compareFresh(store, group)));
    const { segments } = textState(store.model, await store.kv.get(stateKey(group)));
    for (const segment of segments) {
      try {
        suspects.push(...(await compareSegment(store, group, segment)));
      } catch (error) {
        const { segments: now } = textState(store.model, await store.kv.get(stateKey(group)));
        // It was merged while it was read.
        if (now.some(({ id }) => id === segment.id))
          throw damageOf(error, store.model, stateKey(group));
      }
    }
    group = await nextGroup(store, index, group.values);
  }
  return suspects;
}

type Store = VerifyContext["store"];

async function compareFresh(store: Store, group: TextGroup): Promise<Suspects> {
  const { index } = group;
  const suspects: Suspects = [];
  for (const { key } of await readFresh(store, group)) {
    const primaryKey = primaryKeyOfFresh(group, key);
    const inspect = () => inspectTextRow(store, index, primaryKey, [group]);
    // Others were found by their rows.
    if ((await inspect())?.finding.kind === "dangling") suspects.push(inspect);
  }
  return suspects;
}

async function compareSegment(
  store: Store,
  group: TextGroup,
  segment: Parameters<typeof summedDocuments>[2],
): Promise<Suspects> {
  const { model } = store;
  const { index } = group;
  const documents = await summedDocuments(store, group, segment);
  const suspects: Suspects = [];
  for (let from = 0; from < documents.length; from += rowsPerRead) {
    const some = documents.slice(from, from + rowsPerRead);
    const primaryKeys = some.map(({ key }) => decodeKey(key));
    const rows = await readStored(
      store,
      primaryKeys.map((primaryKey) => rowKey(model, primaryKey)),
    );
    for (const [i, { length, sum }] of some.entries()) {
      const { value, versionstamp } = rows[i]!;
      const primaryKey = primaryKeys[i]!;
      const [entry] =
        versionstamp === null ? [] : expectedEntries(model, [index], value, primaryKey);
      const isHere = entry !== undefined && isSameGroup(group, groupOf(index, entry.key));
      const document = isHere ? documentOf(index.text!, value as AnyRow) : undefined;
      const isSame = document?.length === length && sumOfDocument(document) === sum;
      if (isSame) continue;
      suspects.push(async () => {
        // The words are those of the row as it was read: if it has changed, so has the index.
        const now = await store.kv.get(rowKey(model, primaryKey));
        const isWrong = isHere && now.versionstamp === versionstamp;
        return await inspectTextRow(store, index, primaryKey, [group], isWrong);
      });
    }
  }
  return suspects;
}

function isSameGroup(a: TextGroup, b: TextGroup): boolean {
  return isSameKey(a.values, b.values);
}

async function settle(
  found: readonly Confirmed<TextInspection>[],
  { store, run, repair, verification }: VerifyContext,
): Promise<void> {
  const { state } = verification;
  for (const one of found) {
    let inspection: TextInspection | undefined = one.found;
    let isRepaired = false;
    while (repair && inspection !== undefined && !isRepaired) {
      isRepaired = await repairTextRow(store, run, inspection);
      if (isRepaired) break;
      await store.catalog.reload();
      inspection = await one.readAgain();
    }
    if (inspection === undefined) continue;
    const finding = { ...inspection.finding, repaired: isRepaired };
    verification.list("finding", finding);
    state.counts[finding.kind]++;
    if (isRepaired) state.repaired++;
  }
}
