import type { AnyQuery, FoundRow } from "../../context/any-query.js";
import type { ReadMeter } from "../../context/read-meter.js";
import type { TableContext } from "../../context/table-context.js";
import type { Operation } from "../../errors/orm-error.js";
import { InvalidArgumentError } from "../../errors/query-errors.js";
import type { AnyRow } from "../../model/compiled-model.js";
import { findOne } from "../../query/read/find-rows.js";
import { rereadTorn } from "../../relations/load/reread-torn.js";
import { deleteRow } from "../../write/cascade/delete-row.js";
import { deleteRows, updateRows } from "../../write/many/change-rows.js";
import { createRows } from "../../write/many/create-rows.js";
import type { RowResult } from "../../write/many/row-result.js";
import { createRow } from "../../write/rows/create-row.js";
import { updateRow } from "../../write/rows/update-row.js";
import { upsertRow } from "../../write/rows/upsert-row.js";
import { meterOf, objectOf, runCall, whereOf } from "../run-call.js";
import { givenQuery } from "./given-query.js";
import { RowReads } from "./row-reads.js";
import { type Shaped, shapeRow, shapeWritten, shapeWrittenRows } from "./shape-rows.js";

const unlimited = Number.POSITIVE_INFINITY;

/** The argument of a write, whatever its model. */
export interface AnyWrite extends Pick<AnyQuery, "select" | "include" | "withVersionstamp"> {
  readonly where?: AnyRow;
  readonly data?: unknown;
  readonly create?: unknown;
  readonly update?: unknown;
  readonly expireIn?: number;
  readonly ifVersion?: string;
  readonly atomic?: boolean;
}

/** What can be done with the rows of one model: the methods of a repository, whose types `Repository` gives. */
export class RowOperations extends RowReads {
  readonly #context: TableContext;

  constructor(context: TableContext) {
    super(context);
    this.#context = context;
  }

  create(given: AnyWrite): Promise<Shaped> {
    const write = givenQuery(given);
    return this.#write("create", write, async (meter) => {
      const created = await createRow(this.#context, write.data, write);
      return shapeWritten(this.#context, created, write, meter);
    });
  }

  createMany(given: AnyWrite): Promise<Shaped> {
    const write = givenQuery(given);
    return runCall(this.#context, "createMany", write, async (meter) => {
      const data = this.#list(write.data);
      return await this.#results(await createRows(this.#context, data, write), write, meter);
    });
  }

  update(given: AnyWrite): Promise<Shaped> {
    const write = givenQuery(given);
    return this.#write("update", write, async (meter) => {
      const { where } = write;
      const data = objectOf(this.#context, write.data, "data");
      const find = () => this.#find(write, meter);
      const updated = await updateRow(this.#context, find, where, data, write);
      return shapeWritten(this.#context, updated, write, meter);
    });
  }

  updateMany(given: AnyWrite & AnyQuery): Promise<Shaped> {
    const write = givenQuery(given);
    return runCall(this.#context, "updateMany", write, async (meter) => {
      const data = objectOf(this.#context, write.data, "data");
      const results = await updateRows(this.#context, write, data, write, meter);
      return await this.#results(results, write, meter);
    });
  }

  upsert(given: AnyWrite): Promise<Shaped> {
    const write = givenQuery(given);
    return this.#write("upsert", write, async (meter) => {
      const update = objectOf(this.#context, write.update, "update");
      const find = () => this.#find(write, meter);
      const row = await upsertRow(this.#context, find, write.create, update, write, meter);
      return shapeWritten(this.#context, row, write, meter);
    });
  }

  delete(given: AnyWrite): Promise<Shaped> {
    const write = givenQuery(given);
    return this.#write("delete", write, async (meter) => {
      let shaped: Shaped;
      const leaving = { ...write, orAsStored: true };
      // What it is related to may go with it: that is read before.
      const findWithRelations = async () => {
        const found = await this.#find(leaving, meter);
        if (found !== undefined) shaped = await shapeRow(this.#context, found, write, meter);
        return found;
      };
      const find = write.include
        ? () => rereadTorn(findWithRelations)
        : () => this.#find(leaving, meter);
      const deleted = await deleteRow(this.#context, find, write.where, write, meter);
      return write.include ? shaped : shapeWritten(this.#context, deleted, write, meter);
    });
  }

  deleteMany(given: AnyWrite & AnyQuery): Promise<Shaped> {
    const write = givenQuery(given);
    return runCall(this.#context, "deleteMany", write, async (meter) => {
      const results = await deleteRows(this.#context, write, write, meter);
      return await this.#results(results, write, meter);
    });
  }

  /** A write of one row: it reads as often as it has to, for `maxReads` is about queries. */
  #write<T>(
    operation: Operation,
    argument: unknown,
    write: (meter: ReadMeter) => Promise<T>,
  ): Promise<T> {
    return runCall(this.#context, operation, argument, write, unlimited);
  }

  /** The row to write, all of it. */
  #find(query: AnyQuery, meter: ReadMeter): Promise<FoundRow | undefined> {
    return findOne(this.#context, whereOf(this.#context, query), meter, query);
  }

  async #results(
    results: readonly RowResult[],
    query: AnyQuery,
    meter: ReadMeter,
  ): Promise<Shaped> {
    const found = results.flatMap((result) => (result.ok ? [result.row] : []));
    // They are written: what is read with them is read whatever it costs.
    const own = meterOf(this.#context, query, unlimited);
    const shaped = await shapeWrittenRows(this.#context, found, query, own);
    meter.reads += own.reads;
    let next = 0;
    const all = results.map((result) => (result.ok ? { ...result, row: shaped[next++] } : result));
    return { count: found.length, results: all };
  }

  #list(value: unknown): readonly unknown[] {
    if (Array.isArray(value)) return value;
    throw new InvalidArgumentError(this.#context.model.name, "data", "it has to be an array");
  }
}
