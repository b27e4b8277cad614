import type { Engine } from "../../engine/engine.js";
import {
  type DatabaseMode,
  encodeDatabaseHeader,
  verifyDatabaseHeader,
} from "../../engine/level/database-header.js";
import { DatabaseNotFoundError } from "../../errors/core-errors.js";

/** The system key of the header. On LevelDB the engine itself stores the header. */
export const storedHeaderKey: Uint8Array = Uint8Array.of(0x00, 0x05);

/**
 * Verifies that the database of an engine is in a mode. Stores the mode if the database is new, so
 * that it is never opened in the other one.
 *
 * @throws {DatabaseModeError} if the database was created in the other mode.
 * @throws {DatabaseFormatError} if the header has an unknown format.
 * @throws {DatabaseNotFoundError} if the database is new and may not be created.
 * @throws {CorruptionError} if the header is damaged.
 */
export async function verifyMode(
  engine: Engine,
  { mode, createIfMissing }: { readonly mode: DatabaseMode; readonly createIfMissing: boolean },
): Promise<void> {
  for (;;) {
    const stored = await engine.get(storedHeaderKey);
    if (stored !== undefined) {
      verifyDatabaseHeader(stored.value, mode);
      return;
    }
    if (!createIfMissing) throw new DatabaseNotFoundError();
    const header = {
      type: "set",
      key: storedHeaderKey,
      value: encodeDatabaseHeader(mode),
    } as const;
    const checks = [{ key: storedHeaderKey, versionstamp: null }];
    const [outcome] = await engine.commit([{ checks, mutations: [header], sync: true }]);
    if (outcome instanceof Error) throw outcome;
    // After a refusal, the loop reads the header that another process has stored.
    if (typeof outcome === "string") return;
  }
}
