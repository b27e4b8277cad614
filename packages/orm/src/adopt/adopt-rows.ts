import { isDeepStrictEqual } from "node:util";
import { decodeValue, encodeValue, type KvKeyPart } from "@keywright/core";
import { copyData } from "../context/copy-of-data.js";
import type { TableContext } from "../context/table-context.js";
import type { RowId } from "../errors/orm-error.js";
import { InvalidArgumentError } from "../errors/query-errors.js";
import { ReferenceMissingError, UniqueConstraintError } from "../errors/row-errors.js";
import { isSameKey, keyPartOf } from "../indexes/key-parts.js";
import { partsOfId, primaryKeyOf, rowKey } from "../indexes/primary-key.js";
import type { AnyRow } from "../model/compiled-model.js";
import { assertStoredRow } from "../model/stored-row.js";
import { readStored } from "../query/read/read-rows.js";
import { parseRow } from "../write/input/parse-row.js";
import { writeEach } from "../write/many/write-each.js";
import { insertRow } from "../write/rows/create-row.js";
import type { AdoptFailure } from "./adopt-result.js";
import { failedRow, isOfRow } from "./failed-row.js";
import type { UnreadDocument } from "./source/read-documents.js";
import type { SourceDocument } from "./source/source-layout.js";

export interface AdoptedRows {
  readonly adopted: number;
  readonly skipped: number;
  readonly failed: readonly AdoptFailure[];
  /** How many of the failed documents refer to a missing row of the same model. */
  readonly waiting: number;
}

export interface RowAdoption {
  /** Without it, `create` gets the document with its id in the primary key. */
  readonly map: ((value: unknown, id: RowId) => unknown) | undefined;
  /** True if the documents are the model's own rows. They are then only checked. */
  readonly inPlace: boolean;
  readonly dryRun: boolean;
}

interface NewRow {
  readonly id: RowId;
  /** The input of the schema, and the row that it returns. */
  readonly input: AnyRow;
  readonly row: AnyRow;
  readonly primaryKey: readonly KvKeyPart[];
  readonly expireAt: number | undefined;
}

type Outcome = "adopted" | "skipped" | AdoptFailure | { readonly waiting: AdoptFailure };

/** Writes rows as `create` does, but without hooks. Rows that already exist stay as they are. */
export async function adoptRows(
  context: TableContext,
  documents: readonly (SourceDocument | UnreadDocument)[],
  adoption: RowAdoption,
): Promise<AdoptedRows> {
  const outcomes: Outcome[] = [];
  const rows: NewRow[] = [];
  for (const document of documents) {
    try {
      if ("error" in document) throw document.error;
      if (adoption.inPlace) outcomes.push(checkStoredRow(context, document));
      else rows.push(await rowOf(context, document, adoption));
    } catch (error) {
      if (error instanceof InvalidArgumentError) throw error;
      outcomes.push(failedRow(document.id, error));
    }
  }
  const missing = await withoutStored(context, rows, outcomes);
  if (adoption.dryRun) outcomes.push(...missing.map(() => "adopted" as const));
  else outcomes.push(...(await write(context, missing)));
  return summarize(outcomes);
}

async function rowOf(
  context: TableContext,
  { id, value, entry }: SourceDocument,
  { map }: RowAdoption,
): Promise<NewRow> {
  const { model } = context;
  const input = withId(context, map === undefined ? value : await map(value, id), id);
  if (map === undefined && !hasId(model.primaryKey, input, id)) {
    throw new Error(
      "Its primary key differs from the id in its key. Choose one of them with `map`.",
    );
  }
  const row = await parseRow(model, copyData(model, input));
  return { id, input, row, primaryKey: primaryKeyOf(model, row), expireAt: entry.expireAt };
}

/** Returns the data with the id in those fields of the primary key that are absent. */
function withId({ model }: TableContext, input: unknown, id: RowId): AnyRow {
  if (typeof input !== "object" || input === null || Array.isArray(input)) {
    throw new Error("It is not an object. Convert it with `map`.");
  }
  const inputRow = input as AnyRow;
  const parts = partsOfId(id);
  if (parts.length !== model.primaryKey.length) return inputRow;
  const fields: Record<string, unknown> = {};
  for (const [position, field] of model.primaryKey.entries()) {
    fields[field] = inputRow[field] === undefined ? parts[position] : inputRow[field];
  }
  return { ...inputRow, ...fields };
}

