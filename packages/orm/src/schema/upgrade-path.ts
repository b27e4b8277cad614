import { compareRows, keepsPrimaryKey, type RowChange } from "./compare-rows.js";
import type { RowMigration } from "./define-migration.js";
import type { RowManifest } from "./manifest.js";

/** One step from rows of a schema to rows of another. */
export type PathEdge =
  | { readonly kind: "up" | "down"; readonly to: RowManifest; readonly migration: RowMigration }
  | {
      /** By no migration. */
      readonly kind: "free";
      readonly to: RowManifest;
      readonly changes: readonly RowChange[];
      /** A migration that takes rows of `to`, which fills in what they lack. */
      readonly next: RowMigration | undefined;
      /** Migrations that take such rows and lead to `to` too, which then takes back what they do. */
      readonly leftOut: readonly RowMigration[];
    };

type FreeEdge = Extract<PathEdge, { kind: "free" }>;

/**
 * What steps cost: what leaves fields unseen more than any number of ways back, one of these more than any number of
 * differences between schemas, one of these more than any number of migrations. It costs a little more at the start, and
 * where it passes over a migration: one that takes exactly what is there goes before. It costs more than that where it takes
 * back what migrations right before it have done: rows are not changed that could go on as they are.
 */
const cost = {
  migration: 1,
  passing: 1e3,
  takingBack: 1e4,
  free: 1e5,
  down: 1e9,
  unseen: 1e12,
} as const;

/** A schema that was reached. */
interface Reached {
  readonly manifest: RowManifest;
  readonly path: readonly PathEdge[];
  /** The schemas from which the edges of the path lead. */
  readonly passed: readonly RowManifest[];
  readonly cost: number;
}

/** The cheapest way between rows of two schemas; undefined where there is none. */
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

/** The steps by no migration, between schemas that differ by nothing that needs one. */
class FreeEdges {
  readonly #goal: RowManifest;
  readonly #migrations: readonly RowMigration[];
  /** The schemas from which there is a way on. */
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
      const { leftOut, isPassing } = this.#beside(manifest, to, changes);
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

  /** What differs, where there is a step between two schemas; undefined where there is none. */
  #between(from: RowManifest, to: RowManifest): readonly RowChange[] | undefined {
    const place = `${from.hash} ${to.hash}`;
    if (!this.#differences.has(place)) this.#differences.set(place, this.#compare(from, to));
    return this.#differences.get(place);
  }

  #compare(from: RowManifest, to: RowManifest): readonly RowChange[] | undefined {
    const changes = compareRows(from, to);
    const isFree = changes.every((change) => change.class !== "data") && keepsPrimaryKey(from, to);
    if (!isFree) return undefined;
    const isFilled = !changes.some(isFilledIn);
    return isFilled || to.hash === this.#goal.hash || this.#next(to) ? changes : undefined;
  }

  #next(to: RowManifest): RowMigration | undefined {
    return this.#migrations.find(
      ({ from, complete }) => from.hash === to.hash && complete !== undefined,
    );
  }

  /** The migrations beside a step: those that it leaves out, and whether it passes over one that is on its way. */
  #beside(at: RowManifest, to: RowManifest, changes: readonly RowChange[]) {
    const leftOut: RowMigration[] = [];
    let isPassing = false;
    for (const migration of this.#migrations) {
      if (migration.from.hash !== at.hash || migration.to.hash === to.hash) continue;
      const onwards = this.#between(migration.to, to);
      if (onwards === undefined) continue;
      if (this.#isTakenBack(at, migration.to, changes, onwards)) leftOut.push(migration);
      else isPassing ||= asksNoMore(onwards, changes);
    }
    return { leftOut, isPassing };
  }

  /** Whether a step takes back what the migrations right before it have done. */
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
   * Whether rows could go on as they were, without migrations behind which they do: what these have changed is nothing that is
   * asked for there.
   *
   * @param direct what differs without them.
   * @param onwards what differs behind them.
   */
  #isTakenBack(
    before: RowManifest,
    behind: RowManifest,
    direct: readonly RowChange[],
    onwards: readonly RowChange[],
  ): boolean {
    return asksNoMore(direct, onwards) && !this.#isWider(before, behind);
  }

  /** Whether rows of one schema are rows of another, but for what is filled in. */
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

/** Whether by some changes no field is left unseen or filled in that is not by the others. */
function asksNoMore(changes: readonly RowChange[], others: readonly RowChange[]): boolean {
  return changes
    .filter((change) => isUnseen(change) || isFilledIn(change))
    .every(({ field, class: kind }) =>
      others.some((other) => other.field === field && other.class === kind),
    );
}

/** Dijkstra's search. */
function search(
  from: RowManifest,
  to: RowManifest,
  edgesOf: (reached: Reached) => readonly Edge[],
): readonly PathEdge[] | undefined {
  const first: Reached = { manifest: from, path: [], passed: [], cost: 0 };
  const open = new Map<string, Reached>([[from.hash, first]]);
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
