// The same work written by hand, as the guide to secondary indexes does it, on any database with
// Deno KV's interface. The difference is the cost of @keywright/orm. No row is validated, no schema
// epoch is checked, and no conflict is explained.
import { openKv as openDenoKv } from "@deno/kv";
import { monotonicUlid, openKv } from "@keywright/core";
import { usersPerColor } from "./rows.mjs";

/** Opens a database of users on @keywright/core. */
export async function openByHand(path, durability) {
  return usersByHand(await openKv(path, { durability }));
}

/** Opens a database of users on real Deno KV: its SQLite, by its own client for Node.js. */
export async function openDeno(path) {
  return usersByHand(await openDenoKv(path));
}

/** Rows in one commit while a database is loaded: Deno KV takes a thousand mutations. */
const rowsPerCommit = 300;

function usersByHand(kv) {
  return {
    load: async (users) => {
      for (let from = 0; from < users.length; from += rowsPerCommit) {
        const operation = kv.atomic();
        for (const user of users.slice(from, from + rowsPerCommit)) setUser(operation, user);
        assertCommitted(await operation.commit());
      }
    },

    create: async (data) => {
      const user = { id: monotonicUlid(), ...data };
      const operation = kv
        .atomic()
        .check({ key: ["users", user.id], versionstamp: null })
        .check({ key: ["users_by_email", user.email], versionstamp: null });
      assertCommitted(await setUser(operation, user).commit());
      return user;
    },

    findById: async (id) => (await kv.get(["users", id])).value,

    findByEmail: async (email) => {
      const { value: id } = await kv.get(["users_by_email", email]);
      if (id === null) return null;
      const { value: user } = await kv.get(["users", id]);
      return user?.email === email ? user : null;
    },

    findByColor: async (color) => {
      const keys = [];
      const selector = { prefix: ["users_by_favorite_color", color] };
      const options = { limit: usersPerColor, batchSize: usersPerColor };
      for await (const { value: id } of kv.list(selector, options)) keys.push(["users", id]);
      const entries = await kv.getMany(keys);
      return entries.map(({ value }) => value).filter((user) => user?.favoriteColor === color);
    },

    changeColor: async (id, favoriteColor) => {
      const key = ["users", id];
      const { value: before, versionstamp } = await kv.get(key);
      const after = { ...before, favoriteColor };
      const result = await kv
        .atomic()
        .check({ key, versionstamp })
        .delete(["users_by_favorite_color", before.favoriteColor, id])
        .set(["users_by_favorite_color", favoriteColor, id], id)
        .set(key, after)
        .commit();
      assertCommitted(result);
      return after;
    },

    close: () => kv.close(),
  };
}

/** A row and its index entries. */
function setUser(operation, user) {
  const { id, email, favoriteColor } = user;
  return operation
    .set(["users", id], user)
    .set(["users_by_email", email], id)
    .set(["users_by_favorite_color", favoriteColor, id], id);
}

function assertCommitted({ ok }) {
  if (!ok) throw new Error("a commit was refused");
}
