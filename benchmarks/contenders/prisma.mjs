// Prisma with its adapter for better-sqlite3. `install.mjs` generates the client.
import { peer } from "./peer.mjs";
import { addCoveringIndex, openSqlite } from "./sqlite.mjs";

export function openPrisma(path, durability) {
  const { PrismaClient } = peer("./generated");
  const { PrismaBetterSqlite3 } = peer("@prisma/adapter-better-sqlite3");
  const file = `${path}.sqlite`;
  // Prisma's own tool would create the same tables.
  const sqlite = openSqlite(file, durability);
  const adapter = new PrismaBetterSqlite3(
    { url: `file:${file}` },
    { timestampFormat: "unixepoch-ms" },
  );
  const db = new PrismaClient({ adapter });
  const shown = { id: true, name: true, email: true, favoriteColor: true };
  return {
    load: async (users, posts) => {
      // The setting belongs to a connection, so it is made in that of Prisma too.
      await db.$queryRawUnsafe(`PRAGMA synchronous = ${durability === "full" ? "FULL" : "NORMAL"}`);
      await db.user.createMany({ data: users });
      await db.post.createMany({ data: posts });
    },
    loadWide: () => addCoveringIndex(sqlite),
    loadOrders: (data) => db.order.createMany({ data }),
    totals: async (customer) => {
      const wanted = { _count: true, _sum: { cents: true } };
      const groups = await db.order.groupBy({
        by: ["month"],
        where: { customer },
        orderBy: { month: "asc" },
        ...wanted,
      });
      return groups.map(({ month, _count, _sum }) => ({ month, count: _count, cents: _sum.cents }));
    },
    create: (data) => db.user.create({ data }),
    createWithPosts: (user, create) => db.user.create({ data: { ...user, posts: { create } } }),
    createMany: (data) => db.user.createMany({ data }),
    byId: (id) => db.user.findUnique({ where: { id } }),
    byEmail: (email) => db.user.findUnique({ where: { email } }),
    byColor: (favoriteColor) => db.user.findMany({ where: { favoriteColor } }),
    covered: (favoriteColor) => db.user.findMany({ where: { favoriteColor }, select: shown }),
    copied: (favoriteColor) => db.user.findMany({ where: { favoriteColor } }),
    firstPage: (take) => db.user.findMany({ orderBy: { id: "asc" }, take }),
    page: (take, last) => {
      const cursor = { id: last.at(-1).id };
      return db.user.findMany({ orderBy: { id: "asc" }, cursor, skip: 1, take });
    },
    itemsOf: (items) => items,
    changeColor: (id, favoriteColor) => db.user.update({ where: { id }, data: { favoriteColor } }),
    changeAge: (id, age) => db.user.update({ where: { id }, data: { age } }),
    upsert: (user) =>
      db.user.upsert({ where: { id: user.id }, create: user, update: { age: user.age } }),
    remove: (id) => db.user.delete({ where: { id } }),
    transaction: (id, age, post) =>
      db.$transaction([
        db.user.update({ where: { id }, data: { age } }),
        db.post.create({ data: post }),
      ]),
    withPosts: (from, take) => {
      const query = { where: { id: { gte: from } }, orderBy: { id: "asc" }, take };
      return db.user.findMany({ ...query, include: { posts: true } });
    },
    count: (favoriteColor) => db.user.count({ where: { favoriteColor } }),
    close: async () => {
      await db.$disconnect();
      sqlite.close();
    },
  };
}
