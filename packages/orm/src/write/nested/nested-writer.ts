import { LimitExceededError } from "@keywright/core";
import * as core from "zod/v4/core";
import { addPath, OrmError, replaceMessage } from "../../errors/orm-error.js";
import { InvalidArgumentError } from "../../errors/query-errors.js";
import { addPathToIssues, RowInvalidError } from "../../errors/row-errors.js";
import type { AnyRow } from "../../model/compiled-model.js";
import { isPlainObject } from "../../model/is-plain-object.js";
import { isSamePart, keyPartOf } from "../../model/keys/key-parts.js";
import { copyData } from "../../model/rows/copy-of-data.js";
import type { FoundRow } from "../../state/context/any-query.js";
import type { ReadMeter } from "../../state/context/read-meter.js";
import type { TableContext } from "../../state/context/table-context.js";
import type { TransactionKv } from "../../state/transaction/transaction-kv.js";
import { isHookError } from "../input/row-hooks.js";
import type { WriteOptions } from "../input/write-options.js";
import { createRow } from "../rows/create-row.js";
import { type FindRow, findToWrite } from "../rows/find-row.js";
import { updateRow } from "../rows/update-row.js";
import { assertWritable, findNamed, keyOf } from "./find-related.js";
import type { DataPath } from "./nested-operation.js";
import type { NestedWrites, RowData } from "./nested-writes.js";
import { type RelationWrite, type SplitData, splitData } from "./split-data.js";
import { writeLinks } from "./write-links.js";
import { writeReferrers } from "./write-referrers.js";
import { removeTarget, type TargetWrite, writeTarget } from "./write-target.js";

/** The model whose method is called, and the argument that contains the data. */
export interface NestedCall {
  readonly model: string;
  readonly argument: "data" | "create" | "update";
  readonly meter: ReadMeter;
}

/** Writes a row and what its data has for its relations, to any depth, in one transaction. */
export class NestedWriter implements NestedWrites {
  readonly #call: NestedCall;
  readonly #transaction: TransactionKv | undefined;
  /** The data that is being written: of a row, the row above it, and so on. */
  readonly #ancestors = new Set<AnyRow>();

  constructor(call: NestedCall, transaction: TransactionKv | undefined) {
    this.#call = call;
    this.#transaction = transaction;
  }

  get meter(): ReadMeter {
    return this.#call.meter;
  }

