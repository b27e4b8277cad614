import type { AnyRow } from "../model/compiled-model.js";
import type { FoundRow } from "../query/any-query.js";
import { findByUniqueIndex } from "../query/find-unique.js";
import type { ReadMeter } from "../query/read-meter.js";
import type { TableContext } from "../query/table-context.js";
import { createRow, deleteRow, updateRow, upsertRow } from "../write/row-writer.js";
import type { WriteOptions } from "../write/write-options.js";
import { indexNamed } from "./index-query.js";
import type { ManyResult } from "./result-types.js";
import { RowOperations } from "./row-operations.js";
import { objectOf, runCall } from "./run-call.js";
import { findRow, whereOf } from "./table-query.js";
import { TableReads } from "./table-reads.js";

export type { ListOptions } from "./table-reads.js";

/** What `upsert` writes: one of the two. */
export interface UpsertData<CreateInput, UpdateInput> {
  readonly create: CreateInput;
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
    const write = async (meter: ReadMeter) => (await createRow(context, data, options, meter)).row;
    return runCall(context, "create", options, write, unlimited) as Promise<Row>;
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
    const write = async (meter: ReadMeter) => {
      const patch = objectOf(context, data, "data");
      const find = () => findRow(context, primaryKey, meter);
      return (await updateRow(context, find, whereOf(context, primaryKey), patch, options, meter))
        .row;
    };
    return runCall(context, "update", options, write, unlimited) as Promise<Row>;
  }

  /**
   * Changes the row of a primary key, or creates one where there is none.
   *
   * @throws what `Repository.upsert` throws.
   */
  upsert(
    primaryKey: readonly unknown[],
    data: UpsertData<CreateInput, UpdateInput>,
    options: WriteOptions = nothing,
  ): Promise<Row> {
    const find = (meter: ReadMeter) => findRow(this.#context, primaryKey, meter);
    return this.#upsert(this.#named(primaryKey, data), options, find);
  }

  /**
   * The same of the row with these values in a unique index.
   *
   * @throws what `Repository.upsert` throws.
   */
  upsertByIndex(
    indexName: string,
    values: readonly unknown[],
    data: UpsertData<CreateInput, UpdateInput>,
    options: WriteOptions = nothing,
  ): Promise<Row> {
    return this.#upsert(data, options, (meter) =>
      findByUniqueIndex(
        this.#context,
        indexNamed(this.#context.model, indexName, true),
        values,
        meter,
      ),
    );
  }

  /**
   * Removes a row and returns it as it was.
   *
   * @throws what `Repository.delete` throws.
   */
  delete(primaryKey: readonly unknown[], options: WriteOptions = nothing): Promise<Row> {
    const context = this.#context;
    const remove = async (meter: ReadMeter) => {
      // A row that is to go is taken as it is stored, where it is none of the program's schema.
      const find = () => findRow(context, primaryKey, meter, true);
      return (await deleteRow(context, find, whereOf(context, primaryKey), options, meter)).row;
    };
    return runCall(context, "delete", options, remove, unlimited) as Promise<Row>;
  }

  /** A row that is created in place of one that is not there gets its primary key, where it would generate another. */
  #named(
    primaryKey: readonly unknown[],
    data: UpsertData<CreateInput, UpdateInput>,
  ): UpsertData<CreateInput, UpdateInput> {
    const { model } = this.#context;
    const [id = ""] = model.primaryKey;
    const create = data?.create as AnyRow | null | undefined;
    if (
      !model.generatesId ||
      typeof create !== "object" ||
      create === null ||
      create[id] !== undefined
    )
      return data;
    return { ...data, create: { ...create, [id]: primaryKey[0] } as CreateInput };
  }

  #upsert(
    data: UpsertData<CreateInput, UpdateInput>,
    options: WriteOptions,
    find: (meter: ReadMeter) => Promise<FoundRow | undefined>,
  ): Promise<Row> {
    const context = this.#context;
    const write = async (meter: ReadMeter) => {
      const { create, update } = objectOf(context, data, "data");
      const patch = objectOf(context, update, "update");
      return (await upsertRow(context, () => find(meter), create, patch, options, meter)).row;
    };
    return runCall(context, "upsert", options, write, unlimited) as Promise<Row>;
  }
}
