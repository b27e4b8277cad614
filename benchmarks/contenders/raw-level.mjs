// The limit of LevelDB: bytes that are encoded before the measurement are written and read without
// any check, and decoded with the codecs of @keywright/core.
import { decodeKey, decodeValue, encodeKey, encodeValue } from "@keywright/core";
import { ClassicLevel } from "classic-level";
import { listedEntries } from "../rows.mjs";

const below = Uint8Array.of(0);
const above = Uint8Array.of(255);
const bytes = { keyEncoding: "view", valueEncoding: "view" };

export async function openRawLevel(path, sync) {
  const level = new ClassicLevel(path, bytes);
  await level.open();
  const read = (key) => decoded(level.getSync(encodeKey(key)));
  return {
    load: async (users) => {
      for (let from = 0; from < users.length; from += 1000) {
        const operations = users.slice(from, from + 1000).flatMap(putsOf);
        await level.batch(operations, bytes);
      }
    },
    create: (user) => level.batch(putsOf(user), { ...bytes, sync }),
    byId: (id) => read(["users", id]),
    byEmail: (email) => read(["users", read(["users_by_email", email])]),
    byColor: async (color) => {
      const prefix = encodeKey(["users_by_favorite_color", color]);
      const range = { gte: Buffer.concat([prefix, below]), lt: Buffer.concat([prefix, above]) };
      const options = { ...bytes, ...range, highWaterMarkBytes: 1 << 20 };
      const iterator = level.iterator(options);
      const entries = await iterator.nextv(1000);
      await iterator.close();
      return entries.map(([, value]) => read(["users", decodeValue(value)]));
    },
    entries: async (id) => {
      const end = Buffer.concat([encodeKey(["users"]), above]);
      const options = {
        ...bytes,
        gte: encodeKey(["users", id]),
        lt: end,
        highWaterMarkBytes: 1 << 20,
      };
      const iterator = level.iterator(options);
      const entries = await iterator.nextv(listedEntries);
      await iterator.close();
      return entries.map(([key, value]) => {
        decodeKey(key);
        return decodeValue(value);
      });
    },
    close: () => level.close(),
  };
}

function putsOf(user) {
  const { id, email, favoriteColor } = user;
  return [
    [["users", id], user],
    [["users_by_email", email], id],
    [["users_by_favorite_color", favoriteColor, id], id],
  ].map(([key, value]) => ({ type: "put", key: encodeKey(key), value: encodeValue(value) }));
}

function decoded(value) {
  return value === undefined ? undefined : decodeValue(value);
}
