import type { CatalogSnapshot } from "../state/catalog/catalog-snapshot.js";
import type { ModelStore } from "../state/context/model-store.js";
import type { ReadView } from "../state/context/read-view.js";
import { markSeen } from "./build-marks.js";
import { changes } from "./changes/changes.js";
import { counters } from "./counters/counters.js";
import { maintainedCounters } from "./counters/maintained-counters.js";
import type { Cost, Derived, RowChange } from "./derived.js";
import type { Effects } from "./effects.js";
import { entries } from "./entries/entries.js";
import { expiry } from "./expiry/expiry.js";
import { layout } from "./layout/layout.js";
import { ranks } from "./ranks/ranks.js";
import { text } from "./text/text.js";

/** Everything that is derived from rows, in the order in which commits check and write it. */
const kinds: readonly Derived[] = [entries, text, layout, expiry, counters, ranks, changes];

/**
 * Adds the effects of a change on everything that is derived from the row. Returns a promise only
 * if something has to be read.
 */
export function planDerived(
  change: RowChange,
  view: ReadView,
  effects: Effects,
): void | Promise<void> {
  const kept = keptKinds(view);
  if (maintainedCounters(view.snapshot).growing === undefined)
    return planEach(kept, change, view, effects);
  return markSeen(view, change, effects).then((isSeen) =>
    planEach(kept, { ...change, isSeen }, view, effects),
  );
}

const known = new WeakMap<CatalogSnapshot, readonly Derived[]>();

/** Returns the kinds of data that the rows of a view have. */
function keptKinds(view: ReadView): readonly Derived[] {
  let kept = known.get(view.snapshot);
  if (kept === undefined) {
    kept = kinds.filter(({ isKept }) => isKept?.(view) ?? true);
    known.set(view.snapshot, kept);
  }
  return kept;
}

function planEach(
  kept: readonly Derived[],
  change: RowChange,
  view: ReadView,
  effects: Effects,
  first = 0,
): void | Promise<void> {
  for (let i = first; i < kept.length; i++) {
    const pending = kept[i]!.plan(change, view, effects);
    if (pending !== undefined)
      return pending.then(() => planEach(kept, change, view, effects, i + 1));
  }
}

/**
 * Returns the fields on which everything depends that is derived from rows. Undefined if it may
 * depend on all fields.
 */
export function fieldsOfDerived(view: ReadView): readonly string[] | undefined {
  const fields: string[] = [];
  for (const kind of keptKinds(view)) {
    const own = kind.dependsOn?.(view);
    if (own === undefined) return undefined;
    fields.push(...own);
  }
  return fields;
}

/** Returns about how much all that is derived from a row adds to the commit of a change at most. */
export function costOfChange({ model, catalog }: ModelStore): Cost {
  const { indexes } = catalog.snapshot.readModel;
  let checks = 0;
  let writes = 0;
  for (const kind of kinds) {
    const cost = kind.cost?.(model, indexes);
    checks += cost?.checks ?? 0;
    writes += cost?.writes ?? 0;
  }
  return { checks, writes };
}
