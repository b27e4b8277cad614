import type { RowMigration } from "../define-migration.js";
import type { RowManifest } from "../manifests/manifest.js";
import { compareRows, keepsPrimaryKey, type RowChange } from "./compare-rows.js";

export type PathEdge =
  | { readonly kind: "up" | "down"; readonly to: RowManifest; readonly migration: RowMigration }
  | {
      /** A difference of schemas that needs no migration. */
      readonly kind: "free";
      readonly to: RowManifest;
      readonly changes: readonly RowChange[];
      /** A migration from `to` that adds the defaults that rows of an earlier schema lack. */
      readonly next: RowMigration | undefined;
      /** Migrations from the same rows that are not run: this step would take back what they do. */
      readonly leftOut: readonly RowMigration[];
    };

type FreeEdge = Extract<PathEdge, { kind: "free" }>;

/**
 * The costs of steps. A step that makes stored fields invisible costs more than any number of steps
 * back. A step back costs more than any number of free steps, and a free step costs more than any
 * number of migrations.
 *
 * A free step costs a little more (`passing`) if it is the first step or passes over a migration. A
 * migration from exactly the stored rows is therefore preferred. A free step costs even more
 * (`takingBack`) if it takes back what the migrations right before it have done. Rows that need no
 * change are therefore not changed.
 */
const cost = {
  migration: 1,
  passing: 1e3,
  takingBack: 1e4,
  free: 1e5,
  down: 1e9,
  unseen: 1e12,
} as const;

interface Reached {
  readonly manifest: RowManifest;
  readonly path: readonly PathEdge[];
  /** The schemas that the edges of `path` start from. */
  readonly passed: readonly RowManifest[];
  readonly cost: number;
}

/** Returns the cheapest path, if there is one. Paths of only `up`, then only `down`, come first. */
export function findPath(
  from: RowManifest,
  to: RowManifest,
  migrations: readonly RowMigration[],
): readonly PathEdge[] | undefined {
  if (from.hash === to.hash) return [];
  const ups = migrations.map(upEdge);
  const downs = migrations.flatMap((migration) => downEdge(migration) ?? []);
  const free = new FreeEdges(to, migrations, [...ups, ...downs]);
  return (
    search(from, to, ({ manifest }) => ups.filter((edge) => takes(edge, manifest))) ??
    search(from, to, ({ manifest }) => downs.filter((edge) => takes(edge, manifest))) ??
    search(from, to, (reached) => [
      ...[...ups, ...downs].filter((edge) => takes(edge, reached.manifest)),
      ...free.from(reached),
    ])
  );
}

interface Edge {
  readonly from: RowManifest;
  readonly edge: PathEdge;
  readonly cost: number;
}

function upEdge(migration: RowMigration): Edge {
  const { from, to } = migration;
  return { from, edge: { kind: "up", to, migration }, cost: cost.migration };
}

function downEdge(migration: RowMigration): Edge | undefined {
  if (migration.down === undefined) return undefined;
  const { from, to } = migration;
  return { from: to, edge: { kind: "down", to: from, migration }, cost: cost.down };
}

function takes({ from }: Edge, at: RowManifest): boolean {
  return from.hash === at.hash;
}

/** The free edges: steps between schemas whose differences need no migration. */
class FreeEdges {
  readonly #goal: RowManifest;
  readonly #migrations: readonly RowMigration[];
  readonly #targets: readonly RowManifest[];
  readonly #differences = new Map<string, readonly RowChange[] | undefined>();

  constructor(goal: RowManifest, migrations: readonly RowMigration[], edges: readonly Edge[]) {
    this.#goal = goal;
    this.#migrations = migrations;
    const targets = [...edges.map(({ from }) => from), goal].map((to) => [to.hash, to] as const);
    this.#targets = [...new Map(targets).values()];
  }