  refuse = (path: DataPath, reason: string): never => {
    const error = new InvalidArgumentError(this.#call.model, this.#placeOf(path), reason);
    throw Object.assign(error, { path });
  };

  async at<T>(path: DataPath, run: () => Promise<T>): Promise<T> {
    try {
      const result = await run();
      this.#transaction?.assertFits();
      return result;
    } catch (error) {
      if (!isHookError(error)) this.#locate(error, path);
      throw error;
    }
  }

  create(context: TableContext, row: RowData, options: WriteOptions = {}): Promise<FoundRow> {
    return this.#within(context, row, true, async ({ fields, relations }) => {
      const written: Record<string, unknown> = { ...fields, ...row.reference };
      for (const relation of relations) {
        const { reference = {} } = await this.#writeTarget(context, relation, undefined);
        for (const [field, value] of Object.entries(reference)) {
          this.#assertSame([...row.path, field], written[field], value);
          written[field] = value;
        }
      }
      const created = await this.at(row.path, () => createRow(context, written, options));
      await this.#writeOthers(context, relations, created);
      return created;
    });
  }

  /** The row itself is written only if its data has a field of its own. */
  update(
    context: TableContext,
    find: FindRow,
    where: unknown,
    row: RowData,
    options: WriteOptions = {},
  ): Promise<FoundRow> {
    return this.#within(context, row, false, async ({ fields, relations }) => {
      const { snapshot } = context.catalog;
      const before = await this.at(row.path, () =>
        findToWrite(context, snapshot, find, where, options),
      );
      const changes: Record<string, unknown> = { ...fields };
      const targets: [RelationWrite, TargetWrite][] = [];
      for (const relation of relations) {
        const target = await this.#writeTarget(context, relation, before);
        targets.push([relation, target]);
        const { reference = {}, emptied = {} } = target;
        const set = Object.entries(reference).map(([field, value]) => [field, { set: value }]);
        for (const [field, change] of [...set, ...Object.entries(emptied)] as [string, unknown][]) {
          this.#assertSame([...row.path, field], changes[field], change);
          changes[field] = change;
        }
      }
      const hasChanges = Object.values(changes).some((value) => value !== undefined);
      const isWritten = hasChanges || relations.length === 0 || options.expireIn !== undefined;
      const key = keyOf(context.model, before.row);
      const findAgain = () => findNamed(context, key, this.meter);
      // `ifVersion` was compared above. The transaction notices changes by others.
      const { expireIn } = options;
      const updated = isWritten
        ? await this.at(row.path, () => updateRow(context, findAgain, key, changes, { expireIn }))
        : before;
      for (const [relation, target] of targets) await removeTarget(this, relation, target);
      await this.#writeOthers(context, relations, updated);
      return updated;
    });
  }

  async #within(
    context: TableContext,
    row: RowData,
    isNew: boolean,
    write: (data: SplitData) => Promise<FoundRow>,
  ): Promise<FoundRow> {
    const { data, path, reference = {} } = row;
    await this.at(path, async () => assertWritable(context));
    if (this.#ancestors.has(data)) this.refuse(path, "the data contains itself");
    const own = isPlainObject(data) ? data : copyData(context.model, data);
    for (const field of Object.keys(reference)) {
      if (own[field] === undefined) continue;
      this.refuse([...path, field], "the row above determines it; remove it");
    }
    const split = splitData(context, own, path, isNew, this.refuse);
    for (const { link, path: at } of split.relations) {
      const { relation } = link;
      if (relation.kind !== "belongsTo") continue;
      if (!relation.fields.every((field) => Object.hasOwn(reference, field))) continue;
      this.refuse(at, "the row above is the one that it leads to; remove it");
    }
    this.#ancestors.add(data);
    try {
      return await write(split);
    } finally {
      this.#ancestors.delete(data);
    }
  }

  async #writeTarget(
    context: TableContext,
    write: RelationWrite,
    before: FoundRow | undefined,
  ): Promise<TargetWrite> {
    const { relation } = write.link;
    if (relation.kind !== "belongsTo") return {};
    return await writeTarget(this, context, write, relation, before);
  }

  async #writeOthers(
    context: TableContext,
    relations: readonly RelationWrite[],
    row: FoundRow,
  ): Promise<void> {
    for (const write of relations) {
      const { relation } = write.link;
      if (relation.kind === "manyToMany") await writeLinks(this, context, write, relation, row);
      else if (relation.kind !== "belongsTo") {
        await writeReferrers(this, context, write, relation, row);
      }
    }
  }

  /** Refuses a field of a reference that the data also sets to another value. */
  #assertSame(path: DataPath, before: unknown, after: unknown): void {
    if (before === undefined) return;
    const part = keyPartOf(newValue(before));
    if (part !== undefined && isSamePart(part, keyPartOf(newValue(after)))) return;
    this.refuse(path, "a relation in the same data sets it to another value; remove one of them");
  }

  #locate(error: unknown, path: DataPath): void {
    if (path.length === 0) return;
    if (error instanceof LimitExceededError) {
      replaceMessage(error, `${this.#call.model}: ${this.#placeOf(path)}: ${error.message}`);
    } else if (error instanceof OrmError && error.model !== "" && error.path === undefined) {
      if (error instanceof RowInvalidError) addPathToIssues(error, path);
      addPath(error, this.#call.model, path, this.#placeOf(path));
    }
  }

  #placeOf(path: DataPath): string {
    return core.toDotPath([this.#call.argument, ...path]);
  }
}

/** Returns the value of `{ set: value }`, and any other value as it is. */
function newValue(change: unknown): unknown {
  return isPlainObject(change) && Object.hasOwn(change, "set") ? change.set : change;
}
