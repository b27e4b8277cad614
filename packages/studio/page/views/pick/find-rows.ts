import type { Row, VersionedRow } from "../../../src/protocol/rows.js";
import type { IndexInfo, ModelInfo } from "../../../src/protocol/studio-info.js";
import { call } from "../../api/call.js";
import { valueText } from "../../values/value-text.js";

/** The rows that are read at most, if no index finds them by their text. */
const maxRead = 500;
const maxFound = 50;

export interface FoundRows {
  readonly rows: readonly Row[];
  /** Set if only some of the rows were searched: what would search all of them. */
  readonly remark: string | null;
}

/**
 * Finds the rows of a model whose title or key contains a text. If an index has the title, it finds
 * those whose title begins with the text. `fixed` has values of the first fields of the key.
 */
export async function findRows(model: ModelInfo, fixed: Row, text: string): Promise<FoundRows> {
  const { property, titleField } = model;
  const index = titleField === null ? undefined : indexOf(model, fixed, titleField);
  if (index !== undefined && text !== "") {
    const where = { ...fixed, [titleField as string]: { startsWith: text } };
    const query = { where, index: index.name, take: maxFound };
    const { items } = await call("rows", { property, query });
    if (items.length > 0) return { rows: items.map(({ row }) => row), remark: null };
  }
  const { items, cursor } = await call("rows", { property, query: allOf(model, fixed) });
  const wanted = text.toLowerCase();
  const matches = ({ row }: VersionedRow) => labelOf(model, row).toLowerCase().includes(wanted);
  return {
    rows: items
      .filter(matches)
      .slice(0, maxFound)
      .map(({ row }) => row),
    remark: cursor === null ? null : remarkOf(titleField),
  };
}

/** Returns what people see of a row: its title and its key. */
export function labelOf({ titleField, primaryKey }: ModelInfo, row: Row): string {
  const key = primaryKey.map((field) => valueText(row[field], 60)).join(", ");
  const title = titleField === null ? null : row[titleField];
  return typeof title === "string" && title !== "" ? `${title} · ${key}` : key;
}

function allOf(model: ModelInfo, fixed: Row) {
  const names = Object.keys(fixed);
  const [first] = model.primaryKey.filter((field) => !names.includes(field));
  const take = maxRead;
  if (names.length === 0) return { orderBy: { [model.primaryKey[0] ?? ""]: "asc" as const }, take };
  return {
    where: fixed,
    ...(first !== undefined && { orderBy: { [first]: "asc" as const } }),
    take,
  };
}

function indexOf(model: ModelInfo, fixed: Row, title: string): IndexInfo | undefined {
  const names = Object.keys(fixed);
  return model.indexes.find(({ fields, where, each, isQueryable, state }) => {
    const before = fields.slice(0, names.length).map(({ name }) => name);
    return (
      isQueryable &&
      state === "readable" &&
      where === null &&
      each === null &&
      names.every((name) => before.includes(name)) &&
      fields[names.length]?.name === title
    );
  });
}

function remarkOf(title: string | null): string {
  const first = `Only the first ${maxRead} rows were searched.`;
  return title === null ? first : `${first} An index on ${title} would search all of them.`;
}
