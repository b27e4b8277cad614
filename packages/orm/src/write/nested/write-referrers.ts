import { RowNotFoundError } from "../../errors/row-errors.js";
import type { AnyRow } from "../../model/compiled-model.js";
import { isSameKey } from "../../model/keys/key-parts.js";
import type { HasMany, HasOne } from "../../model/relations/relation-definition.js";
import type { FoundRow } from "../../state/context/any-query.js";
import type { TableContext } from "../../state/context/table-context.js";
import { isReferenceTo } from "../../state/references/referenced-key.js";
import { tableOfModel } from "../../state/references/referrers.js";
import { updateRow } from "../rows/update-row.js";
import {
  assertWritable,
  disconnectRow,
  findExisting,
  findNamed,
  keyOf,
  listReferrers,
  readAhead,
  referenceTo,
  removeRow,
  settingOf,
} from "./find-related.js";
import type { NestedOperation } from "./nested-operation.js";
import type { NestedWrites } from "./nested-writes.js";
import type { RelationWrite } from "./split-data.js";
import { createdBy } from "./write-target.js";

/** The row above, and the rows that may refer to it. */
interface Referrers {
  readonly writes: NestedWrites;
  /** The table of the row above. */
  readonly context: TableContext;
  readonly row: FoundRow;
  readonly isOne: boolean;
  readonly target: TableContext;
  readonly fields: readonly string[];
  readonly reference: AnyRow;
}

/** Writes the rows that refer to a row, by a `hasMany` or `hasOne` relation. */
export async function writeReferrers(
  writes: NestedWrites,
  context: TableContext,
  { link, operations }: RelationWrite,
  { kind, fields }: HasMany | HasOne,
  row: FoundRow,
): Promise<void> {
  const target = tableOfModel(context.tables, link.target);
  const reference = referenceTo(fields, context.model, row.row);
  const isOne = kind === "hasOne";
  const all = { writes, context, row, isOne, target, fields, reference };
  await readAhead(target, operations);
  for (const operation of operations) await writeReferrer(all, operation);
}

async function writeReferrer(all: Referrers, operation: NestedOperation): Promise<void> {
  const { writes, target, row, fields } = all;
  const { name, path, where, create = {} } = operation;
  const at = <T>(run: () => Promise<T>) => writes.at(path, run);
  const find = () => (where === undefined ? findOnly(all) : findNamed(target, where, writes.meter));
  switch (name) {
    case "create":
      return await createReferrer(all, operation, create);
    case "connect":
      return await at(async () => connect(all, await findExisting(writes, target, where ?? {})));
    case "connectOrCreate": {
      const found = await at(find);
      if (found === undefined) return await createReferrer(all, operation, create);
      return await at(() => connect(all, found));
    }
    case "set":
      return await replaceReferrers(all, operation);
    case "disconnect": {
      if (all.isOne) return await at(() => disconnectOthers(all, undefined));
      const found = await at(find);
      if (found === undefined || !isReferring(all, found)) return;
      return await at(() => disconnectRow(writes, target, found, fields, row.primaryKey));
    }
    default: {
      const found = await at(find);
      const isRelated = found !== undefined && isReferring(all, found);
      if (name === "upsert" && !isRelated) return await createReferrer(all, operation, create);
      if (!isRelated) return await at(() => refuseUnrelated(all, where));
      if (name === "delete") return await at(() => removeRow(writes, target, found));
      await updateReferrer(all, operation, found);
    }
  }
}

async function createReferrer(
  all: Referrers,
  operation: NestedOperation,
  data: AnyRow,
): Promise<void> {
  const { writes, target, reference } = all;
  if (all.isOne) await writes.at(operation.path, () => disconnectOthers(all, undefined));
  await writes.create(target, createdBy(operation, data, reference));
}

async function updateReferrer(
  { writes, target, reference }: Referrers,
  { name, path, where, update = {} }: NestedOperation,
  found: FoundRow,
): Promise<void> {
  const key = keyOf(target.model, found.row);
  const find = () => findNamed(target, key, writes.meter);
  const part = name === "upsert" ? ["update"] : where === undefined ? [] : ["data"];
  await writes.update(target, find, key, { data: update, path: [...path, ...part], reference });
}

/** Lets a row refer to the row above. */
async function connect(all: Referrers, found: FoundRow): Promise<void> {
  const { writes, target, reference } = all;
  if (all.isOne) await disconnectOthers(all, found);
  if (isReferring(all, found)) return;
  assertWritable(target);
  const where = keyOf(target.model, found.row);
  const find = () => findNamed(target, where, writes.meter);
  await updateRow(target, find, where, settingOf(reference), {});
}

async function replaceReferrers(all: Referrers, { path, list }: NestedOperation): Promise<void> {
  const { writes, context, row, target, fields } = all;
  const wanted: FoundRow[] = [];
  for (const each of list) {
    wanted.push(await writes.at(each.path, () => findExisting(writes, target, each.where)));
  }
  const current = await writes.at(path, () => listReferrers(writes, context, row, target, fields));
  for (const found of current) {
    if (wanted.some(({ primaryKey }) => isSameKey(primaryKey, found.primaryKey))) continue;
    await writes.at(path, () => disconnectRow(writes, target, found, fields, row.primaryKey));
  }
  for (const [i, found] of wanted.entries()) {
    await writes.at(list[i]?.path ?? path, () => connect(all, found));
  }
}

/** Makes room for the only row of a `hasOne` relation. */
async function disconnectOthers(all: Referrers, kept: FoundRow | undefined): Promise<void> {
  const { writes, context, row, target, fields } = all;
  for (const found of await listReferrers(writes, context, row, target, fields)) {
    if (kept !== undefined && isSameKey(found.primaryKey, kept.primaryKey)) continue;
    await disconnectRow(writes, target, found, fields, row.primaryKey);
  }
}

async function findOnly(all: Referrers): Promise<FoundRow | undefined> {
  const { writes, context, row, target, fields } = all;
  const [first] = await listReferrers(writes, context, row, target, fields);
  return first;
}

function isReferring({ row, fields }: Referrers, found: FoundRow): boolean {
  return isReferenceTo(fields, found.row, row.primaryKey);
}

async function refuseUnrelated({ target }: Referrers, where: AnyRow = {}): Promise<never> {
  throw new RowNotFoundError(target.model.name, where);
}
