import type { KvKeyPart } from "@keywright/core";
import { UnknownIndexError } from "../errors/schema-errors.js";
import { primaryKeyOfValues } from "../indexes/primary-key.js";
import type { AnyRow, CompiledIndex } from "../model/compiled-model.js";
import type { Direction, FoundRow } from "../query/any-query.js";
import { chooseOf } from "../query/choose-plan.js";
import { findByPrimaryKey, findByUniqueIndex } from "../query/find-unique.js";
import { planIndexRead } from "../query/plan-query.js";
import { ReadMeter } from "../query/read-meter.js";
import { type Page, type PageOptions, readPage } from "../query/read-page.js";
import type { TableContext } from "../query/table-context.js";
import { createRow, deleteRow, updateRow } from "../write/row-writer.js";

/** How `listByIndex` pages, and in which order. */
export interface ListOptions extends PageOptions {
  /** Of the index; `"asc"` without it. */
  readonly order?: Direction | undefined;
}

/**
 * The rows of one model by primary key and by the name of an index: what generated repositories are made of. Its types
 * are those that they spell out; `Repository` infers them from the model instead.
 */
export class Table<Row, CreateInput, UpdateInput> {
  readonly #context: TableContext;

  constructor(context: TableContext) {
    this.#context = context;
  }

  /** The row of a primary key, null where there is none. One read. */
  async findByPrimaryKey(primaryKey: readonly unknown[]): Promise<Row | null> {
    const parts = this.#primaryKey(primaryKey);
    const found = await findByPrimaryKey(this.#context, parts, this.#meter());
    return (found?.row ?? null) as Row | null;
  }

  /**
   * The row with these values in a unique index, null where there is none. Two reads.
   *
   * @throws {UnknownIndexError} for a name that is no unique index's.
   * @throws {IndexNotReadyError} where the index is not built.
   */
  async findByIndex(indexName: string, values: readonly unknown[]): Promise<Row | null> {
    const index = this.#index(indexName, true);
    const found = await findByUniqueIndex(this.#context, index, values, this.#meter(), {
      forWrite: false,
    });
    return (found?.row ?? null) as Row | null;
  }

  /**
   * A page of rows in the order of an index: those with these values in its first fields. The last of the values may be
   * bounds instead, `{ gte: 10, lt: 20 }`; with no values it is every row that the index holds.
   *
   * @throws {UnknownIndexError} for a name that the model does not have.
   * @throws {UnindexedQueryError} for bounds before the last value, or more values than the index has fields.
   * @throws {IndexNotReadyError} where the index is not built.
   * @throws {InvalidCursorError} for a cursor of another list.
   * @throws {RangeError} where `take` is not a positive integer.
   */
  async listByIndex(
    indexName: string,
    values: readonly unknown[] = [],
    options: ListOptions = {},
  ): Promise<Page<Row>> {
    const index = this.#index(indexName, false);
    const plan = planIndexRead(this.#context.model, index, values, options.order === "desc");
    const chosen = await chooseOf(this.#context, [plan], options.cursor);
    const page = await readPage(this.#context, chosen, options, this.#meter());
    return { items: page.items.map(({ row }) => row as Row), cursor: page.cursor };
  }

  /**
   * Creates a row and returns it. One commit.
   *
   * @throws {RowInvalidError} where the schema refuses the data.
   * @throws {UniqueConstraintError} where another row has its primary key or a unique value.
   * @throws {StaleSchemaError} where the database has indexes that this program does not know.
   */
  async create(data: CreateInput): Promise<Row> {
    return (await createRow(this.#context, data, {}, this.#meter())).row as Row;
  }

  /**
   * Changes fields of a row and returns it as it is then. One read and one commit, more where others write the row too.
   *
   * @throws {RowNotFoundError} where there is none.
   * @throws {RowInvalidError} where the schema refuses the changed row.
   * @throws {UniqueConstraintError} where another row has a unique value.
   * @throws {PrimaryKeyChangeError} where the data name another primary key.
   * @throws {StaleSchemaError} where the database has indexes that this program does not know.
   */
  async update(primaryKey: readonly unknown[], data: UpdateInput): Promise<Row> {
    const find = this.#finder(primaryKey);
    return (await updateRow(this.#context, find, primaryKey, data as AnyRow, {}, this.#meter()))
      .row as Row;
  }

  /**
   * Removes a row and returns it as it was.
   *
   * @throws {RowNotFoundError} where there is none.
   * @throws {StaleSchemaError} where the database has indexes that this program does not know.
   */
  async delete(primaryKey: readonly unknown[]): Promise<Row> {
    return (await deleteRow(this.#context, this.#finder(primaryKey), primaryKey, {}, this.#meter()))
      .row as Row;
  }

  #finder(primaryKey: readonly unknown[]): () => Promise<FoundRow | undefined> {
    const parts = this.#primaryKey(primaryKey);
    return () => findByPrimaryKey(this.#context, parts, this.#meter());
  }

  #meter(): ReadMeter {
    return new ReadMeter(this.#context.model.name, this.#context.settings.maxReads);
  }

  #primaryKey(values: readonly unknown[]): KvKeyPart[] {
    return primaryKeyOfValues(this.#context.model, values);
  }

  #index(name: string, unique: boolean): CompiledIndex {
    const { model } = this.#context;
    const candidates = model.indexes.filter((index) => index.unique || !unique);
    const index = candidates.find((candidate) => candidate.name === name);
    if (index !== undefined) return index;
    const known = candidates.map((candidate) => candidate.name);
    throw new UnknownIndexError(model.name, name, known);
  }
}
