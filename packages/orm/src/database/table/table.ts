import { deepCopy } from "../../context/copy-of-data.js";
import type { ReadMeter } from "../../context/read-meter.js";
import type { TableContext } from "../../context/table-context.js";
import { deleteRow } from "../../write/cascade/delete-row.js";
import type { WriteOptions } from "../../write/input/write-options.js";
import { createRow } from "../../write/rows/create-row.js";
import { updateRow } from "../../write/rows/update-row.js";
import { upsertRow } from "../../write/rows/upsert-row.js";
import { copyQuery } from "../repository/copy-query.js";
import type { ManyResult } from "../repository/result-types.js";
import { RowOperations } from "../repository/row-operations.js";
import { objectOf, runCall } from "../run-call.js";
import { findRow, primaryKeyFields } from "./table-query.js";
import { TableReads } from "./table-reads.js";
import { type UpsertKey, upsertByIndex, upsertByPrimaryKey, withFields } from "./upsert-key.js";

export type { ListOptions } from "./table-reads.js";

/** The data of an upsert. Either `create` or `update` is used. */
export interface UpsertData<UpdateInput> {
  /**
   * The new row. It can leave out the fields that the key of the upsert determines. The
   * documentation of each generated method lists them.
   */
  readonly create: object;
  readonly update: UpdateInput;
}

const unlimited = Number.POSITIVE_INFINITY;
const noOptions = Object.freeze({});

/**
 * The rows of one model, accessed by primary key and by the names of indexes. Generated
 * repositories are built on it. They supply the types, whereas `Repository` infers its types from
 * the model. Hooks, `onQuery`, `maxReads` and errors work as in `Repository`.
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
   * @throws the errors of `Repository.create`.
   */
  create(data: CreateInput, options: WriteOptions = noOptions): Promise<Row> {
    const context = this.#context;
    const writeOptions = copyQuery(options);
    const write = async () => (await createRow(context, data, writeOptions)).row;
    return runCall(context, "create", writeOptions, write, unlimited) as Promise<Row>;
  }

  /**
   * Creates rows and returns the result of each. With `atomic: true`, all rows are created in one
   * commit, or none.
   *
   * @throws the errors of `Repository.createMany`.
   */
  createMany(
    data: readonly CreateInput[],
    options: WriteOptions & { readonly atomic?: boolean | undefined } = noOptions,
  ): Promise<ManyResult<Row>> {
    return this.#rows.createMany({ ...options, data } as object) as Promise<ManyResult<Row>>;
  }

  /**
   * Changes fields of a row and returns the changed row. One read and one commit, or more if others
   * write the row at the same time.
   *
   * @throws the errors of `Repository.update`.
   */
  update(
    primaryKey: readonly unknown[],
    data: UpdateInput,
    options: WriteOptions = noOptions,
  ): Promise<Row> {
    const context = this.#context;
    const key = deepCopy(primaryKey);
    const writeOptions = copyQuery(options);
    const write = async (meter: ReadMeter) => {
      const patch = objectOf(context, data, "data");
      const find = () => findRow(context, key, meter);
      return (await updateRow(context, find, primaryKeyFields(context, key), patch, writeOptions))
        .row;
    };
    return runCall(context, "update", writeOptions, write, unlimited) as Promise<Row>;
  }

  /**
   * Changes the row with a primary key, or creates it if it does not exist. `create` can leave out
   * the fields of the key.
   *
   * @throws {InvalidArgumentError} if the new row would have another key.
   * @throws the errors of `Repository.upsert`.
   */
  upsert(
    primaryKey: readonly unknown[],
    data: UpsertData<UpdateInput>,
    options: WriteOptions = noOptions,
  ): Promise<Row> {
    const key = deepCopy(primaryKey);
    return this.#upsert(data, options, () => upsertByPrimaryKey(this.#context, key));
  }

  /**
   * Changes the row with these values in a unique index, or creates it if it does not exist.
   * `create` can leave out the fields that the index holds unchanged.
   *
   * @throws {UnknownIndexError} if the model has no unique index of this name.
   * @throws the errors of `upsert`.
   */
  upsertByIndex(
    indexName: string,
    values: readonly unknown[],
    data: UpsertData<UpdateInput>,
    options: WriteOptions = noOptions,
  ): Promise<Row> {
    const valuesCopy = deepCopy(values);
    return this.#upsert(data, options, () => upsertByIndex(this.#context, indexName, valuesCopy));
  }

  /**
   * Deletes a row and returns it as it was before.
   *
   * @throws the errors of `Repository.delete`.
   */
  delete(primaryKey: readonly unknown[], options: WriteOptions = noOptions): Promise<Row> {
    const context = this.#context;
    const key = deepCopy(primaryKey);
    const writeOptions = copyQuery(options);
    const remove = async (meter: ReadMeter) => {
      // A row that cannot be upgraded to the program's schema can still be deleted.
      const find = () => findRow(context, key, meter, true);
      return (await deleteRow(context, find, primaryKeyFields(context, key), writeOptions, meter))
        .row;
    };
    return runCall(context, "delete", writeOptions, remove, unlimited) as Promise<Row>;
  }

  #upsert(
    data: UpsertData<UpdateInput>,
    options: WriteOptions,
    keyOf: () => UpsertKey,
  ): Promise<Row> {
    const context = this.#context;
    const writeOptions = copyQuery(options);
    const write = async (meter: ReadMeter) => {
      const { create, update } = objectOf(context, data, "data");
      const patch = objectOf(context, update, "update");
      const key = keyOf();
      const find = () => key.find(meter);
      const row = withFields(context.model, create, key.fields);
      return (await upsertRow(context, find, row, patch, writeOptions, meter, key.assertNew)).row;
    };
    return runCall(context, "upsert", writeOptions, write, unlimited) as Promise<Row>;
  }
}
