import { listText } from "../../errors/message-parts.js";
import { InvalidQueryError } from "../../errors/query-errors.js";
import type { AnyRow } from "../../model/compiled-model.js";
import { primaryKeyOf } from "../../model/keys/primary-key.js";
import type { Relation } from "../../model/relations/relation-definition.js";
import type { RelatedRow } from "../../state/context/open-filters.js";
import type { ReadMeter } from "../../state/context/read-meter.js";
import type { ReadView } from "../../state/context/read-view.js";
import { isReferenceTo, referencedKey } from "../../state/references/referenced-key.js";
import { readRelated } from "../include/read-related.js";
import { CollectedKeys, type Evidence, type Shown } from "./collected-keys.js";
import { readWhole } from "./read-whole.js";
import type { RelatedFilter } from "./related-filter.js";
import type { RelatedRows } from "./related-rows.js";

/** The maximum number of rows that are collected. */
export const maxCollected = 10_000;

interface Collecting {
  readonly view: ReadView;
  readonly filter: RelatedFilter;
  /** The table whose rows refer to the rows of the query, or for `belongsTo` these rows. */
  readonly table: ReadView;
  readonly related: RelatedRows;
  /** Returns the related rows that meet the condition, of a relation whose rows do not refer. */
  readonly matchingRows: () => Promise<readonly RelatedRow[]>;
  readonly meter: ReadMeter;
}

/**
 * Collects the keys of the rows that a condition leads to, each with the keys of the rows that lead
 * to it: those that refer to it, or the rows between.
 *
 * @throws {InvalidQueryError} if more than 10,000 rows lead to a key.
 */
export async function collectKeys(collecting: Collecting): Promise<CollectedKeys> {
  const { view, filter, table } = collecting;
  const { relation } = filter.link;
  const isReference = relation.kind === "belongsTo";
  // In one state of the database, the rows that were collected stay as they are.
  const evidence = isReference || view.isOneState ? undefined : evidenceOf(collecting, relation);
  return await readWhole(async (onLost) => {
    const keys = new CollectedKeys(view.model, evidence);
    let count = 0;
    for await (const row of rowsOf(collecting, onLost)) {
      if (++count > maxCollected) throw tooManyRows(view, filter);
      const primaryKey = primaryKeyOf(table.model, row);
      const key = isReference ? primaryKey : referencedKey(referringFields(relation), row);
      if (key !== undefined) keys.add(key, primaryKey);
    }
    return keys;
  });
}

/** Yields the rows that lead to the rows of the query. */
async function* rowsOf(
  { filter, table, related, matchingRows, meter }: Collecting,
  onLost: (key: string) => void,
): AsyncGenerator<AnyRow> {
  const { relation } = filter.link;
  if (relation.kind === "hasMany" || relation.kind === "hasOne") {
    for await (const { row } of related.find(onLost)) yield row;
    return;
  }
  const fields = relation.kind === "manyToMany" ? relation.to : relation.fields;
  for (const [i, { primaryKey }] of (await matchingRows()).entries()) {
    const queries = { query: {}, fields, values: [primaryKey], take: maxCollected + 1 };
    const accept = (found: readonly { readonly row: RelatedRow }[]) =>
      found.map(({ row }) => row.row);
    const lost = () => onLost(String(i));
    for (const rows of await readRelated(table, queries, accept, meter, lost)) yield* rows;
  }
}

/** Says how a collected row is read again, and compared with the condition. */
function evidenceOf(
  { table, related, meter }: Collecting,
  relation: Exclude<Relation, { readonly kind: "belongsTo" }>,
): Evidence {
  const fields = referringFields(relation);
  const matches = async (shown: readonly Shown[]) =>
    relation.kind === "manyToMany"
      ? await related.matchKeys(shown.map(({ row }) => referencedKey(relation.to, row)))
      : await related.match(
          shown.map(({ row }) => ({ row, primaryKey: primaryKeyOf(table.model, row) })),
        );
  return {
    table,
    meter,
    match: async (shown) => {
      const found = await matches(shown);
      return shown.map(({ row, primaryKey }, i) => {
        return found[i] === true && isReferenceTo(fields, row, primaryKey);
      });
    },
  };
}

/** Returns the fields that hold the primary key of the rows of the query. */
function referringFields(relation: Relation): readonly string[] {
  return relation.kind === "manyToMany" ? relation.from : relation.fields;
}

function tooManyRows({ model }: ReadView, { link, condition }: RelatedFilter): Error {
  const { relation, target } = link;
  const advice =
    relation.kind === "hasMany" || relation.kind === "hasOne"
      ? `add an index to ${target.name} whose key has the fields of the condition and then ${listText(relation.fields)}`
      : "add a condition to it";
  const reason = `it leads to more than ${maxCollected} rows; ${advice}`;
  return new InvalidQueryError(model.name, `${link.name}.${condition}`, reason);
}
