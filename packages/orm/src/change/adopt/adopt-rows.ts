import {
  type AtomicCheck,
  decodeValue,
  encodeValue,
  type KvKey,
  type KvKeyPart,
} from "@keywright/core";
import { claimUniqueKey } from "../../derived/entries/duplicates/claim-unique-key.js";
import type { PlannedChange } from "../../derived/plan-row.js";
import type { RowId } from "../../errors/orm-error.js";
import { InvalidArgumentError } from "../../errors/query-errors.js";
import { ReferenceMissingError, UniqueConstraintError } from "../../errors/row-errors.js";
import { StaleSchemaError } from "../../errors/schema-errors.js";
import type { AnyRow } from "../../model/compiled-model.js";
import { canBeStored } from "../../model/keys/can-be-stored.js";
import { isSameKey, keyPartOf } from "../../model/keys/key-parts.js";
import { keyText } from "../../model/keys/key-text.js";
import { partsOfId, pointerOf, primaryKeyOf, rowKey } from "../../model/keys/primary-key.js";
import { copyData } from "../../model/rows/copy-of-data.js";
import { isSameData } from "../../model/rows/is-same-data.js";
import { assertStoredRow } from "../../model/rows/stored-row.js";
import { currentTime, storedTime, type Time } from "../../model/rows/time.js";
import { awaitAll } from "../../promises/await-all.js";
import type { CatalogSnapshot } from "../../state/catalog/catalog-snapshot.js";
import { systemValue } from "../../state/catalog/system-value.js";
import { viewOf } from "../../state/context/read-view.js";
import type { TableContext } from "../../state/context/table-context.js";
import { writableCatalog } from "../../state/context/writable-catalog.js";
import { readStored } from "../../state/rows/read-rows.js";
import { setUntil } from "../../state/transaction/buffer/set-until.js";
import { planChange } from "../../write/commit/plan-change.js";
import { parseRow } from "../../write/input/parse-row.js";
import type { RecordedOperation } from "../../write/many/shared-commit.js";
import { type RowPlan, recordChange, recordedOperation } from "../transform/commit-rows.js";
import type { AdoptFailure } from "./adopt-result.js";
import { type AdoptedMark, adoptedMark, adoptedMarkKey, adoptedMarkShape } from "./adopted-mark.js";
import { failedRow, isOfRow } from "./failed-row.js";
import type { UnreadDocument } from "./source/read-documents.js";
import type { SourceDocument, SourceEntry } from "./source/source-layout.js";

export interface RowAdoption {
  /** Without it, `create` gets the document with its id in the primary key. */
  readonly map: ((value: unknown, id: RowId) => unknown) | undefined;
  /** True if the documents are the model's own rows. They are then only checked. */
  readonly inPlace: boolean;
  readonly dryRun: boolean;
  readonly restoreDeleted: boolean;
}

interface NewRow {
  readonly id: RowId;
  /** The input of the schema, and the row that it returns. */
  readonly input: AnyRow;
  readonly row: AnyRow;
  readonly primaryKey: readonly KvKeyPart[];
  readonly markKey: KvKey;
  readonly expireAt: Time | undefined;
}

/**
 * What becomes of a document. `"deleted"` if an earlier run has created its row, and the row has
 * been deleted since. `waiting` if it refers to a row of the same model that does not exist yet.
 */
export type AdoptOutcome =
  | "adopted"
  | "skipped"
  | "deleted"
  | AdoptFailure
  | { readonly waiting: AdoptFailure };

interface Parsed {
  readonly id: RowId;
  readonly entry: SourceEntry;
}

/** A document with its row, or with its outcome if it has no row to write. */
export type ParsedDocument = Parsed &
  (
    | { readonly row: NewRow; readonly outcome?: undefined }
    | { readonly row?: undefined; readonly outcome: AdoptOutcome }
  );

/** The plan for a document: its writes, and its outcome if they are committed. */
export interface DocumentPlan extends RowPlan {
  readonly document: ParsedDocument;
  readonly outcome: AdoptOutcome;
}

/** Parses documents. Reads and writes nothing in the database of the model. */
export async function parseDocuments(
  context: TableContext,
  documents: readonly (SourceDocument | UnreadDocument)[],
  adoption: RowAdoption,
): Promise<ParsedDocument[]> {
  const parsed: ParsedDocument[] = [];
  for (const document of documents) {
    const { id, entry } = document;
    try {
      if ("error" in document) throw document.error;
      if (adoption.inPlace) parsed.push({ id, entry, outcome: checkStoredRow(context, document) });
      else parsed.push({ id, entry, row: await rowOf(context, document, adoption) });
    } catch (error) {
      if (error instanceof InvalidArgumentError) throw error;
      parsed.push({ id, entry, outcome: failedRow(id, error) });
    }
  }
  return parsed;
}

/**
 * Plans what is written for documents: rows as `create` writes them, but without hooks, and a mark
 * for each row. Rows that already exist stay as they are. A row that an earlier run has created,
 * and that has been deleted since, is only created again if `restoreDeleted` is true.
 *
 * @param context has the limits for a single row.
 */
