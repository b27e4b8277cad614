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
    };

/**
 * What steps cost: what leaves fields unseen more than any number of ways back, one of these more than any number of
 * differences between schemas, one of these more than any number of migrations. At the start it costs a little more: a
 * migration that takes exactly what is stored goes before.
 */
const cost = { migration: 1, start: 1e3, free: 1e5, down: 1e9, unseen: 1e12 } as const;

interface Reached {
  readonly manifest: RowManifest;
  readonly path: readonly PathEdge[];
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
  return (
    search(from, to, (at) => ups.filter((edge) => takes(edge, at))) ??
    search(from, to, (at) => downs.filter((edge) => takes(edge, at))) ??
    search(from, to, (at, isStart) => [
      ...[...ups, ...downs].filter((edge) => takes(edge, at)),
      ...freeEdges(at, to, [...ups, ...downs], isStart),
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

/** From a schema to others from which there is a way on, where the two differ by nothing that needs a migration. */
function freeEdges(
  at: RowManifest,
  goal: RowManifest,
  edges: readonly Edge[],
  isStart: boolean,
): Edge[] {
  const ups = edges.flatMap(({ edge }) => (edge.kind === "up" ? edge.migration : []));
  const targets = new Map([...edges.map(({ from }) => from), goal].map((to) => [to.hash, to]));
  targets.delete(at.hash);
  return [...targets.values()].flatMap((to) => {
    const changes = compareRows(at, to);
    const isFree = changes.every((change) => change.class !== "data") && keepsPrimaryKey(at, to);
    if (!isFree) return [];
    const next = ups.find(({ from, complete }) => from.hash === to.hash && complete !== undefined);
    const isFilled = changes.every((change) => change.class !== "backfill");
    if (!isFilled && to.hash !== goal.hash && next === undefined) return [];
    const isUnseen = changes.some((change) => change.class === "breaking");
    const price = cost.free + (isStart ? cost.start : 0) + (isUnseen ? cost.unseen : 0);
    return [{ from: at, edge: { kind: "free", to, changes, next }, cost: price }];
  });
}

/** Dijkstra's search. */
function search(
  from: RowManifest,
  to: RowManifest,
  edgesOf: (at: RowManifest, isStart: boolean) => readonly Edge[],
): readonly PathEdge[] | undefined {
  const open = new Map<string, Reached>([[from.hash, { manifest: from, path: [], cost: 0 }]]);
  const done = new Set<string>();
  for (;;) {
    const [nearest] = [...open.values()].sort((a, b) => a.cost - b.cost);
    if (nearest === undefined) return undefined;
    const { manifest, path } = nearest;
    if (manifest.hash === to.hash) return path;
    open.delete(manifest.hash);
    done.add(manifest.hash);
    for (const { edge, cost: price } of edgesOf(manifest, path.length === 0)) {
      const { hash } = edge.to;
      const total = nearest.cost + price;
      const known = open.get(hash);
      if (done.has(hash) || (known !== undefined && known.cost <= total)) continue;
      open.set(hash, { manifest: edge.to, path: [...path, edge], cost: total });
    }
  }
}
