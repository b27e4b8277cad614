import type { KvKeyPart } from "@keywright/core";
import type { TextGroup } from "../../derived/text/text-keys.js";
import { InvalidArgumentError, InvalidQueryError } from "../../errors/query-errors.js";
import { UnknownIndexError } from "../../errors/schema-errors.js";
import type { AnyRow, CompiledIndex } from "../../model/compiled-model.js";
import { isPlainObject } from "../../model/is-plain-object.js";
import { indexedPart, isAbsent } from "../../model/keys/index-entries.js";
import type { AnyQuery } from "../../state/context/any-query.js";
import type { ReadView } from "../../state/context/read-view.js";
import { scopedQuery } from "../../state/context/scope.js";

/**
 * Returns the part of a text index in which a query looks.
 *
 * @throws {UnknownIndexError} if the model has no such text index.
 * @throws {InvalidArgumentError} if none is named, and the model has none or several.
 * @throws {IndexNotReadyError} if it is not built.
 * @throws {InvalidQueryError} if `where` is not a value of each field of its key.
 */
export async function searchedGroup(view: ReadView, query: AnyQuery): Promise<TextGroup> {
  if (!view.isChecked) await view.refresh();
  const group = queriedGroup(view, query);
  if (view.canRead(group.index)) return group;
  await view.assertReadable(group.index);
  return queriedGroup(view, query);
}

/**
 * Returns the same by the catalog of the view, without reading it. The index may not be readable.
 */
export function queriedGroup(view: ReadView, query: AnyQuery): TextGroup {
  const index = readableIndex(view, query);
  const { where = {} } = scopedQuery(view, query);
  return { index, values: valuesOf(view, index, where) };
}

/** Returns the index of the query, or its earlier definition if only that can be read. */
function readableIndex(view: ReadView, { index: name }: AnyQuery): CompiledIndex {
  const all = view.queriedModel.indexes.filter(({ text }) => text !== undefined);
  const names = [...new Set(all.map((index) => index.name))];
  const wanted = name ?? (names.length === 1 ? names[0] : undefined);
  const [first, ...others] = all.filter((index) => index.name === wanted);
  if (first === undefined) throw noIndex(view.model.name, name, names);
  if (view.canRead(first)) return first;
  return others.find((other) => view.canRead(other) && hasSameFields(first, other)) ?? first;
}

function noIndex(model: string, name: unknown, names: readonly string[]): Error {
  if (name !== undefined) return new UnknownIndexError(model, String(name), names);
  const reason =
    names.length === 0
      ? 'the model has no full-text index; add search: { text: ["<field>"] } to its indexes'
      : `the model has several full-text indexes; name one of ${names.join(", ")}`;
  return new InvalidArgumentError(model, "index", reason);
}

function hasSameFields(a: CompiledIndex, b: CompiledIndex): boolean {
  const fieldsOf = ({ fields, text }: CompiledIndex) =>
    JSON.stringify([fields, text!.fields.map(({ field }) => field)]);
  return fieldsOf(a) === fieldsOf(b);
}

function valuesOf({ model }: ReadView, index: CompiledIndex, where: AnyRow): KvKeyPart[] {
  if (!isPlainObject(where))
    throw new InvalidQueryError(model.name, "where", "it must be a plain object");
  const other = Object.keys(where).find((field) => !index.fields.includes(field));
  if (other !== undefined) {
    const reason = `the text index ${index.name} does not have it in its key; add it to key, or put the condition into filter`;
    throw new InvalidQueryError(model.name, other, reason);
  }
  return index.fields.map((field, i) => {
    if (isAbsent(where[field])) {
      const reason = `a search of the text index ${index.name} needs a value of each field of its key`;
      throw new InvalidQueryError(model.name, field, reason);
    }
    return indexedPart(model, index, i, where[field]);
  });
}
