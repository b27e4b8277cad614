import type { KvKeyPart, KvListedEntry } from "@keywright/core";
import type { CompiledIndex } from "../../model/compiled-model.js";
import { keyText } from "../../model/keys/key-text.js";
import { EntryReader, maxBatch } from "../../read/find/entries/entry-reader.js";
import { streamRows } from "../../read/find/find-rows.js";
import { choosePlan, chooseScan } from "../../read/plan/choose-plan.js";
import {
  mayRepeat,
  nameOfIndex,
  type QueryPlan,
  readsMarkedRows,
} from "../../read/plan/ranges/query-plan.js";
import type { AnyQuery } from "../../state/context/any-query.js";
import type { ReadMeter } from "../../state/context/read-meter.js";
import { type ReadView, takeReadView } from "../../state/context/read-view.js";
import type { TableContext } from "../../state/context/table-context.js";
import { leadsByValue } from "../../state/rows/linked-rows.js";
import { isScan } from "./row-matcher.js";

type PrimaryKey = readonly KvKeyPart[];

/** The key of a row of a query. */
export interface FoundKey {
  readonly primaryKey: PrimaryKey;
  /** The index entry that leads to the row, if it was found by one. */
  readonly entry?: FoundEntry | undefined;
}

/** An index entry, and the plan by which it was read. */
export interface FoundEntry {
  readonly plan: QueryPlan;
  readonly index: CompiledIndex;
  readonly listed: KvListedEntry;
}

/** The key of the row of an entry. It is decoded when it is first read. */
class EntryKey implements FoundKey {
  readonly entry: FoundEntry;
  #primaryKey: PrimaryKey | undefined;

  constructor(entry: FoundEntry) {
    this.entry = entry;
  }

  get primaryKey(): PrimaryKey {
    const { listed, index } = this.entry;
    this.#primaryKey ??= listed.key.slice(1 + index.parts.length);
    return this.#primaryKey;
  }
}

/** Index entries whose keys end in the primary keys of rows. */
interface Entries extends Pick<FoundEntry, "plan" | "index"> {
  readonly reader: EntryReader;
}

/**
 * Returns the keys of the rows of a query, each once. If index entries are enough to find
 * them, the rows are not read, and some may be gone or lack the key of the entry.
 *
 * @throws the errors of `findPage`.
 */
export async function findKeys(
  context: TableContext,
  query: AnyQuery,
  meter: ReadMeter,
): Promise<FoundKey[]> {
  const { select: _, include: __, withVersionstamp: ___, ...rows } = query;
  const view = await takeReadView(context, query);
  try {
    const entries = await entriesOf(view, rows, meter);
    if (entries !== undefined) return await keysOf(entries, meter);
    const keys = new Map<string, FoundKey>();
    const choose = isScan(query) ? chooseScan : choosePlan;
    for await (const { primaryKey } of streamRows(view, rows, meter, choose))
      keys.set(keyText(primaryKey), { primaryKey });
    return [...keys.values()];
  } finally {
    view.end();
  }
}

/**
 * Returns a reader of the index entries whose keys end in the primary keys of a query's rows, each
 * once. Undefined if only the rows show whether the query has them. The row of an entry may be
 * gone, but it is read before it is changed.
 */
async function entriesOf(
  view: ReadView,
  query: AnyQuery,
  meter: ReadMeter,
): Promise<Entries | undefined> {
  const { filter, related, take, skip } = query;
  if (filter !== undefined || related !== undefined || take !== undefined || skip !== undefined)
    return undefined;
  if (isScan(query)) return undefined;
  const { plan, after } = await choosePlan(view, query);
  if ("merged" in plan || plan.index === undefined || leadsByValue(plan.index)) return undefined;
  if (mayRepeat(plan) || readsMarkedRows(view, plan.index)) return undefined;
  meter.index = nameOfIndex(plan);
  const reader = new EntryReader(view, plan, meter, { after, cost: 2, withValues: false });
  return { reader, plan, index: plan.index };
}

async function keysOf({ reader, plan, index }: Entries, meter: ReadMeter): Promise<FoundKey[]> {
  const keys: FoundKey[] = [];
  for (;;) {
    const entries = await reader.next(maxBatch);
    if (entries.length === 0) return keys;
    // The rows that the entries lead to, which are read before they are changed.
    meter.add(entries.length);
    for (const listed of entries) keys.push(new EntryKey({ plan, index, listed }));
  }
}
