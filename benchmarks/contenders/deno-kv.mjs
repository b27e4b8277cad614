// `@deno/kv` on its SQLite file, with the code of Deno KV's guide to secondary indexes.
import { openKv } from "@deno/kv";
import { listedEntries } from "../rows.mjs";

/** Deno KV takes at most 1,000 mutations and 800 KiB in a commit, and reads ten keys at once. */
const rowsOfCommit = 300;
const keysOfRead = 10;

export async function openDenoKv(path) {
  const kv = await openKv(`${path}.sqlite`);
  const valueAt = async (key) => (await kv.get(key)).value;
  const write = async (operation) => {
    const { ok } = await operation.commit();
    if (!ok) throw new Error("A commit was refused.");
  };
  const createOne = (user) => {
    const operation = kv
      .atomic()
      .check({ key: ["users", user.id], versionstamp: null })
      .check({ key: ["users_by_email", user.email], versionstamp: null });
    return write(setUser(operation, user));
  };
  const changeOne = async (id, change) => {
    const entry = await kv.get(["users", id]);
    const after = { ...entry.value, ...change };
    const operation = kv.atomic().check(entry).set(["users", id], after);
    if (change.favoriteColor !== undefined)
      operation
        .delete(["users_by_favorite_color", entry.value.favoriteColor, id])
        .set(["users_by_favorite_color", change.favoriteColor, id], id);
    await write(operation);
  };
  const createInBatches = async (rows, set) => {
    for (let from = 0; from < rows.length; from += rowsOfCommit) {
      const operation = kv.atomic();
      for (const row of rows.slice(from, from + rowsOfCommit)) set(operation, row);
      await write(operation);
    }
  };
  const usersOf = async (ids) => {
    const reads = [];
    for (let from = 0; from < ids.length; from += keysOfRead)
      reads.push(kv.getMany(ids.slice(from, from + keysOfRead).map((id) => ["users", id])));
    return (await Promise.all(reads)).flat().map(({ value }) => value);
  };
  return {
    load: async (users, posts) => {
      await createInBatches(users, setUser);
      await createInBatches(posts, setPost);
    },
    create: createOne,
    createMany: (rows) => createInBatches(rows, setUser),
    byId: (id) => valueAt(["users", id]),
    byEmail: async (email) => await valueAt(["users", await valueAt(["users_by_email", email])]),
    byColor: async (color) => {
      const ids = [];
      const options = { batchSize: 500 };
      for await (const { value } of kv.list(
        { prefix: ["users_by_favorite_color", color] },
        options,
      ))
        ids.push(value);
      return await usersOf(ids);
    },
    entries: async (id) => {
      const found = [];
      const selector = { start: ["users", id], end: ["users", "~"] };
      for await (const { value } of kv.list(selector, { limit: listedEntries, batchSize: 500 }))
        found.push(value);
      return found;
    },
    firstPage: (take) => pageOf(kv, take, undefined),
    page: (take, { cursor }) => pageOf(kv, take, cursor),
    itemsOf: ({ items }) => items,
    changeColor: (id, favoriteColor) => changeOne(id, { favoriteColor }),
    changeAge: (id, age) => changeOne(id, { age }),
    upsert: async (user) => {
      const { versionstamp } = await kv.get(["users", user.id]);
      await (versionstamp === null ? createOne(user) : changeOne(user.id, { age: user.age }));
    },
    remove: async (id) => {
      const entry = await kv.get(["users", id]);
      const { email, favoriteColor } = entry.value;
      const operation = kv
        .atomic()
        .check(entry)
        .delete(["users", id])
        .delete(["users_by_email", email])
        .delete(["users_by_favorite_color", favoriteColor, id]);
      await write(operation);
    },
    transaction: async (id, age, post) => {
      const entry = await kv.get(["users", id]);
      const operation = kv
        .atomic()
        .check(entry)
        .set(["users", id], { ...entry.value, age });
      await write(setPost(operation, post));
    },
    close: () => kv.close(),
  };
}

async function pageOf(kv, limit, cursor) {
  const iterator = kv.list({ prefix: ["users"] }, { limit, cursor });
  const items = [];
  for await (const { value } of iterator) items.push(value);
  return { items, cursor: iterator.cursor };
}

function setUser(operation, user) {
  const { id, email, favoriteColor } = user;
  return operation
    .set(["users", id], user)
    .set(["users_by_email", email], id)
    .set(["users_by_favorite_color", favoriteColor, id], id);
}

function setPost(operation, post) {
  return operation
    .set(["posts", post.id], post)
    .set(["posts_by_author", post.authorId, post.id], post.id);
}
