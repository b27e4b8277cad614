import { copyOfGiven } from "../../context/copy-of-data.js";
import type { ReadMeter } from "../../context/read-meter.js";
import type { TableContext } from "../../context/table-context.js";
import { deleteRow } from "../../write/cascade/delete-row.js";
import type { WriteOptions } from "../../write/input/write-options.js";
import { createRow } from "../../write/rows/create-row.js";
import { updateRow } from "../../write/rows/update-row.js";
import { upsertRow } from "../../write/rows/upsert-row.js";
import { givenQuery } from "../repository/given-query.js";
import type { ManyResult } from "../repository/result-types.js";
import { RowOperations } from "../repository/row-operations.js";
import { objectOf, runCall } from "../run-call.js";
import { findRow, whereOf } from "./table-query.js";
import { TableReads } from "./table-reads.js";
import { type UpsertKey, upsertByIndex, upsertByPrimaryKey, withFields } from "./upsert-key.js";

export type { ListOptions } from "./table-reads.js";

/** What `upsert` writes: one of the two. */
export interface UpsertData<UpdateInput> {
  /** What the row's key tells may be left out: which fields those are, generated methods say. */
  readonly create: object;
  readonly update: UpdateInput;
}

const unlimited = Number.POSITIVE_INFINITY;
const nothing = Object.freeze({});

/**
 * The rows of one model by primary key and by the name of an index: what generated repositories are made of. Its types
 * are those that they spell out; `Repository` infers them from the model instead. Hooks, `onQuery`, `maxReads` and what
 * errors say are as there.
 */
export class Table<Row, CreateInput, UpdateInput> extends TableReads<Row> {
  readonly #context: TableContext;
  readonly #rows: RowOperations;

  constructor(context: TableContext) {
    super(context);
    this.#context = context;
    this.#rows = new RowOperations(context);
  }

  /**
   * Creates a row and returns it. One commit.
   *
   * @throws what `Repository.create` throws.
   */
  create(data: CreateInput, options: WriteOptions = nothing): Promise<Row> {
    const context = this.#context;
    const own = givenQuery(options);
    const write = async () => (await createRow(context, data, own)).row;
    return runCall(context, "create", own, write, unlimited) as Promise<Row>;
  }

  /**
   * Creates rows and says of each what became of it; with `atomic` in one commit, or none.
   *
   * @throws what `Repository.createMany` throws.
   */
  createMany(
    data: readonly CreateInput[],
    options: WriteOptions & { readonly atomic?: boolean | undefined } = nothing,
  ): Promise<ManyResult<Row>> {
    return this.#rows.createMany({ ...options, data } as object) as Promise<ManyResult<Row>>;
  }

  /**
   * Changes fields of a row and returns it as it is then. One read and one commit, more where others write the row too.
   *
   * @throws what `Repository.update` throws.
   */
  update(
    primaryKey: readonly unknown[],
    data: UpdateInput,
    options: WriteOptions = nothing,
  ): Promise<Row> {
    const context = this.#context;
    const key = copyOfGiven(primaryKey);
    const own = givenQuery(options);
    const write = async (meter: ReadMeter) => {
      const patch = objectOf(context, data, "data");
      const find = () => findRow(context, key, meter);
      return (await updateRow(context, find, whereOf(context, key), patch, own)).row;
    };
    return runCall(context, "update", own, write, unlimited) as Promise<Row>;
  }

  /**
   * Changes the row of a primary key, or creates one where there is none. `create` may leave out the fields of the key.
   *
   * @throws {InvalidArgumentError} where the row to be created has another key.
   * @throws what `Repository.upsert` throws.
   */
  upsert(
    primaryKey: readonly unknown[],
    data: UpsertData<UpdateInput>,
    options: WriteOptions = nothing,
  ): Promise<Row> {
    const key = copyOfGiven(primaryKey);
    return this.#upsert(data, options, () => upsertByPrimaryKey(this.#context, key));
  }

  /**
   * The same of the row with these values in a unique index. `create` may leave out the fields that the index holds as they are.
   *
   * @throws {UnknownIndexError} for a name that is no unique index's.
   * @throws what `upsert` throws.
   */
  upsertByIndex(
    indexName: string,
    values: readonly unknown[],
    data: UpsertData<UpdateInput>,
    options: WriteOptions = nothing,
  ): Promise<Row> {
    const own = copyOfGiven(values);
    return this.#upsert(data, options, () => upsertByIndex(this.#context, indexName, own));
  }

  /**
   * Removes a row and returns it as it was.
   *
   * @throws what `Repository.delete` throws.
   */
  delete(primaryKey: readonly unknown[], options: WriteOptions = nothing): Promise<Row> {
    const context = this.#context;
    const key = copyOfGiven(primaryKey);
    const own = givenQuery(options);
    const remove = async (meter: ReadMeter) => {
      // A row that is to go is taken as it is stored, where it is none of the program's schema.
      const find = () => findRow(context, key, meter, true);
      return (await deleteRow(context, find, whereOf(context, key), own, meter)).row;
    };
    return runCall(context, "delete", own, remove, unlimited) as Promise<Row>;
  }

  #upsert(
    data: UpsertData<UpdateInput>,
    options: WriteOptions,
    keyOf: () => UpsertKey,
  ): Promise<Row> {
    const context = this.#context;
    const own = givenQuery(options);
    const write = async (meter: ReadMeter) => {
      const { create, update } = objectOf(context, data, "data");
      const patch = objectOf(context, update, "update");
      const key = keyOf();
      const find = () => key.find(meter);
      const row = withFields(context.model, create, key.fields);
      return (await upsertRow(context, find, row, patch, own, meter, key.assertNew)).row;
    };
    return runCall(context, "upsert", own, write, unlimited) as Promise<Row>;
  }
}
