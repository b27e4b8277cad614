// The package `lmdb` with index entries that a program writes itself, as its README shows it: a
// transaction checks and writes. With `"full"`, a write is awaited until it is on disk.
import { open } from "lmdb";
import { listedEntries } from "../rows.mjs";

export function openLmdbByHand(path, durability) {
  const root = open(`${path}.mdb`, { sharedStructuresKey: Symbol.for("structures") });
  const users = root.openDB("users", { sharedStructuresKey: Symbol.for("structures") });
  const byEmail = root.openDB("users-by-email", { encoding: "ordered-binary" });
  const byColor = root.openDB("users-by-color", { dupSort: true, encoding: "ordered-binary" });
  const posts = root.openDB("posts", { sharedStructuresKey: Symbol.for("structures") });
  const byAuthor = root.openDB("posts-by-author", { dupSort: true, encoding: "ordered-binary" });
  const write = async (body) => {
    const result = await root.transaction(body);
    if (durability === "full") await root.flushed;
    return result;
  };
  const putUser = (user) => {
    void users.put(user.id, user);
    void byEmail.put(user.email, user.id);
    void byColor.put(user.favoriteColor, user.id);
  };
  const createUser = (user) => {
    if (users.doesExist(user.id) || byEmail.doesExist(user.email))
      throw new Error("The user exists.");
    putUser(user);
  };
  const putPost = (post) => {
    void posts.put(post.id, post);
    void byAuthor.put(post.authorId, post.id);
  };
  const change = (id, changes) => {
    const before = users.get(id);
    if (changes.favoriteColor !== undefined) {
      void byColor.remove(before.favoriteColor, id);
      void byColor.put(changes.favoriteColor, id);
    }
    void users.put(id, { ...before, ...changes });
  };
  const many = (rows, put) =>
    write(() => {
      for (const row of rows) put(row);
    });
  const usersAfter = (range) => Array.from(users.getRange(range), ({ value }) => value);
  return {
    load: async (userRows, postRows) => {
      await many(userRows, putUser);
      await many(postRows, putPost);
    },
    create: (user) => write(() => createUser(user)),
    createMany: (rows) => many(rows, createUser),
    byId: (id) => users.get(id),
    byEmail: (email) => users.get(byEmail.get(email)),
    byColor: (color) => Array.from(byColor.getValues(color), (id) => users.get(id)),
    entries: (start) => usersAfter({ start, limit: listedEntries }),
    firstPage: (limit) => usersAfter({ limit }),
    page: (limit, last) => usersAfter({ start: last.at(-1).id, exclusiveStart: true, limit }),
    itemsOf: (items) => items,
    changeColor: (id, favoriteColor) => write(() => change(id, { favoriteColor })),
    changeAge: (id, age) => write(() => change(id, { age })),
    upsert: (user) =>
      write(() => {
        if (users.doesExist(user.id)) change(user.id, { age: user.age });
        else createUser(user);
      }),
    remove: (id) =>
      write(() => {
        const { email, favoriteColor } = users.get(id);
        void users.remove(id);
        void byEmail.remove(email);
        void byColor.remove(favoriteColor, id);
      }),
    transaction: (id, age, post) =>
      write(() => {
        change(id, { age });
        putPost(post);
      }),
    withPosts: (start, limit) =>
      usersAfter({ start, limit }).map((user) => ({
        ...user,
        posts: Array.from(byAuthor.getValues(user.id), (id) => posts.get(id)),
      })),
    count: (color) => byColor.getValuesCount(color),
    close: () => root.close(),
  };
}
