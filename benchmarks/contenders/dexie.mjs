// Dexie on fake-indexeddb, which keeps all rows in memory.
import { peer } from "./peer.mjs";

let databases = 0;

export function openDexie() {
  const { indexedDB, IDBKeyRange } = peer("fake-indexeddb");
  const { Dexie } = peer("dexie");
  const db = new Dexie(`benchmark-${++databases}`, { indexedDB, IDBKeyRange });
  db.version(1).stores({ users: "id, &email, favoriteColor", posts: "id, authorId" });
  const byColor = (color) => db.users.where("favoriteColor").equals(color).toArray();
  return {
    load: async (users, posts) => {
      await db.users.bulkAdd(users);
      await db.posts.bulkAdd(posts);
    },
    create: (user) => db.users.add(user),
    createMany: (rows) => db.users.bulkAdd(rows),
    byId: (id) => db.users.get(id),
    byEmail: (email) => db.users.get({ email }),
    byColor,
    firstPage: (take) => db.users.orderBy("id").limit(take).toArray(),
    page: (take, last) => db.users.where("id").above(last.at(-1).id).limit(take).toArray(),
    itemsOf: (items) => items,
    changeColor: (id, favoriteColor) => db.users.update(id, { favoriteColor }),
    changeAge: (id, age) => db.users.update(id, { age }),
    upsert: (user) => db.users.upsert(user.id, user),
    remove: (id) => db.users.delete(id),
    transaction: (id, age, post) =>
      db.transaction("rw", db.users, db.posts, async () => {
        await db.users.update(id, { age });
        await db.posts.add(post);
      }),
    withPosts: async (from, take) => {
      const users = await db.users.where("id").aboveOrEqual(from).limit(take).toArray();
      const ids = users.map(({ id }) => id);
      const children = await db.posts.where("authorId").anyOf(ids).toArray();
      return users.map((user) => ({
        ...user,
        posts: children.filter(({ authorId }) => authorId === user.id),
      }));
    },
    count: (color) => db.users.where("favoriteColor").equals(color).count(),
    close: () => db.delete(),
  };
}
