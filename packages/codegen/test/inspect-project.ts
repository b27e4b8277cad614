import { encodeKey, encodeValue, type Kv, type KvKey, KvU64, openKv } from "@keywright/core";
import { createProject, type Project } from "./project.js";

/** A configuration whose database is in `data`. */
export const config = `import { openKv } from "@keywright/core";
export default {
  models: "no-models/*.ts",
  output: "db",
  database: () => openKv(import.meta.dirname + "/data"),
};
`;

/** A project with a database, and what is in that. */
export interface InspectedProject extends Project {
  readonly withKv: <T>(use: (kv: Kv) => Promise<T>) => Promise<T>;
  readonly fill: (entries: Entries) => Promise<void>;
  /** Removes every entry. */
  readonly empty: () => Promise<void>;
  /** Each entry as text, in the order of the keys. */
  readonly content: () => Promise<string[]>;
}

type Entries = readonly (readonly [KvKey, unknown])[];

export async function createInspectedProject(): Promise<InspectedProject> {
  const project = await createProject({ "keywright.config.ts": config });
  const withKv = async <T>(use: (kv: Kv) => Promise<T>): Promise<T> => {
    const kv = await openKv(project.path("data"));
    try {
      return await use(kv);
    } finally {
      await kv.close();
    }
  };
  return {
    ...project,
    withKv,
    fill: (entries) =>
      withKv(async (kv) => {
        const atomic = kv.atomic();
        for (const [key, value] of entries) atomic.set(key, value);
        await atomic.commit();
      }),
    empty: () =>
      withKv(async (kv) => {
        const atomic = kv.atomic();
        for await (const { key } of kv.list({ prefix: [] })) atomic.delete(key);
        await atomic.commit();
      }),
    content: () => withKv(contentOf),
  };
}

async function contentOf(kv: Kv): Promise<string[]> {
  const entries: string[] = [];
  for await (const { key, value, expireAt } of kv.list({ prefix: [] })) {
    const bytes = [encodeKey(key), encodeValue(value)].map((one) =>
      Buffer.from(one).toString("hex"),
    );
    entries.push(`${bytes.join(" ")} ${expireAt === undefined ? "stays" : "expires"}`);
  }
  return entries;
}

export const letters: Entries = [
  [["a"], 1],
  [["b", 1], "one"],
  [["b", 2n], new Map([["x", -0]])],
  [["b", Uint8Array.of(1, 2, 3), true], null],
  [["c"], new KvU64(5n)],
];

/** Entries with the keys `["many", 0]` and so on. */
export function many(count: number): Entries {
  return Array.from({ length: count }, (_, i) => [["many", i], { i }]);
}
