import type { ModelStore } from "../state/context/model-store.js";
import { changes } from "./changes/changes.js";
import { counters } from "./counters/counters.js";
import type { Cost, Derived, RowChange } from "./derived.js";
import type { Effects } from "./effects.js";
import { entries } from "./entries/entries.js";
import { expiry } from "./expiry/expiry.js";
import { layout } from "./layout/layout.js";
import { ranks } from "./ranks/ranks.js";
import type { View } from "./view.js";

/** Everything that is derived from rows, in the order in which commits check and write it. */
const kinds: readonly Derived[] = [entries, layout, expiry, counters, ranks, changes];

/**
 * Adds the effects of a change on everything that is derived from the row. Returns a promise only
 * if something has to be read.
 */
export function planDerived(
  change: RowChange,
  view: View,
  effects: Effects,
  first = 0,
): void | Promise<void> {
  for (let i = first; i < kinds.length; i++) {
    const pending = kinds[i]!.plan(change, view, effects);
    if (pending !== undefined) return pending.then(() => planDerived(change, view, effects, i + 1));
  }
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
