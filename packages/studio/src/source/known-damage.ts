import { type CorruptionError, isKeywrightError, type KvLike } from "@keywright/core";
import type { KnownDamage } from "../protocol/studio-info.js";

interface OpenDatabase {
  readonly kv: KvLike;
  /** Set if the database was opened in spite of damaged files. */
  readonly damage: CorruptionError | undefined;
}

/** True if stored bytes are not those that were written. */
export function isCorruption(error: unknown): error is CorruptionError {
  return isKeywrightError(error) && error.code === "KW_CORRUPTION";
}

/** Returns the damage of files because of which calls fail, or would fail. */
export async function knownDamage({ kv, damage }: OpenDatabase): Promise<KnownDamage | null> {
  if (damage !== undefined) return damageInfo(damage, true);
  try {
    // If a file was found damaged, a read of any key fails.
    await kv.get(["__keywright"]);
    return null;
  } catch (error) {
    return isCorruption(error) && error.path !== undefined ? damageInfo(error, false) : null;
  }
}

function damageInfo({ path, reason }: CorruptionError, isReadable: boolean): KnownDamage {
  return { path: path ?? null, reason, isReadable };
}