function hasId(primaryKey: readonly string[], row: AnyRow, id: RowId): boolean {
  const parts = primaryKey.map((field) => keyPartOf(row[field]));
  return parts.every((part) => part !== undefined) && isSameKey(parts, partsOfId(id));
}

function checkStoredRow({ model }: TableContext, { id, value }: SourceDocument): Outcome {
  assertStoredRow(model, value, partsOfId(id));
  if (hasId(model.primaryKey, value, id)) return "skipped";
  return failedRow(id, new Error("Its primary key differs from the id in its key."));
}

/** Returns the rows that do not exist yet. The outcomes of the others are added to `outcomes`. */
async function withoutStored(
  context: TableContext,
  rows: readonly NewRow[],
  outcomes: Outcome[],
): Promise<NewRow[]> {
  const keys = rows.map(({ primaryKey }) => rowKey(context.model, primaryKey));
  const stored = await readStored(context, keys);
  return rows.filter((row, i) => {
    const entry = stored[i];
    if (entry === undefined || entry.versionstamp === null) return true;
    outcomes.push(compareWithStored(row, entry.value));
    return false;
  });
}

async function write(context: TableContext, rows: readonly NewRow[]): Promise<Outcome[]> {
  const { kv, model } = context;
  const results = await writeEach(context, {
    items: rows,
    write: (within, { row, expireAt }) => insertRow(within, row, expiryOptions(expireAt)),
  });
  const outcomes: Outcome[] = [];
  for (const [position, row] of rows.entries()) {
    const result = results[position];
    if (result === undefined || result.ok) {
      outcomes.push("adopted");
      continue;
    }
    const { error } = result;
    if (!isOfRow(error)) throw error;
    const failure = failedRow(row.id, error);
    if (error instanceof UniqueConstraintError && error.index === "primaryKey") {
      // Another writer has created a row with this primary key.
      const { value } = await kv.get(rowKey(model, row.primaryKey));
      outcomes.push(value === null ? failure : compareWithStored(row, value));
    } else if (error instanceof ReferenceMissingError && error.target === model.name) {
      outcomes.push({ waiting: failure });
    } else outcomes.push(failure);
  }
  return outcomes;
}

function expiryOptions(expireAt: number | undefined): { readonly expireIn?: number } {
  return expireAt === undefined ? {} : { expireIn: Math.max(1, expireAt - Date.now()) };
}

/** Compares a stored row with a new one. Fields that the schema filled in may differ. */
function compareWithStored({ id, input, row }: NewRow, stored: unknown): Outcome {
  const failure = failedRow(id, new Error("Another row has its primary key."));
  if (typeof stored !== "object" || stored === null) return failure;
  let expected: AnyRow;
  try {
    // The row as it would be read back: each view of bytes becomes a `Uint8Array`, for example.
    expected = decodeValue(encodeValue(row)) as AnyRow;
  } catch (error) {
    return failedRow(id, error);
  }
  for (const field of new Set([...Object.keys(expected), ...Object.keys(stored)])) {
    const isFilledIn = input[field] === undefined && expected[field] !== undefined;
    if (isFilledIn || isDeepStrictEqual(expected[field], (stored as AnyRow)[field])) continue;
    return failure;
  }
  return "skipped";
}

function summarize(outcomes: readonly Outcome[]): AdoptedRows {
  let adopted = 0;
  let skipped = 0;
  let waiting = 0;
  const failed: AdoptFailure[] = [];
  for (const outcome of outcomes) {
    if (outcome === "adopted") adopted++;
    else if (outcome === "skipped") skipped++;
    else if ("waiting" in outcome) {
      waiting++;
      failed.push(outcome.waiting);
    } else failed.push(outcome);
  }
  return { adopted, skipped, failed, waiting };
}