  from({ manifest, path, passed }: Reached): Edge[] {
    return this.#targets.flatMap((to) => {
      const changes = to.hash === manifest.hash ? undefined : this.#between(manifest, to);
      if (changes === undefined) return [];
      const { leftOut, isPassing } = this.#migrationsBeside(manifest, to, changes);
      const next = this.#next(to);
      const price =
        cost.free +
        (path.length === 0 || isPassing ? cost.passing : 0) +
        (this.#takesBack({ manifest, path, passed }, to, changes) ? cost.takingBack : 0) +
        (changes.some(isUnseen) ? cost.unseen : 0);
      const edge: FreeEdge = { kind: "free", to, changes, next, leftOut };
      return [{ from: manifest, edge, cost: price }];
    });
  }

  #between(from: RowManifest, to: RowManifest): readonly RowChange[] | undefined {
    const cacheKey = `${from.hash} ${to.hash}`;
    if (!this.#differences.has(cacheKey)) this.#differences.set(cacheKey, this.#compare(from, to));
    return this.#differences.get(cacheKey);
  }

  #compare(from: RowManifest, to: RowManifest): readonly RowChange[] | undefined {
    const changes = compareRows(from, to);
    const isFree = changes.every((change) => change.class !== "data") && keepsPrimaryKey(from, to);
    if (!isFree) return undefined;
    const needsNoDefaults = !changes.some(isFilledIn);
    return needsNoDefaults || to.hash === this.#goal.hash || this.#next(to) ? changes : undefined;
  }

  #next(to: RowManifest): RowMigration | undefined {
    return this.#migrations.find(
      ({ from, fillDefaults }) => from.hash === to.hash && fillDefaults !== undefined,
    );
  }

  /** `isPassing` is true if the step passes over a migration that also leads to its target. */
  #migrationsBeside(at: RowManifest, to: RowManifest, changes: readonly RowChange[]) {
    const leftOut: RowMigration[] = [];
    let isPassing = false;
    for (const migration of this.#migrations) {
      if (migration.from.hash !== at.hash || migration.to.hash === to.hash) continue;
      const onwards = this.#between(migration.to, to);
      if (onwards === undefined) continue;
      if (this.#isTakenBack(at, migration.to, changes, onwards)) leftOut.push(migration);
      else isPassing ||= requiresNoMore(onwards, changes);
    }
    return { leftOut, isPassing };
  }

  #takesBack(
    { manifest, path, passed }: Omit<Reached, "cost">,
    to: RowManifest,
    changes: readonly RowChange[],
  ): boolean {
    const first = path.findLastIndex(({ kind }) => kind !== "up") + 1;
    return passed.slice(first).some((before) => {
      const direct = this.#between(before, to);
      return direct !== undefined && this.#isTakenBack(before, manifest, direct, changes);
    });
  }

  /**
   * True if rows could take the step to a schema without the migrations before it: the schema does
   * not need what they have changed.
   *
   * @param before the schema before the migrations.
   * @param after the schema after them.
   * @param direct the differences between `before` and the schema.
   * @param onwards the differences between `after` and the schema.
   */
  #isTakenBack(
    before: RowManifest,
    after: RowManifest,
    direct: readonly RowChange[],
    onwards: readonly RowChange[],
  ): boolean {
    return requiresNoMore(direct, onwards) && !this.#isWider(before, after);
  }

  #isWider(from: RowManifest, to: RowManifest): boolean {
    return compareRows(from, to).every(({ class: kind }) => kind === "safe" || kind === "backfill");
  }
}

function isUnseen(change: RowChange): boolean {
  return change.class === "breaking";
}

function isFilledIn(change: RowChange): boolean {
  return change.class === "backfill";
}

/** True if `others` include every change that makes a field invisible or fills it in. */
function requiresNoMore(changes: readonly RowChange[], others: readonly RowChange[]): boolean {
  return changes
    .filter((change) => isUnseen(change) || isFilledIn(change))
    .every(({ field, class: kind }) =>
      others.some((other) => other.field === field && other.class === kind),
    );
}

/** Finds the cheapest path by Dijkstra's algorithm. */
function search(
  from: RowManifest,
  to: RowManifest,
  edgesOf: (reached: Reached) => readonly Edge[],
): readonly PathEdge[] | undefined {
  const start: Reached = { manifest: from, path: [], passed: [], cost: 0 };
  const open = new Map<string, Reached>([[from.hash, start]]);
  const done = new Set<string>();
  for (;;) {
    const [nearest] = [...open.values()].sort((a, b) => a.cost - b.cost);
    if (nearest === undefined) return undefined;
    const { manifest, path } = nearest;
    if (manifest.hash === to.hash) return path;
    open.delete(manifest.hash);
    done.add(manifest.hash);
    const passed = [...nearest.passed, manifest];
    for (const { edge, cost: price } of edgesOf(nearest)) {
      const { hash } = edge.to;
      const total = nearest.cost + price;
      const known = open.get(hash);
      if (done.has(hash) || (known !== undefined && known.cost <= total)) continue;
      open.set(hash, { manifest: edge.to, path: [...path, edge], passed, cost: total });
    }
  }
}
