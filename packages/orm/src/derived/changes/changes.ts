import type { Derived } from "../derived.js";
import { changeMarkKeys } from "./change-marks.js";

/** The marks of changed groups of entries, which live queries watch. */
export const changes: Derived = {
  name: "changes",
  isKept: ({ snapshot }) => snapshot.entry.live === true,
  plan({ entries, after }, { model, snapshot }, { writes }) {
    const keyIndex = snapshot.other?.keyIndex;
    const touched = [...entries.removed, ...(after?.entries ?? [])].filter(
      ({ index }) => index !== keyIndex,
    );
    for (const key of changeMarkKeys(model, touched)) writes.push({ type: "sum", key, by: 1n });
  },
  cost: ({ live }, indexes) => ({ checks: 0, writes: live ? 1 + indexes.length : 0 }),
};
