import type { KvKeyPart } from "@keywright/core";
import type { Operation } from "../../errors/orm-error.js";
import { InvalidArgumentError } from "../../errors/query-errors.js";
import { assertArgument, flag, list, versionstampText } from "../../model/shape.js";
import { findOne } from "../../read/find/find-unique.js";
import { planUnique, primaryKeyIn } from "../../read/plan/plan-unique.js";
import type { AnyQuery, FoundRow } from "../../state/context/any-query.js";
import type { ReadMeter } from "../../state/context/read-meter.js";
import { type ReadView, viewOf, withReadView } from "../../state/context/read-view.js";
import { scopedUnique } from "../../state/context/scope.js";
import type { TableContext } from "../../state/context/table-context.js";
import { deleteRow } from "../../write/cascade/delete-row.js";
import { type PurgeResult, purgeRow, purgeRows } from "../../write/deleted/purge-rows.js";
import { withDeletedRows } from "../../write/deleted/purging-context.js";
import { restoreCascade } from "../../write/deleted/restore-cascade.js";
import { restoreRow } from "../../write/deleted/restore-row.js";
import { deleteRows, updateRows } from "../../write/many/change-rows.js";
import { createRows } from "../../write/many/create-rows.js";
import type { RowResult } from "../../write/many/write-each.js";
import { hasRelations } from "../../write/nested/split-data.js";
import { createNested, updateNested, upsertNested } from "../../write/nested/write-nested.js";
import { createRow } from "../../write/rows/create-row.js";
import { restoreVersion } from "../../write/rows/restore-version.js";
import { updateRow } from "../../write/rows/update-row.js";
import { upsertKeyOf } from "../../write/rows/upsert-key.js";
import { upsertRow } from "../../write/rows/upsert-row.js";
import type { CallOptions } from "../call-options.js";
import { type Calls, meterOf } from "../calls.js";
import { copyQuery, objectOf, whereOf } from "../parse-options.js";
import type { CreatedMany, ManyResult } from "./results/result-types.js";
import { type ShapedRow, shapeWrittenRow, shapeWrittenRows } from "./results/shape-rows.js";
import { keyOf, RowReads } from "./row-reads.js";

const unlimited = Number.POSITIVE_INFINITY;

