import { stat } from "node:fs/promises";
import type { CheckedFile } from "@keywright/core/engine";
import type { HeldStates } from "../views/held-states.js";
import { checkEntries } from "./check-entries.js";

/**
 * A check in the background ends early if the log is longer than this many bytes, and than this
 * part of the file. While a check reads one state, SQLite cannot begin the log again, so writers
 * make it grow.
 */
const mostLogBytes = 32 * 1024 * 1024;
const mostLogPart = 1 / 8;

/** Returns an SQLite file for the checker of entries. */
export function checkedFile(states: HeldStates, path: string): CheckedFile {
  const logSize = () =>
    stat(`${path}-wal`).then(
      ({ size }) => size,
      () => 0,
    );
  return {
    path,
    size: async () => (await stat(path)).size + (await logSize()),
    check: async (check) => {
      const held = states.hold(undefined);
      try {
        return await checkEntries(held.connection, check);
      } finally {
        states.release(held);
      }
    },
    hasGrown: async (before) => (await logSize()) > Math.max(mostLogBytes, mostLogPart * before),
  };
}
