import type { AnyQuery, FoundRow } from "../../context/any-query.js";
import type { ReadMeter } from "../../context/read-meter.js";
import type { TableContext } from "../../context/table-context.js";
import type { Operation } from "../../errors/orm-error.js";
import { InvalidArgumentError } from "../../errors/query-errors.js";
import type { AnyRow } from "../../model/compiled-model.js";
import { findOne } from "../../query/read/find-rows.js";
import { retryTornRead } from "../../relations/load/retry-torn-read.js";
import { deleteRow } from "../../write/cascade/delete-row.js";
import { deleteRows, updateRows } from "../../write/many/change-rows.js";
import { createRows } from "../../write/many/create-rows.js";
import type { RowResult } from "../../write/many/write-each.js";
import { createRow } from "../../write/rows/create-row.js";
import { updateRow } from "../../write/rows/update-row.js";
import { upsertRow } from "../../write/rows/upsert-row.js";
import { meterOf, objectOf, runCall, whereOf } from "../run-call.js";
import { copyQuery } from "./copy-query.js";
import { RowReads } from "./row-reads.js";
import { type ShapedRow, shapeRow, shapeWritten, shapeWrittenRows } from "./shape-rows.js";

const unlimited = Number.POSITIVE_INFINITY;

/** The argument of a write, for any model. */
export interface AnyWrite extends Pick<AnyQuery, "select" | "include" | "withVersionstamp"> {
  readonly where?: AnyRow;
  readonly data?: unknown;
  readonly create?: unknown;
  readonly update?: unknown;
  readonly expireIn?: number;
  readonly ifVersion?: string;
  readonly atomic?: boolean;
}

/** The methods of a repository, for any model. `Repository` describes them with their types. */
export class RowOperations extends RowReads {
  readonly #context: TableContext;

  constructor(context: TableContext) {
    super(context);
    this.#context = context;
  }

  create(input: AnyWrite): Promise<ShapedRow> {
    const write = copyQuery(input);
    return this.#write("create", write, async (meter) => {
      const created = await createRow(this.#context, write.data, write);
      return shapeWritten(this.#context, created, write, meter);
    });
  }

  createMany(input: AnyWrite): Promise<ShapedRow> {
    const write = copyQuery(input);
    return runCall(this.#context, "createMany", write, async (meter) => {
      const data = this.#requireArray(write.data);
      return await this.#shapeResults(await createRows(this.#context, data, write), write, meter);
    });
  }

  update(input: AnyWrite): Promise<ShapedRow> {
    const write = copyQuery(input);
    return this.#write("update", write, async (meter) => {
      const { where } = write;
      const data = objectOf(this.#context, write.data, "data");
      const find = () => this.#find(write, meter);
      const updated = await updateRow(this.#context, find, where, data, write);
      return shapeWritten(this.#context, updated, write, meter);
    });
  }

  updateMany(input: AnyWrite & AnyQuery): Promise<ShapedRow> {
    const write = copyQuery(input);
    return runCall(this.#context, "updateMany", write, async (meter) => {
      const data = objectOf(this.#context, write.data, "data");
      const results = await updateRows(this.#context, write, data, write, meter);
      return await this.#shapeResults(results, write, meter);
    });
  }

  upsert(input: AnyWrite): Promise<ShapedRow> {
    const write = copyQuery(input);
    return this.#write("upsert", write, async (meter) => {
      const update = objectOf(this.#context, write.update, "update");
      const find = () => this.#find(write, meter);
      const row = await upsertRow(this.#context, find, write.create, update, write, meter);
      return shapeWritten(this.#context, row, write, meter);
    });
  }

  delete(input: AnyWrite): Promise<ShapedRow> {
    const write = copyQuery(input);
    return this.#write("delete", write, async (meter) => {
      let shaped: ShapedRow;
      const query = { ...write, orAsStored: true };
      // Relations are read before the deletion, because related rows may be deleted too.
      const findWithRelations = async () => {
        const found = await this.#find(query, meter);
        if (found !== undefined) shaped = await shapeRow(this.#context, found, write, meter);
        return found;
      };
      const find = write.include
        ? () => retryTornRead(findWithRelations)
        : () => this.#find(query, meter);
      const deleted = await deleteRow(this.#context, find, write.where, write, meter);
      return write.include ? shaped : shapeWritten(this.#context, deleted, write, meter);
    });
  }

  deleteMany(input: AnyWrite & AnyQuery): Promise<ShapedRow> {
    const write = copyQuery(input);
    return runCall(this.#context, "deleteMany", write, async (meter) => {
      const results = await deleteRows(this.#context, write, write, meter);
      return await this.#shapeResults(results, write, meter);
    });
  }

  /**
   * Runs a write of one row without a limit of reads, because `maxReads` applies only to queries.
   */
  #write<T>(
    operation: Operation,
    argument: unknown,
    write: (meter: ReadMeter) => Promise<T>,
  ): Promise<T> {
    return runCall(this.#context, operation, argument, write, unlimited);
  }

  /** Finds the row to write, with all of its fields. */
  #find(query: AnyQuery, meter: ReadMeter): Promise<FoundRow | undefined> {
    return findOne(this.#context, whereOf(this.#context, query), meter, query);
  }

  async #shapeResults(
    results: readonly RowResult[],
    query: AnyQuery,
    meter: ReadMeter,
  ): Promise<ShapedRow> {
    const found = results.flatMap((result) => (result.ok ? [result.row] : []));
    // The rows are written already, so no limit applies to the relations that are read with them.
    const shapeMeter = meterOf(this.#context, query, unlimited);
    const shaped = await shapeWrittenRows(this.#context, found, query, shapeMeter);
    meter.reads += shapeMeter.reads;
    let next = 0;
    const all = results.map((result) => (result.ok ? { ...result, row: shaped[next++] } : result));
    return { count: found.length, results: all };
  }

  #requireArray(value: unknown): readonly unknown[] {
    if (Array.isArray(value)) return value;
    throw new InvalidArgumentError(this.#context.model.name, "data", "it has to be an array");
  }
}
