import type { AnyModels, Model } from "../../model/model.js";
import type { AnyDatabase } from "../../state/context/any-database.js";
import type { Repository } from "../repository/repository.js";
import type { CheckedScope, ScopedModels, ScopeValues } from "../scope/scoped-models.js";

/** The names of the methods of a repository that read once. */
type ReadMethod =
  | "findUnique"
  | "findUniqueOrThrow"
  | "findFirst"
  | "findFirstOrThrow"
  | "findMany"
  | "search"
  | "explainSearch"
  | "scan"
  | "count"
  | "exists"
  | "aggregate"
  | "groupBy"
  | "rank"
  | "distinct"
  | "explain";

/** Model, models → the methods of its repository that read once. */
export type SnapshotRepository<M extends Model, Models extends AnyModels> = Pick<
  Repository<M, Models>,
  ReadMethod
>;

/** Models → what a snapshot reads: the methods of their repositories that read, and `scope`. */
export type SnapshotView<M extends AnyModels> = AnyDatabase &
  SnapshotRepositories<M> &
  SnapshotScoping<M>;

type SnapshotRepositories<M extends AnyModels> = {
  readonly [K in keyof M]: SnapshotRepository<M[K], M>;
};

/** Models, scope → what a snapshot reads within the scope. */
export type ScopedSnapshotView<M extends AnyModels, S> = SnapshotRepositories<ScopedModels<M, S>> &
  SnapshotScoping<M, S>;

interface SnapshotScoping<M extends AnyModels, Before = unknown> {
  /** Returns a view of the same state that is bounded by values of fields, as `db.scope` is. */
  scope<const S extends ScopeValues>(
    values: S & CheckedScope<M, NoInfer<S>>,
  ): ScopedSnapshotView<M, Before & S>;
}