/** The methods of a repository, for any model. `Repository` describes them with their types. */
export class RowOperations extends RowReads {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    super(calls);
    this.#calls = calls;
  }

  /**
   * Returns the table of a repository.
   *
   * @throws {InvalidArgumentError} if it is something else. The error names no model.
   */
  static contextOf(repository: RowOperations): TableContext {
    if (typeof repository === "object" && repository !== null && #calls in repository)
      return repository.#calls.context;
    const reason = "it must be a repository of createDatabase or testDatabase, as in db.users";
    throw new InvalidArgumentError("", "repository", reason, "factory");
  }

  create(input: CallOptions): Promise<ShapedRow> {
    const { context } = this.#calls;
    return this.#writeOne("create", input, (options, meter) => {
      const { data } = options;
      return hasRelations(context, data)
        ? createNested(context, data, options, meter)
        : createRow(context, data, options);
    });
  }

  createMany(input: CallOptions): Promise<CreatedMany<ShapedRow>> {
    const { context } = this.#calls;
    return this.#calls.write("createMany", copyQuery(input), async (options, meter) => {
      const { data } = options;
      assertArgument(context.model.name, "data", data, list);
      const { results, skipped } = await createRows(context, data, options);
      const { count, results: shaped } = await shapeResults(context, results, options, meter);
      // Results of createRows have the position of each row that failed.
      return { count, skipped, results: shaped as CreatedMany<ShapedRow>["results"] };
    });
  }

  update(input: CallOptions): Promise<ShapedRow> {
    const { context } = this.#calls;
    return this.#writeOne("update", input, (options, meter) => {
      const data = objectOf(context, options.data, "data");
      const find = (within = context) => findWholeRow(within, options, meter);
      return hasRelations(context, data)
        ? updateNested(context, find, options.where, data, options, meter)
        : updateRow(context, find, options.where, data, options, () =>
            namedPrimaryKey(context, options),
          );
    });
  }

  updateMany(input: CallOptions): Promise<ManyResult<ShapedRow>> {
    const { context } = this.#calls;
    return this.#writeMany("updateMany", input, async (options, meter) => {
      const data = objectOf(context, options.data, "data");
      return await updateRows(context, options, data, options, meter);
    });
  }

  upsert(input: CallOptions): Promise<ShapedRow> {
    const { context } = this.#calls;
    return this.#writeOne("upsert", input, async (options, meter) => {
      const key =
        this.#calls.kind === "inferred"
          ? undefined
          : upsertKeyOf(context.model, whereOf(context, options), options.index);
      // Checked before it is needed, so that a call without it fails also if the row exists.
      const create = objectOf(context, key?.fillIn(options.create) ?? options.create, "create");
      const update = objectOf(context, options.update, "update");
      const find = (within = context) => findWholeRow(within, options, meter);
      const isNested = hasRelations(context, create) || hasRelations(context, update);
      const upsert = isNested ? upsertNested : upsertRow;
      return await upsert(context, find, create, update, options, meter, key?.assertNew);
    });
  }

  delete(input: CallOptions): Promise<ShapedRow> {
    const { context } = this.#calls;
    const remove = async (options: CallOptions, meter: ReadMeter): Promise<ShapedRow> => {
      const query = { ...options, orAsStored: true };
      let shaped: ShapedRow;
      const find = async (within = context) => {
        const found = await findWholeRow(within, query, meter);
        // Relations are read before the deletion, because related rows may be deleted too.
        if (found !== undefined && options.include)
          shaped = await shapeWrittenRow(context, found, options, meter);
        return found;
      };
      const key = namedPrimaryKey(context, query);
      const deleted = await deleteRow(context, find, options.where, options, meter, key);
      return options.include ? shaped : shapeWrittenRow(context, deleted, options, meter);
    };
    return this.#calls.write("delete", copyQuery(input), remove, unlimited);
  }

  deleteMany(input: CallOptions): Promise<ManyResult<ShapedRow>> {
    const { context } = this.#calls;
    return this.#writeMany("deleteMany", input, (options, meter) =>
      deleteRows(context, options, options, meter),
    );
  }

  restore(input: CallOptions): Promise<ShapedRow> {
    const { context } = this.#calls;
    return this.#writeOne("restore", input, async (options, meter) => {
      const within = withDeletedRows(context);
      assertByKey(context, options);
      const { cascade = false } = options;
      assertArgument(context.model.name, "cascade", cascade, flag);
      const find = (inner = within) => findWholeRow(inner, options, meter);
      return cascade
        ? await restoreCascade(context, find, options.where, options)
        : await restoreRow(within, find, options.where, options);
    });
  }

  restoreRow(input: CallOptions): Promise<ShapedRow> {
    const { context } = this.#calls;
    return this.#writeOne("restoreRow", input, async (options, meter) => {
      const { versionstamp } = options;
      assertArgument(context.model.name, "versionstamp", versionstamp, versionstampText);
      const within = withDeletedRows(context);
      return await restoreVersion(within, keyOf(context, options), versionstamp, options, meter);
    });
  }

  purge(input: CallOptions): Promise<PurgeResult> {
    const { context } = this.#calls;
    const remove = async (options: CallOptions, meter: ReadMeter): Promise<PurgeResult> => {
      const { where, before } = options;
      const { name } = context.model;
      if ((where === undefined) === (before === undefined))
        throw new InvalidArgumentError(name, "argument", "it must have either where or before");
      if (where === undefined) return await purgeRows(context, before, meter);
      assertByKey(context, options);
      const within = withDeletedRows(context);
      const find = () => findWholeRow(within, { ...options, orAsStored: true }, meter);
      await purgeRow(context, find, where, meter);
      return { count: 1, failed: [] };
    };
    return this.#calls.write("purge", copyQuery(input), remove, unlimited);
  }

  /**
   * Runs a write of one row without a limit of reads, because `maxReads` applies only to queries.
   */
  #writeOne(
    operation: Operation,
    input: CallOptions,
    write: (options: CallOptions, meter: ReadMeter) => Promise<FoundRow>,
  ): Promise<ShapedRow> {
    const { context } = this.#calls;
    const run = (options: CallOptions, meter: ReadMeter): Promise<ShapedRow> =>
      write(options, meter).then((written) => shapeWrittenRow(context, written, options, meter));
    return this.#calls.write(operation, copyQuery(input), run, unlimited);
  }

  #writeMany(
    operation: Operation,
    input: CallOptions,
    write: (options: CallOptions, meter: ReadMeter) => Promise<readonly RowResult[]>,
  ): Promise<ManyResult<ShapedRow>> {
    const { context } = this.#calls;
    return this.#calls.write(operation, copyQuery(input), async (options, meter) =>
      shapeResults(context, await write(options, meter), options, meter),
    );
  }
}

/** Finds the row to write, with all of its fields. */
function findWholeRow(
  context: TableContext,
  query: AnyQuery,
  meter: ReadMeter,
): Promise<FoundRow | undefined> {
  const where = whereOf(context, query);
  const find = (view: ReadView) => findOne(view, where, meter, query);
  return withReadView(context, [], find, undefined, true);
}

/** @throws {InvalidArgumentError} if a query does not name the primary key of a deleted row. */
function assertByKey(context: TableContext, query: AnyQuery): void {
  const { name, primaryKey } = context.model;
  const fields = Object.keys(scopedUnique(context, whereOf(context, query)));
  if (fields.length === primaryKey.length && fields.every((field) => primaryKey.includes(field)))
    return;
  const reason = `it must name the primary key, ${primaryKey.join(", ")}, because indexes leave deleted rows out`;
  throw new InvalidArgumentError(name, "where", reason);
}

/** Returns the primary key that a query names; undefined if it names a unique index. */
function namedPrimaryKey(context: TableContext, query: AnyQuery): readonly KvKeyPart[] | undefined {
  const where = scopedUnique(context, whereOf(context, query));
  const [key] = planUnique(viewOf(context).queriedModel, where, query.index);
  return key === "primaryKey" ? primaryKeyIn(context.model, where) : undefined;
}

async function shapeResults(
  context: TableContext,
  results: readonly RowResult[],
  query: AnyQuery,
  meter: ReadMeter,
): Promise<ManyResult<ShapedRow>> {
  const found = results.flatMap((result) => (result.ok ? [result.row] : []));
  // The rows are written already, so no limit applies to the relations that are read with them.
  const shapeMeter = meterOf(context, query, unlimited);
  const shaped = await shapeWrittenRows(context, found, query, shapeMeter);
  meter.reads += shapeMeter.reads;
  let next = 0;
  const all = results.map((result) => (result.ok ? { ...result, row: shaped[next++] } : result));
  return { count: found.length, results: all };
}
