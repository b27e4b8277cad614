import { knownNames } from "../../errors/nearest-name.js";
import type { AnyRow } from "../../model/compiled-model.js";
import { isPlainObject } from "../../model/is-plain-object.js";
import type { Relation } from "../../model/relations/relation-definition.js";

/** A place in the data of a nested write: `["posts", "create", 2]`. */
export type DataPath = readonly PropertyKey[];

/** Throws an error about a place in the data. */
export type Refuse = (path: DataPath, reason: string) => never;

/** The operations on related rows, in the order in which they are carried out. */
const operationNames = [
  "set",
  "disconnect",
  "delete",
  "update",
  "upsert",
  "connect",
  "connectOrCreate",
  "create",
] as const;

type OperationName = (typeof operationNames)[number];

/** One operation on related rows. */
export interface NestedOperation {
  readonly name: OperationName;
  readonly path: DataPath;
  /** Identifies the related row. Undefined if the relation leads to one row, or for `set`. */
  readonly where: AnyRow | undefined;
  readonly create: AnyRow | undefined;
  readonly update: AnyRow | undefined;
  /** The rows that `set` names. */
  readonly list: readonly NamedRow[];
}

/** A `where` in the data of a nested write. */
export interface NamedRow {
  readonly where: AnyRow;
  readonly path: DataPath;
}

const newRow = ["create", "connect", "connectOrCreate"] as const;

/**
 * Returns the operations that the data of a write has for a relation.
 *
 * @param isNew true if the data is that of a new row, which has no related rows yet.
 * @param refuse is called for what is not valid.
 */
export function parseOperations(
  { kind }: Relation,
  value: unknown,
  path: DataPath,
  isNew: boolean,
  refuse: Refuse,
): readonly NestedOperation[] {
  const isToMany = kind === "hasMany" || kind === "manyToMany";
  const updates = operationNames.filter((name) => isToMany || name !== "set");
  const allowed: readonly string[] = isNew ? newRow : updates;
  if (!isPlainObject(value)) {
    return refuse(path, "it must be an object of operations, such as { create: … }");
  }
  for (const name of Object.keys(value)) {
    if (allowed.includes(name) || value[name] === undefined) continue;
    const row = isNew ? "the relation of a new row" : `a ${kind} relation`;
    refuse([...path, name], `${row} has no such operation; ${advice(name, allowed)}`);
  }
  const operations = operationNames.flatMap((name) => {
    const operand = value[name];
    if (operand === undefined) return [];
    const at = [...path, name];
    if (name === "set") {
      const list = listOf(operand, at).map((each) => ({ where: row(each), path: each.path }));
      return [{ ...noOperands, name, path: at, list }];
    }
    if (!isToMany && Array.isArray(operand))
      refuse(at, "the relation leads to one row, not a list");
    return listOf(operand, at).map((each) => operationOf(name, each));
  });
  if (kind === "belongsTo" && operations.length > 1) {
    refuse(path, "the row can only refer to one row, so give one operation");
  }
  return operations;

  function operationOf(name: OperationName, operand: Operand): NestedOperation {
    const operation = { ...noOperands, name, path: operand.path };
    switch (name) {
      case "create":
        return { ...operation, create: row(operand) };
      case "connect":
        return { ...operation, where: row(operand) };
      case "connectOrCreate": {
        const { where, create } = parts(operand, ["where", "create"]);
        return { ...operation, where, create };
      }
      case "update": {
        if (!isToMany) return { ...operation, update: row(operand) };
        const { where, data } = parts(operand, ["where", "data"]);
        return { ...operation, where, update: data };
      }
      case "upsert": {
        const known = ["create", "update"];
        return { ...operation, ...parts(operand, isToMany ? ["where", ...known] : known) };
      }
      default:
        if (isToMany) return { ...operation, where: row(operand) };
        return operand.value === true ? operation : refuse(operand.path, "it must be true");
    }
  }

  function row({ value: operand, path: at }: Operand): AnyRow {
    const isRow = typeof operand === "object" && operand !== null && !Array.isArray(operand);
    return isRow ? (operand as AnyRow) : refuse(at, "it must be an object");
  }

  function parts(operand: Operand, names: readonly string[]): Readonly<Record<string, AnyRow>> {
    const given = row(operand);
    for (const name of Object.keys(given)) {
      if (names.includes(name)) continue;
      refuse([...operand.path, name], `there is no such option; ${advice(name, names)}`);
    }
    const found = names.map((name) => {
      return [name, row({ value: given[name], path: [...operand.path, name] })];
    });
    return Object.fromEntries(found);
  }
}

interface Operand {
  readonly value: unknown;
  readonly path: DataPath;
}

const noOperands = { where: undefined, create: undefined, update: undefined, list: [] };

function listOf(value: unknown, path: DataPath): readonly Operand[] {
  if (!Array.isArray(value)) return [{ value, path }];
  return value.map((each: unknown, position) => ({ value: each, path: [...path, position] }));
}

function advice(name: string, known: readonly string[]): string {
  return knownNames(name, known, "names");
}
