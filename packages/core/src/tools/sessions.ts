import { createHash, randomBytes } from "#platform";
import { ReadOnlyError } from "../errors/core-errors.js";
import type { KvKey, KvKeyPart } from "../keys/key.js";
import type { Kv, KvLike } from "../kv/kv.js";
import { assertMilliseconds, longestLifetime } from "./milliseconds.js";

/** Options of {@link sessions}. */
export interface SessionOptions {
  /** The first parts of the keys. The default is `["sessions"]`. */
  readonly prefix?: KvKey;
  /** Milliseconds after which a session that is not used ends. The default is 14 days. */
  readonly lifetime?: number;
}

/** A session with its data. */
export interface Session<T> {
  /** A secret for the cookie. It is not stored, only its hash. */
  readonly id: string;
  readonly user: KvKeyPart;
  readonly data: T;
}

export interface Sessions<T> {
  /** Begins a session of a user. */
  create(user: KvKeyPart, data: T): Promise<Session<T>>;
  /**
   * Returns a session, or undefined if there is none or it has ended. If more than a tenth of its
   * lifetime has passed since it was last extended, it is extended, except in a database that is
   * open for reading only.
   */
  get(id: string): Promise<Session<T> | undefined>;
  /**
   * Replaces the data of a session. Returns false if there is none.
   *
   * @param change gets the data. It may be called again if another call changes them too.
   */
  update(id: string, change: (data: T) => T): Promise<boolean>;
  /** Ends a session. */
  end(id: string): Promise<void>;
  /** Ends all sessions of a user, except the one with `except`. Returns how many there were. */
  endAll(user: KvKeyPart, options?: { readonly except?: string }): Promise<number>;
}

interface StoredSession<T> {
  readonly user: KvKeyPart;
  readonly data: T;
  /** The time at which it ends, in milliseconds since the epoch. */
  readonly until: number;
}

/**
 * Keeps sessions, such as those of users who have logged in. A session is an entry under the hash
 * of its id, so that a copy of the database does not contain anything with which one can log in. A
 * second entry lists it under its user. Both expire.
 *
 * ```ts
 * const logins = sessions<{ theme: string }>(kv);
 * const { id } = await logins.create("ada", { theme: "dark" });
 * ```
 *
 * @throws {InvalidOptionError} if an option is not valid.
 */
export function sessions<T>(
  database: KvLike,
  { prefix = ["sessions"], lifetime = 14 * 86_400_000 }: SessionOptions = {},
): Sessions<T> {
  assertMilliseconds("lifetime", lifetime, { least: 1000, most: longestLifetime }, "sessions");
  const kv = database as Kv;
  const keyOf = (hash: string): KvKey => [...prefix, "by_id", hash];
  const listKey = (user: KvKeyPart, hash: string): KvKey => [...prefix, "by_user", user, hash];

  const write = (hash: string, session: Omit<StoredSession<T>, "until">, from?: string | null) => {
    const expireIn = Math.ceil(lifetime);
    const stored = { ...session, until: Date.now() + lifetime };
    const operation = kv.atomic();
    if (from !== undefined) operation.check({ key: keyOf(hash), versionstamp: from });
    return operation
      .set(keyOf(hash), stored, { expireIn })
      .set(listKey(session.user, hash), null, { expireIn })
      .commit();
  };

  const read = async (hash: string) => {
    const { value, versionstamp } = await kv.get<StoredSession<T>>(keyOf(hash));
    // Some databases return entries for a while after they expire.
    return value === null || value.until <= Date.now() ? undefined : { ...value, versionstamp };
  };

  return {
    create: async (user, data) => {
      const id = randomBytes(32).toString("base64url");
      await write(hashOf(id), { user, data });
      return { id, user, data };
    },
    get: async (id) => {
      const hash = hashOf(id);
      const stored = await read(hash);
      if (stored === undefined) return undefined;
      const { user, data, until, versionstamp } = stored;
      // If the commit fails, another call has changed, extended or ended the session.
      if (until - Date.now() < lifetime * 0.9)
        await write(hash, { user, data }, versionstamp).catch(ignoreReadOnly);
      return { id, user, data };
    },
    update: async (id, change) => {
      const hash = hashOf(id);
      for (;;) {
        const stored = await read(hash);
        if (stored === undefined) return false;
        const { user, data, versionstamp } = stored;
        const { ok } = await write(hash, { user, data: change(data) }, versionstamp);
        if (ok) return true;
      }
    },
    end: async (id) => {
      const hash = hashOf(id);
      const stored = await read(hash);
      if (stored === undefined) return;
      await kv.atomic().delete(keyOf(hash)).delete(listKey(stored.user, hash)).commit();
    },
    endAll: async (user, { except } = {}) => {
      const kept = except === undefined ? undefined : hashOf(except);
      let ended = 0;
      for await (const { key } of kv.list({ prefix: [...prefix, "by_user", user] })) {
        const hash = key.at(-1) as string;
        if (hash === kept) continue;
        await kv.atomic().delete(keyOf(hash)).delete(key).commit();
        ended++;
      }
      return ended;
    },
  };
}

function ignoreReadOnly(error: unknown): void {
  if (!(error instanceof ReadOnlyError)) throw error;
}

function hashOf(id: string): string {
  return createHash("sha256").update(id).digest("base64url");
}
