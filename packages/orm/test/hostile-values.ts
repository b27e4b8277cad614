import { type EmbeddedKv, isKeywrightError, type Kv, type KvKey } from "@keywright/core";
import { SystemEntryError } from "../src/index.js";

export const deep = Array.from({ length: 500 }).reduce<object>((inner) => ({ inner }), {});

/** Values that an import or another program may have stored in place of Keywright's own. */
export const hostile: readonly unknown[] = [
  null,
  undefined,
  true,
  "text",
  Number.MAX_VALUE,
  Number.NaN,
  10n ** 100n,
  [],
  [null],
  {},
  new Map(),
  new Uint8Array(8),
  deep,
  { format: 1 },
  { format: 1, indexes: null },
  { format: 1, indexes: { byEmail: null } },
  { format: 1, indexes: { byEmail: { state: "readable", prefix: 1, fields: 7 } } },
  { format: 1, indexes: { byEmail: { state: "readable", prefix: "users_by_email", fields: [] } } },
  {
    format: 1,
    indexes: {
      byTeam: {
        state: "readable",
        prefix: "users_by_team",
        fields: ["team"],
        unique: false,
        normalized: false,
        traits: { descending: "team", where: 1n },
      },
    },
  },
  { format: 1, indexes: {}, schema: { hash: 1, accepts: null } },
  { format: 1, indexes: {}, transform: { id: 1 } },
  { format: 0 },
  { format: 0, indexes: {} },
  { format: 0, indexes: {}, name: "removed", schema: { hash: "none", accepts: [] } },
  { format: 0, indexes: {}, place: "users", otherLayout: { primaryKey: [], place: "users" } },
  { format: 0, indexes: {}, counters: { "no index sum(x)": "readable", "": "readable" } },
  { format: 1, id: 1, after: 7, rowsDone: Number.MAX_VALUE },
];

/** True for an error with a code, and for one of Deno's mode that is caused by one. */
export function isTyped(error: unknown): boolean {
  return isKeywrightError(error) || (error instanceof TypeError && isKeywrightError(error.cause));
}

/** Sets each entry below a prefix to each hostile value, on new databases, and makes the calls. */
export async function withEachHostileEntry(
  prefix: KvKey,
  prepare: () => Promise<EmbeddedKv>,
  call: (kv: EmbeddedKv) => Promise<unknown>,
): Promise<number> {
  const keysOf = async (kv: Kv) => {
    const keys: KvKey[] = [];
    for await (const { key } of kv.list({ prefix })) keys.push(key);
    return keys;
  };
  let refused = 0;
  const tryValue = async (value: unknown) => {
    await using first = await prepare();
    for (const position of (await keysOf(first)).keys()) {
      await using kv = await prepare();
      // From the end: records of a row that has expired come first, and may be gone.
      const key = (await keysOf(kv)).at(-1 - position);
      if (key === undefined) continue;
      await kv.set(key, value);
      await call(kv).catch((error: unknown) => {
        if (!isTyped(error)) throw error;
        if (error instanceof SystemEntryError) refused++;
      });
    }
  };
  // At once, because much of the time of a migration is a wait.
  await Promise.all(hostile.map(tryValue));
  return refused;
}
