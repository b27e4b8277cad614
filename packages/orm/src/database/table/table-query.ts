import type { KvKeyPart } from "@keywright/core";
import type { AnyQuery, FoundRow } from "../../context/any-query.js";
import type { ReadMeter } from "../../context/read-meter.js";
import type { TableContext } from "../../context/table-context.js";
import type { Operation } from "../../errors/orm-error.js";
import { InvalidQueryError } from "../../errors/query-errors.js";
import type { AnyRow, CompiledIndex, CompiledModel } from "../../model/compiled-model.js";
import { chooseAmong } from "../../query/plan/choose-plan.js";
import { uniquePart } from "../../query/plan/plan-unique.js";
import type { QueryPlan } from "../../query/plan/query-plan.js";
import { findByPrimaryKey } from "../../query/read/find-unique.js";
import { readPage, readStream } from "../../query/read/read-page.js";
import { RowQuery } from "../repository/row-query.js";
import { runCall, streamCall } from "../run-call.js";

/**
 * Returns a query that is read by some plans. It reads a page if it is awaited, or one row after
 * another if it is iterated.
 *
 * @param query determines how its pages are read.
 * @param plans is called when the query is read. The first plan that can be used is chosen.
 */
export function tableQuery<Row>(
  context: TableContext,
  operation: Operation,
  query: AnyQuery,
  plans: () => readonly QueryPlan[],
): RowQuery<Row> {
  const page = async (meter: ReadMeter) => {
    const chosen = await chooseAmong(context, plans(), query.cursor);
    const { items, cursor } = await readPage(context, chosen, query, meter);
    return { items: items.map(({ row }) => row as Row), cursor };
  };
  async function* stream(meter: ReadMeter): AsyncGenerator<Row> {
    const chosen = await chooseAmong(context, plans(), query.cursor);
    for await (const { row } of readStream(context, chosen, query, meter)) yield row as Row;
  }
  return new RowQuery(
    () => runCall(context, operation, query, page),
    () => streamCall(context, operation, query, stream),
  );
}

/**
 * Finds the row with a primary key.
 *
 * @param primaryKey the values of its fields.
 * @param orAsStored true to return the row as it is stored if it cannot be upgraded.
 * @throws {InvalidQueryError} as {@link primaryKeyParts} does.
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
 * Returns the key parts of a primary key.
 *
 * @param values one value for each field of the primary key.
 * @throws {InvalidQueryError} if there are more or fewer values, or if no row can have one of them.
 */
export function primaryKeyParts(model: CompiledModel, values: readonly unknown[]): KvKeyPart[] {
  assertCount(model, "primaryKey", model.primaryKey, values);
  const fields = model.primaryKey;
  if (fields.length === 1) return [uniquePart(model, fields[0]!, values[0], true)];
  return fields.map((field, i) => uniquePart(model, field, values[i], true));
}

/**
 * Checks values of a unique index.
 *
 * @throws {InvalidQueryError} if there are more or fewer values than the index has fields, or if
 * one is not a single value of the right kind.
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
    uniquePart(model, field, values[i], isOfField);
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

/**
 * Returns a primary key as an object of fields, as in errors and in the queries of a repository.
 */
export function primaryKeyFields({ model }: TableContext, primaryKey: readonly unknown[]): AnyRow {
  const where: Record<string, unknown> = {};
  for (const [i, field] of model.primaryKey.entries()) where[field] = primaryKey[i];
  return where;
}
