import type { KvKey, KvKeyPart } from "@keywright/core";
import type { CompiledModel } from "../model/compiled-model.js";
import type { Reference } from "../model/linked-relations.js";
import type { TableContext } from "../query/table-context.js";
import { listEntries } from "./list-entries.js";

/** A row that, by an index, refers to another: its fields may say otherwise by now. */
export interface Referrer {
  readonly reference: Reference;
  readonly primaryKey: readonly KvKeyPart[];
}

/** Where a walk over those who refer to a row stands. It holds a few entries, whatever number there is. */
export interface ReferrerCursor {
  /** The place of the reference whose rows are looked at. */
  readonly position: number;
  /** The primary keys of those whose entries were read and who were not looked at yet. */
  readonly pending: readonly (readonly KvKeyPart[])[];
  /** The key that was read last; undefined before the first of a reference. */
  readonly after: KvKey | undefined;
  /** Nothing is behind the pending ones. */
  readonly isEnd: boolean;
}

export const firstReferrer: ReferrerCursor = {
  position: 0,
  pending: [],
  after: undefined,
  isEnd: false,
};

const batchSize = 64;
const firstBatchSize = 8;

/**
 * The next of the rows that refer to a row by some references, and where to go on behind it. Undefined where there are no
 * more.
 *
 * @param tables those to list the entries of.
 * @throws {IndexNotReadyError} where an index by which they are found is not built.
 */
export async function nextReferrer(
  tables: ReadonlyMap<string, TableContext>,
  references: readonly Reference[],
  primaryKey: readonly KvKeyPart[],
  cursor: ReferrerCursor,
): Promise<{ referrer: Referrer; cursor: ReferrerCursor } | undefined> {
  let current = cursor;
  for (;;) {
    const reference = references[current.position];
    if (reference === undefined) return undefined;
    const [next, ...pending] = current.pending;
    if (next !== undefined) {
      return { referrer: { reference, primaryKey: next }, cursor: { ...current, pending } };
    }
    if (current.isEnd) {
      current = { ...firstReferrer, position: current.position + 1 };
      continue;
    }
    const context = tableOfModel(tables, reference.model);
    const { index } = reference;
    if (index !== undefined) await context.catalog.assertReadable(index);
    const count = current.after === undefined ? firstBatchSize : batchSize;
    const range = { index, equals: primaryKey };
    const { primaryKeys, last, isEnd } = await listEntries(context, range, current.after, count);
    current = { ...current, pending: primaryKeys, after: last ?? current.after, isEnd };
  }
}

/** What reading and writing a model's rows needs, among the tables of its database. */
export function tableOfModel(
  tables: ReadonlyMap<string, TableContext>,
  model: CompiledModel,
): TableContext {
  const context = tables.get(model.name);
  // Relations lead to models of the same database: linkRelations has seen to it.
  if (context === undefined) throw new TypeError(`There is no model ${model.name}.`);
  return context;
}
