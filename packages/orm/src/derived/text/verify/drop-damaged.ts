import { SystemEntryError } from "../../../errors/schema-errors.js";
import type { ModelStore } from "../../../state/context/model-store.js";
import type { MigrationRun } from "../../../state/run/migration-run.js";
import { clearLeft } from "../compact/clear-left.js";
import { damageOf } from "../stored-bytes.js";
import { sectionPrefix, stateKey, type TextGroup } from "../text-keys.js";
import { type Segment, type TextState, textState } from "../text-state.js";
import { summedDocuments } from "./verify-segments.js";

/** How often the segments are read while others change them. */
const maxTries = 20;

/**
 * Removes segments with damaged or missing entries from the list of a group. Their rows are then
 * missing in the index, and the repair adds them again. If the list itself is lost, all segments
 * are removed.
 */
export async function dropDamaged(
  store: ModelStore,
  run: MigrationRun,
  group: TextGroup,
): Promise<void> {
  const { kv, model, catalog } = store;
  for (let tries = 0; tries < maxTries; tries++) {
    const { check } = catalog.snapshot;
    const stored = await kv.get(stateKey(group));
    const isLost = stored.versionstamp === null;
    const state = textState(model, stored);
    const damaged = isLost
      ? await idsOfEntries(store, group)
      : await damagedOf(store, group, state.segments);
    if (damaged.length === 0) return;
    const next: TextState = {
      ...state,
      next: Math.max(state.next, ...damaged.map((id) => id + 1)),
      segments: state.segments.filter(({ id }) => !damaged.includes(id)),
      left: [...state.left, ...damaged],
    };
    // Segments that were merged while they were read are not damaged: then this fails.
    const operation = kv.atomic().check(check, stored).set(stored.key, next);
    if ((await run.lease.commit(operation)).ok) {
      await clearLeft(store, group);
      return;
    }
    await catalog.reload();
    catalog.snapshot.assertWritable();
  }
}

async function damagedOf(
  store: ModelStore,
  group: TextGroup,
  segments: readonly Segment[],
): Promise<number[]> {
  const damaged: number[] = [];
  for (const segment of segments) {
    try {
      await summedDocuments(store, group, segment);
    } catch (error) {
      const damage = damageOf(error, store.model, stateKey(group));
      if (!(damage instanceof SystemEntryError)) throw error;
      damaged.push(segment.id);
    }
  }
  return damaged;
}

/** Returns the numbers of all segments of which there are entries. */
async function idsOfEntries({ kv }: ModelStore, group: TextGroup): Promise<number[]> {
  const ids = new Set<number>();
  for (const section of ["docs", "gone", "guard", "lengths", "merge", "words"] as const) {
    const prefix = sectionPrefix(group, section);
    for await (const { key } of kv.list({ prefix })) ids.add(key[prefix.length] as number);
  }
  return [...ids];
}
