import { primaryKeyOf } from "../indexes/primary-key.js";
import type { AnyRow } from "../model/compile-model.js";
import type { CreateInput, Model, Row, UpdateInput } from "../model/model.js";
import { type FoundRow, findByPrimaryKey, findByUniqueIndex } from "../query/find-unique.js";
import type { IndexRead } from "../query/index-read.js";
import { planQuery, planUnique } from "../query/plan-query.js";
import type { FindManyOptions, UniqueWhere } from "../query/query-types.js";
import { type Page, readPage } from "../query/read-page.js";
import type { TableContext } from "../query/table-context.js";
import { createRow, deleteRow, updateRow } from "../write/row-writer.js";

/** The rows of one model, with the names that Prisma has for what is done with them. */
export class Repository<M extends Model> {
  readonly #context: TableContext;

  constructor(context: TableContext) {
    this.#context = context;
  }

  /**
   * The row that a primary key or the fields of a unique index name, null where there is none. One read by primary key,
   * two by index.
   *
   * @throws {UnindexedQueryError} where the fields are neither.
   * @throws {IndexNotReadyError} where the index is not built.
   */
  async findUnique(options: { readonly where: UniqueWhere<M> }): Promise<Row<M> | null> {
    const found = await this.#find(options.where);
    return (found?.row ?? null) as Row<M> | null;
  }

  /**
   * A page of rows: those that fit `where`, in the order of the index that serves it or of `orderBy`. Equal values for
   * the first fields of an index and bounds (`gt gte lt lte`) on the next are what an index serves.
   *
   * Each row fits when it is returned. The page as a whole is no snapshot: a row whose place in the index changes while
   * it is read may be left out, or be met again on a later page.
   *
   * @throws {UnindexedQueryError} where no index serves the query; it suggests one.
   * @throws {InvalidQueryError} for a condition that says nothing, such as bounds without a value.
   * @throws {IndexNotReadyError} where the index is not built.
   * @throws {InvalidCursorError} for a cursor of another query.
   * @throws {RangeError} where `take` is not a positive integer.
   */
  async findMany(options: FindManyOptions<M>): Promise<Page<Row<M>>> {
    const { model, catalog } = this.#context;
    const reads = planQuery(model, options as { where?: AnyRow });
    const isReadable = ({ index }: IndexRead) =>
      index === undefined || catalog.snapshot.stateOf(index) === "readable";
    const read = reads.find(isReadable) ?? reads[0]!;
    return (await readPage(this.#context, read, options)) as Page<Row<M>>;
  }

  /**
   * Creates a row and returns it: defaults filled in, a ULID primary key generated where it is absent. One commit.
   *
   * @throws {RowInvalidError} where the schema refuses the data.
   * @throws {UniqueConstraintError} where another row has its primary key or a unique value.
   * @throws {StaleSchemaError} where the database has indexes that this program does not know.
   */
  async create(options: { readonly data: CreateInput<M> }): Promise<Row<M>> {
    return (await createRow(this.#context, options.data)) as Row<M>;
  }

  /**
   * Changes fields of a row and returns it as it is then. One commit, more where others write the row too.
   *
   * @throws {RowNotFoundError} where there is none.
   * @throws {RowInvalidError} where the schema refuses the changed row.
   * @throws {UniqueConstraintError} where another row has a unique value.
   * @throws {PrimaryKeyChangeError} where the data name another primary key.
   * @throws {StaleSchemaError} where the database has indexes that this program does not know.
   */
  async update(options: {
    readonly where: UniqueWhere<M>;
    readonly data: UpdateInput<M>;
  }): Promise<Row<M>> {
    const { where, data } = options;
    const row = await updateRow(this.#context, () => this.#find(where), where, data as AnyRow);
    return row as Row<M>;
  }

  /**
   * Removes a row and returns it as it was.
   *
   * @throws {RowNotFoundError} where there is none.
   * @throws {StaleSchemaError} where the database has indexes that this program does not know.
   */
  async delete(options: { readonly where: UniqueWhere<M> }): Promise<Row<M>> {
    const { where } = options;
    return (await deleteRow(this.#context, () => this.#find(where), where)) as Row<M>;
  }

  async #find(where: UniqueWhere<M>): Promise<FoundRow | undefined> {
    const { model } = this.#context;
    const fields = where as AnyRow;
    const index = planUnique(model, fields);
    if (index === "primaryKey") {
      return await findByPrimaryKey(this.#context, primaryKeyOf(model, fields));
    }
    const values = index.fields.map((field) => fields[field]);
    return await findByUniqueIndex(this.#context, index, values);
  }
}
