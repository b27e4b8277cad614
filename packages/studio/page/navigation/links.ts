import type { Row } from "../../src/protocol/rows.js";
import type {
  IndexInfo,
  KeyPart,
  ModelInfo,
  RelationInfo,
} from "../../src/protocol/studio-info.js";
import { decode, encode } from "../../src/protocol/wire.js";
import { editText } from "../values/edit-text.js";
import { keyText } from "../values/key-text.js";

export function rowsHref(property: string, params?: URLSearchParams): string {
  const search = params?.toString() ?? "";
  return `#/rows/${encodeURIComponent(property)}${search === "" ? "" : `?${search}`}`;
}

export function rowHref(property: string, key: Row): string {
  return `#/row/${encodeURIComponent(property)}?${new URLSearchParams({ key: encode(key) })}`;
}

/** Returns the address of the keys that begin with some parts. */
export function keysHref(prefix: readonly KeyPart[]): string {
  return `#/keys?${new URLSearchParams({ prefix: keyText(prefix) })}`;
}

/** Returns the fields of the primary key, in their order. */
export function keyOf(model: ModelInfo, row: Row): Row {
  return Object.fromEntries(model.primaryKey.map((field) => [field, row[field]]));
}

/** Returns a text that is the same for the same primary key. */
export function keyId(model: ModelInfo, row: Row): string {
  return encode(model.primaryKey.map((field) => row[field]));
}

/** Returns the key that an address names, or null if it names none. */
export function keyInAddress(text: string | null): Row | null {
  if (text === null) return null;
  try {
    const key = decode<unknown>(text);
    return typeof key === "object" && key !== null ? (key as Row) : null;
  } catch {
    return null;
  }
}

/** Returns the address of the row that `belongsTo` fields refer to, or null if they are empty. */
export function parentHref(
  relation: RelationInfo,
  row: Row,
  models: readonly ModelInfo[],
): string | null {
  const target = models.find(({ property }) => property === relation.target);
  if (target === undefined || relation.fields.length !== target.primaryKey.length) return null;
  const values = relation.fields.map((field) => row[field]);
  if (values.some((value) => value === null || value === undefined)) return null;
  return rowHref(
    target.property,
    Object.fromEntries(target.primaryKey.map((field, position) => [field, values[position]])),
  );
}

/**
 * Returns the address of the rows whose first index fields have the values of a row's primary key,
 * or null if no index of the model begins with these fields.
 */
export function childrenHref(
  target: ModelInfo,
  fields: readonly string[],
  owner: ModelInfo,
  row: Row,
): string | null {
  const index = target.indexes.find((each) => canList(each, fields));
  const isPrimaryKey = beginsWith(target.primaryKey, fields);
  if (index === undefined && !isPrimaryKey) return null;
  const params = new URLSearchParams();
  if (!isPrimaryKey && index !== undefined) params.set("index", index.name);
  const indexFields = isPrimaryKey ? target.primaryKey : index?.fields.map(({ name }) => name);
  for (const field of indexFields ?? []) {
    const position = fields.indexOf(field);
    if (position === -1) break;
    const value = row[owner.primaryKey[position] ?? ""];
    const info = target.fields.find(({ name }) => name === field);
    const text = editText(info?.kind ?? "string", value);
    // An empty text is no condition, and a lone surrogate does not survive in an address.
    if (text === "" || !text.isWellFormed()) return null;
    params.set(`${field}.eq`, text);
  }
  return rowsHref(target.property, params);
}

/** An index with a condition lacks some of the rows. */
function canList(index: IndexInfo, fields: readonly string[]): boolean {
  if (!index.isQueryable || index.where !== null || index.each !== null) return false;
  return beginsWith(
    index.fields.map(({ name }) => name),
    fields,
  );
}

function beginsWith(indexed: readonly string[], fields: readonly string[]): boolean {
  const first = indexed.slice(0, fields.length);
  return fields.length > 0 && fields.every((field) => first.includes(field));
}
