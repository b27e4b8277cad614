import type { Kv, KvKeyPart, KvLimits, KvPages } from "@keywright/core";
import { compileModel } from "../src/codegen.js";
import type { Model } from "../src/index.js";
import type { AnyRow } from "../src/model/compiled-model.js";
import { indexEntries } from "../src/model/keys/index-entries.js";
import { primaryKeyOf, rowKey } from "../src/model/keys/primary-key.js";
import { capabilitiesOf } from "../src/state/catalog/capabilities-of.js";
import { ModelCatalog } from "../src/state/catalog/model-catalog.js";
import type { DatabaseSettings } from "../src/state/context/database-settings.js";
import { ReadMeter } from "../src/state/context/read-meter.js";
import type { TableContext } from "../src/state/context/table-context.js";
import { countedPages, isOfCatalog } from "./counting-kv.js";

/** What reading a model's rows needs, on a database whose rows are written by {@link put}. */
export async function tableOn(
  kv: Kv & { readonly limits?: KvLimits },
  model: Model,
  settings: Partial<DatabaseSettings> = {},
): Promise<TableContext> {
  const { keyOrder, limits } = capabilitiesOf(kv);
  const compiled = compileModel(model, keyOrder);
  const tables = new Map<string, TableContext>();
  const context: TableContext = {
    kv,
    model: compiled,
    catalog: await ModelCatalog.open(kv, compiled),
    limits,
    settings: {
      maxReads: Number.POSITIVE_INFINITY,
      validateReads: false,
      hooks: {},
      onQuery: undefined,
      ...settings,
    },
    links: { relations: new Map(), referencedBy: [], copiedBy: [] },
    tables,
    transaction: undefined,
  };
  tables.set(compiled.name, context);
  return context;
}

/** Stores rows with their index entries. */
export async function put({ kv, model }: TableContext, ...rows: readonly AnyRow[]): Promise<void> {
  for (const row of rows) {
    const primaryKey = primaryKeyOf(model, row);
    const operation = kv.atomic().set(rowKey(model, primaryKey), row);
    for (const { key, value } of indexEntries(model, model.indexes, row, primaryKey)) {
      operation.set(key, value);
    }
    await operation.commit();
  }
}

/** Takes a row away with its index entries. */
export async function remove({ kv, model }: TableContext, row: AnyRow): Promise<void> {
  const primaryKey: readonly KvKeyPart[] = primaryKeyOf(model, row);
  const operation = kv.atomic().delete(rowKey(model, primaryKey));
  for (const { key } of indexEntries(model, model.indexes, row, primaryKey)) operation.delete(key);
  await operation.commit();
}

/** A meter without a limit, or with one. */
export function meterOf({ model }: TableContext, maxReads = Number.POSITIVE_INFINITY): ReadMeter {
  return new ReadMeter(model.name, maxReads);
}

/** Calls of a database that read, by their names in order. */
export function recordingKv<T extends Kv>(kv: T): { kv: T; calls: string[] } {
  const calls: string[] = [];
  const recorded = <Reads extends object>(reads: Reads): Reads =>
    new Proxy(reads, {
      get(target, property) {
        const member: unknown = Reflect.get(target, property, target);
        if (property === "pages") {
          return countedPages(member as KvPages, (name, entries) =>
            calls.push(name === "getMany" ? `getMany ${entries}` : name),
          );
        }
        if (typeof member !== "function") return member;
        return (...args: unknown[]) => {
          if (["get", "getMany", "list"].includes(String(property)) && !isOfCatalog(args)) {
            const [keys] = args as [readonly unknown[]];
            calls.push(property === "getMany" ? `getMany ${keys.length}` : String(property));
          }
          const result: unknown = Reflect.apply(member, target, args);
          return property === "openView" ? recorded(result as object) : result;
        };
      },
    });
  return { kv: recorded(kv), calls };
}
