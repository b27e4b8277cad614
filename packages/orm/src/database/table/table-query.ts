import type { KvKeyPart } from "@keywright/core";
import type { AnyQuery, FoundRow } from "../../context/any-query.js";
import type { ReadMeter } from "../../context/read-meter.js";
import type { TableContext } from "../../context/table-context.js";
import type { Operation } from "../../errors/orm-error.js";
import { InvalidQueryError } from "../../errors/query-errors.js";
import type { AnyRow, CompiledIndex, CompiledModel } from "../../model/compiled-model.js";
import { chooseOf } from "../../query/plan/choose-plan.js";
import { uniqueValuePart } from "../../query/plan/plan-unique.js";
import type { QueryPlan } from "../../query/plan/query-plan.js";
import { findByPrimaryKey } from "../../query/read/find-unique.js";
import { readPage, readStream } from "../../query/read/read-page.js";
import { RowQuery } from "../repository/row-query.js";
import { runCall, streamCall } from "../run-call.js";

/**
 * A query by plans of its own: awaited a page, iterated row after row.
 *
 * @param query how its pages are read.
 * @param plans made when it is read; the first that can be read is taken.
 */
export function tableQuery<Row>(
  context: TableContext,
  operation: Operation,
  query: AnyQuery,
  plans: () => readonly QueryPlan[],
): RowQuery<Row> {
  const page = async (meter: ReadMeter) => {
    const chosen = await chooseOf(context, plans(), query.cursor);
    const { items, cursor } = await readPage(context, chosen, query, meter);
    return { items: items.map(({ row }) => row as Row), cursor };
  };
  async function* stream(meter: ReadMeter): AsyncGenerator<Row> {
    const chosen = await chooseOf(context, plans(), query.cursor);
    for await (const { row } of readStream(context, chosen, query, meter)) yield row as Row;
  }
  return new RowQuery(
    () => runCall(context, operation, query, page),
    () => streamCall(context, operation, query, stream),
  );
}

/**
 * The row of a primary key, by the values of its fields.
 *
 * @throws {InvalidQueryError} as {@link primaryKeyParts}.
 */
export function findRow(
  context: TableContext,
  primaryKey: readonly unknown[],
  meter: ReadMeter,
  orAsStored = false,
): Promise<FoundRow | undefined> {
  const parts = primaryKeyParts(context.model, primaryKey);
  return findByPrimaryKey(context, parts, meter, orAsStored);
}

/**
 * The parts of the primary key with these values, one for each of its fields.
 *
 * @throws {InvalidQueryError} for more or fewer values, and for one that none of the rows can have.
 */
export function primaryKeyParts(model: CompiledModel, values: readonly unknown[]): KvKeyPart[] {
  assertCount(model, "primaryKey", model.primaryKey, values);
  const fields = model.primaryKey;
  if (fields.length === 1) return [uniqueValuePart(model, fields[0]!, values[0], true)];
  return fields.map((field, i) => uniqueValuePart(model, field, values[i], true));
}

/**
 * Refuses values that no row can have in a unique index.
 *
 * @throws {InvalidQueryError} for more or fewer than it has fields, and for what is not one value, or of another kind.
 */
export function assertUniqueValues(
  model: CompiledModel,
  index: CompiledIndex,
  values: readonly unknown[],
): void {
  assertCount(model, index.name, index.fields, values);
  for (let i = 0; i < index.parts.length; i++) {
    const { field, compute, normalize } = index.parts[i]!;
    const isOfField = normalize === undefined && compute === undefined;
    uniqueValuePart(model, field, values[i], isOfField);
  }
}

function assertCount(
  model: CompiledModel,
  key: string,
  fields: readonly string[],
  values: readonly unknown[],
): void {
  if (values.length === fields.length) return;
  const reason = `it has ${fields.length} fields, and ${values.length} values were given`;
  throw new InvalidQueryError(model.name, key, reason);
}

/** What names a row in errors, and in the queries of a repository. */
export function whereOf({ model }: TableContext, primaryKey: readonly unknown[]): AnyRow {
  const where: Record<string, unknown> = {};
  for (const [i, field] of model.primaryKey.entries()) where[field] = primaryKey[i];
  return where;
}