export async function planDocuments(
  context: TableContext,
  documents: readonly ParsedDocument[],
  adoption: RowAdoption,
): Promise<DocumentPlan[]> {
  const { model, catalog } = context;
  const isExpiring = documents.some(({ row }) => row?.expireAt !== undefined);
  if (isExpiring && !adoption.dryRun) await catalog.recordFact("expires");
  const snapshot = adoption.dryRun ? catalog.snapshot : await writableCatalog(context);
  const rows = documents.flatMap(({ row }) => row ?? []);
  const stored = await readStored(context, [
    ...rows.map(({ primaryKey }) => rowKey(model, primaryKey)),
    ...rows.map(({ markKey }) => markKey),
  ]);
  const plan = async (document: ParsedDocument): Promise<DocumentPlan> => {
    const { row, outcome } = document;
    if (row === undefined) return { document, outcome, operation: undefined };
    const position = rows.indexOf(row);
    const entry = stored[position];
    const storedMark = stored[rows.length + position];
    const mark = storedMark && systemValue(storedMark, adoptedMarkShape, model.name);
    if (entry !== undefined && entry.versionstamp !== null) {
      return planExisting(snapshot, document, row, entry.value, mark);
    }
    if (mark && !adoption.restoreDeleted) {
      return { document, outcome: "deleted", operation: undefined };
    }
    if (adoption.dryRun) return { document, outcome: "adopted", operation: undefined };
    try {
      const { change, takeovers } = await planInsert(context, snapshot, row);
      const operation = recordChange(context, snapshot, change, takeovers);
      setMark(operation, document, row);
      return { document, outcome: "adopted", operation };
    } catch (error) {
      return planFailure(context, document, error);
    }
  };
  return await awaitAll(documents.map(plan));
}

/** @throws the error if it does not concern the document. */
export function planFailure(
  { model }: TableContext,
  document: ParsedDocument,
  error: unknown,
): DocumentPlan {
  if (!isOfRow(error) || error instanceof StaleSchemaError) throw error;
  const failure = failedRow(document.id, error);
  const isWaiting = error instanceof ReferenceMissingError && error.target === model.name;
  return { document, outcome: isWaiting ? { waiting: failure } : failure, operation: undefined };
}

/** Marks a row that is the same as its document. It belongs to the program from then on. */
function planExisting(
  snapshot: CatalogSnapshot,
  document: ParsedDocument,
  row: NewRow,
  stored: unknown,
  mark: AdoptedMark | null | undefined,
): DocumentPlan {
  const { key, versionstamp } = document.entry;
  if (mark?.versionstamp === versionstamp && isSameKey(mark.key, key)) {
    return { document, outcome: "skipped", operation: undefined };
  }
  const outcome = compareWithStored(row, stored);
  if (outcome !== "skipped") return { document, outcome, operation: undefined };
  const operation = recordedOperation().check(snapshot.check);
  setMark(operation, document, row);
  return { document, outcome, operation };
}

function setMark(
  operation: RecordedOperation,
  { entry }: ParsedDocument,
  { markKey, expireAt }: NewRow,
): void {
  const options = expireAt === undefined ? {} : setUntil(expireAt, currentTime());
  operation.set(markKey, adoptedMark(entry), options);
}

/** Plans a new row, and the checks under which it can take its unique keys. */
async function planInsert(
  context: TableContext,
  snapshot: CatalogSnapshot,
  { row, primaryKey, expireAt }: NewRow,
): Promise<{
  readonly change: PlannedChange;
  readonly takeovers: ReadonlyMap<string, readonly AtomicCheck[]>;
}> {
  const { model } = context;
  const expiry = expireAt === undefined ? undefined : { expireAt };
  const change = await planChange(context, snapshot, { primaryKey, before: null, row, expiry });
  const takeovers = new Map<string, readonly AtomicCheck[]>();
  for (const entry of change.effects.claims) {
    const { owner, checks } = await claimUniqueKey(viewOf(context, snapshot), entry, primaryKey);
    if (owner !== undefined) {
      const { name, fields } = entry.index;
      const conflict = {
        index: name,
        fields,
        value: entry.key.slice(1),
        ownerId: pointerOf(owner),
      };
      throw new UniqueConstraintError(model.name, conflict);
    }
    takeovers.set(keyText(entry.key), checks);
  }
  return { change, takeovers };
}

async function rowOf(
  context: TableContext,
  { id, value, entry }: SourceDocument,
  { map }: RowAdoption,
): Promise<NewRow> {
  const { model, limits } = context;
  const input = withId(context, map === undefined ? value : await map(value, id), id);
  if (map === undefined && !hasId(model.primaryKey, input, id)) {
    throw new Error(
      "Its primary key differs from the id in its key. Choose one of them with `map`.",
    );
  }
  const row = await parseRow(model, copyData(model, input));
  const primaryKey = primaryKeyOf(model, row);
  if (!canBeStored(rowKey(model, primaryKey), limits.keyBytes)) {
    throw new Error("The key of its row is too long, or the database cannot hold it.");
  }
  const markKey = adoptedMarkKey(model, primaryKey);
  return { id, input, row, primaryKey, markKey, expireAt: storedTime(entry.expireAt) };
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

function checkStoredRow({ model }: TableContext, { id, value }: SourceDocument): AdoptOutcome {
  assertStoredRow(model, value, partsOfId(id));
  if (hasId(model.primaryKey, value, id)) return "skipped";
  return failedRow(id, new Error("Its primary key differs from the id in its key."));
}

/** Compares a stored row with a new one. Fields that the schema filled in may differ. */
function compareWithStored({ id, input, row }: NewRow, stored: unknown): AdoptOutcome {
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
    if (isFilledIn || isSameData(expected[field], (stored as AnyRow)[field])) continue;
    return failure;
  }
  return "skipped";
}
