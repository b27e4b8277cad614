import type { CreateInput, Model, Row } from "../model/model.js";
import type { UpdateInput } from "../model/update-input.js";
import type { AnyQuery } from "../query/any-query.js";
import type { QueryExplanation } from "../query/explain-query.js";
import type { AnyWrite } from "./row-operations.js";
import type { RowQuery } from "./row-query.js";

/** Models → the same, where their relations lead to each other. */
export type CheckedModels<M> = M;

/** PLACEHOLDER, loosely typed. */
export interface Repository<M extends Model, _Models> {
  findUnique(query: AnyQuery): Promise<Row<M> | null>;
  findUniqueOrThrow(query: AnyQuery): Promise<Row<M>>;
  findFirst(query: AnyQuery): Promise<Row<M> | null>;
  findFirstOrThrow(query: AnyQuery): Promise<Row<M>>;
  findMany(query: AnyQuery): RowQuery<Row<M>>;
  scan(query?: AnyQuery): RowQuery<Row<M>>;
  count(query?: AnyQuery): Promise<number>;
  exists(query?: AnyQuery): Promise<boolean>;
  explain(query: AnyQuery): Promise<QueryExplanation>;
  create(write: AnyWrite & { data: CreateInput<M> }): Promise<Row<M>>;
  createMany(write: AnyWrite & { data: readonly CreateInput<M>[] }): Promise<ManyResult<Row<M>>>;
  update(write: AnyWrite & { data: UpdateInput<M> }): Promise<Row<M>>;
  updateMany(write: AnyWrite & AnyQuery & { data: UpdateInput<M> }): Promise<ManyResult<Row<M>>>;
  upsert(write: AnyWrite & { create: CreateInput<M>; update: UpdateInput<M> }): Promise<Row<M>>;
  delete(write: AnyWrite): Promise<Row<M>>;
  deleteMany(write: AnyWrite & AnyQuery): Promise<ManyResult<Row<M>>>;
  watch(query: AnyQuery): ReadableStream<Row<M> | null>;
  watchMany(query: AnyQuery): ReadableStream<Row<M>[]>;
}

interface ManyResult<R> {
  readonly count: number;
  readonly results: readonly ({ ok: true; row: R } | { ok: false; id?: unknown; error: unknown })[];
}
