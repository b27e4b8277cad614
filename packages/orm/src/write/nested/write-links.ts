import { RowNotFoundError } from "../../errors/row-errors.js";
import type { AnyRow, CompiledIndex, CompiledModel } from "../../model/compiled-model.js";
import type { ManyToMany } from "../../model/relations/relation-definition.js";
import type { FoundRow } from "../../state/context/any-query.js";
import type { TableContext } from "../../state/context/table-context.js";
import { isReferenceTo } from "../../state/references/referenced-key.js";
import { tableOfModel } from "../../state/references/referrers.js";
import { withDeletedRows } from "../deleted/purging-context.js";
import { restoreRow } from "../deleted/restore-row.js";
import { createRow } from "../rows/create-row.js";
import {
  assertWritable,
  findExisting,
  findNamed,
  keyOf,
  listReferrers,
  readAhead,
  referenceTo,
  removeRow,
} from "./find-related.js";
import type { NestedOperation } from "./nested-operation.js";
import type { NestedWrites } from "./nested-writes.js";
import type { RelationWrite } from "./split-data.js";
import { createdBy } from "./write-target.js";

/** A row of a `manyToMany` relation, and the tables of the rows that it leads to. */
interface Links {
  readonly writes: NestedWrites;
  readonly context: TableContext;
  readonly row: FoundRow;
  readonly target: TableContext;
  readonly through: TableContext;
  readonly relation: ManyToMany;
}

/** Writes the rows of a `manyToMany` relation, and the rows between. */
export async function writeLinks(
  writes: NestedWrites,
  context: TableContext,
  { link, operations }: RelationWrite,
  relation: ManyToMany,
  row: FoundRow,
): Promise<void> {
  const target = tableOfModel(context.tables, link.target);
  const through = tableOfModel(context.tables, link.through ?? link.target);
  const links: Links = { writes, context, row, target, through, relation };
  await readAhead(target, operations);
  for (const operation of operations) await writeLinked(links, operation);
}

async function writeLinked(links: Links, operation: NestedOperation): Promise<void> {
  const { writes, target } = links;
  const { name, path, where = {}, create = {}, update = {} } = operation;
  const at = <T>(run: () => Promise<T>) => writes.at(path, run);
  const createLinked = async () => {
    const created = await writes.create(target, createdBy(operation, create));
    await at(() => addLink(links, created));
  };
  switch (name) {
    case "create":
      return await createLinked();
    case "connect":
      return await at(async () => addLink(links, await findExisting(writes, target, where)));
    case "connectOrCreate": {
      const found = await at(() => findNamed(target, where, writes.meter));
      if (found === undefined) return await createLinked();
      return await at(() => addLink(links, found));
    }
    case "set":
      return await replaceLinks(links, operation);
    default: {
      const found = await at(() => findNamed(target, where, writes.meter));
      const between = found === undefined ? [] : await at(() => findLinks(links, found));
      const isLinked = found !== undefined && between.length > 0;
      if (name === "disconnect") return await at(() => removeLinks(links, between));
      if (name === "upsert" && !isLinked) return await createLinked();
      if (!isLinked) return await at(() => refuseUnrelated(target, where));
      if (name === "delete") {
        return await at(async () => {
          await removeLinks(links, between);
          await removeRow(writes, target, found);
        });
      }
      const key = keyOf(target.model, found.row);
      const find = () => findNamed(target, key, writes.meter);
      const part = name === "upsert" ? "update" : "data";
      await writes.update(target, find, key, { data: update, path: [...path, part] });
    }
  }
}

/** Creates the row between two rows, if there is none. */
async function addLink(links: Links, found: FoundRow): Promise<void> {
  assertWritable(links.through);
  const between = await findLinks(links, found);
  if (between.length > 0) return;
  if (!(await restoreLink(links, found))) {
    await createRow(links.through, linkTo(links, found), {});
  }
}

/** Restores the row between two rows if it is marked as deleted and has their keys as its own. */
async function restoreLink(links: Links, found: FoundRow): Promise<boolean> {
  const { writes, through, relation } = links;
  const { softDelete, primaryKey } = through.model;
  if (softDelete === undefined || !hasSameFields(primaryKey, linkFields(relation))) return false;
  const within = withDeletedRows(through);
  const where = linkTo(links, found);
  const find = () => findNamed(within, where, writes.meter);
  if ((await find()) === undefined) return false;
  await restoreRow(within, find, where, {});
  return true;
}

async function replaceLinks(links: Links, { path, list }: NestedOperation): Promise<void> {
  const { writes, target, relation } = links;
  const wanted: FoundRow[] = [];
  for (const each of list) {
    wanted.push(await writes.at(each.path, () => findExisting(writes, target, each.where)));
  }
  const isWanted = ({ row }: FoundRow) =>
    wanted.some(({ primaryKey }) => isReferenceTo(relation.to, row, primaryKey));
  const between = await writes.at(path, () => listLinks(links));
  const removed = between.filter((each) => !isWanted(each));
  await writes.at(path, () => removeLinks(links, removed));
  for (const [i, found] of wanted.entries()) {
    await writes.at(list[i]?.path ?? path, () => addLink(links, found));
  }
}

async function removeLinks(
  { writes, through }: Links,
  between: readonly FoundRow[],
): Promise<void> {
  for (const each of between) await removeRow(writes, through, each);
}

/** Returns the rows between the row and another one. */
async function findLinks(links: Links, found: FoundRow): Promise<readonly FoundRow[]> {
  const { writes, through, relation } = links;
  if (isPairUnique(through.model, linkFields(relation))) {
    const between = await findNamed(through, linkTo(links, found), writes.meter);
    return between === undefined ? [] : [between];
  }
  const all = await listLinks(links);
  return all.filter(({ row }) => isReferenceTo(relation.to, row, found.primaryKey));
}

/** Returns all rows between. No other writer can add one before the commit. */
function listLinks({ writes, context, row, through, relation }: Links) {
  return listReferrers(writes, context, row, through, relation.from);
}

function linkTo({ context, row, target, relation }: Links, found: FoundRow): AnyRow {
  return {
    ...referenceTo(relation.from, context.model, row.row),
    ...referenceTo(relation.to, target.model, found.row),
  };
}

/** Returns the fields of both references. They may share some, such as the field of a tenant. */
function linkFields({ from, to }: ManyToMany): readonly string[] {
  return [...new Set([...from, ...to])];
}

/** True if the primary key or a unique index has exactly these fields, with their own values. */
function isPairUnique({ primaryKey, indexes }: CompiledModel, fields: readonly string[]): boolean {
  return (
    hasSameFields(primaryKey, fields) ||
    indexes.some((index) => isPlain(index) && hasSameFields(index.fields, fields))
  );
}

function hasSameFields(key: readonly string[], fields: readonly string[]): boolean {
  return key.length === fields.length && key.every((field) => fields.includes(field));
}

function isPlain({ unique, where, each, parts }: CompiledIndex): boolean {
  const isOwnValue = parts.every((part) => part.compute === undefined && !part.normalize);
  return unique && where === undefined && each === undefined && isOwnValue;
}

async function refuseUnrelated({ model }: TableContext, where: AnyRow): Promise<never> {
  throw new RowNotFoundError(model.name, where);
}
