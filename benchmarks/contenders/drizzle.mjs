// drizzle-orm on better-sqlite3. Its calls are synchronous.
import { createShopTables, drizzleShop, shopTables } from "./drizzle-shop.mjs";
import { peer } from "./peer.mjs";
import { addCoveringIndex, openSqlite } from "./sqlite.mjs";

/** @param statements `"built"` in each call, or `"prepared"` once. */
export function openDrizzle(path, durability, statements) {
  const { drizzle } = peer("drizzle-orm/better-sqlite3");
  const { asc, count, eq, gt, gte, sql, sum } = peer("drizzle-orm");
  const sqlite = openSqlite(`${path}.sqlite`, durability);
  createShopTables(sqlite);
  const schema = { ...tables(), ...shopTables() };
  const { users, posts, orders } = schema;
  const db = drizzle(sqlite, { schema });
  const insert = sqlite.transaction((table, rows) => {
    for (let from = 0; from < rows.length; from += 1000)
      db.insert(table)
        .values(rows.slice(from, from + 1000))
        .run();
  });
  const shown = {
    id: users.id,
    name: users.name,
    email: users.email,
    favoriteColor: users.favoriteColor,
  };
  /** A statement that is built each time, or once with placeholders. */
  const statement = (names, build) => {
    if (statements === "built") return (...values) => build(...values);
    const prepared = build(...names.map((name) => sql.placeholder(name))).prepare();
    const bound = (values) => Object.fromEntries(names.map((name, i) => [name, values[i]]));
    return (...values) => ({
      get: () => prepared.get(bound(values)),
      all: () => prepared.all(bound(values)),
      run: () => prepared.run(bound(values)),
    });
  };
  const fields = ["id", "name", "email", "favoriteColor", "age", "createdAt"];
  const byId = statement(["id"], (id) => db.select().from(users).where(eq(users.id, id)));
  const byEmail = statement(["email"], (email) =>
    db.select().from(users).where(eq(users.email, email)),
  );
  const byColor = statement(["color"], (color) =>
    db.select().from(users).where(eq(users.favoriteColor, color)),
  );
  const covered = statement(["color"], (color) =>
    db.select(shown).from(users).where(eq(users.favoriteColor, color)),
  );
  const insertUser = statement(fields, (...values) =>
    db.insert(users).values(Object.fromEntries(fields.map((field, i) => [field, values[i]]))),
  );
  const valuesOf = (user) => fields.map((field) => user[field]);
  const changeColor = statement(["id", "favoriteColor"], (id, favoriteColor) =>
    db.update(users).set({ favoriteColor }).where(eq(users.id, id)),
  );
  const changeAge = statement(["id", "age"], (id, age) =>
    db.update(users).set({ age }).where(eq(users.id, id)),
  );
  const remove = statement(["id"], (id) => db.delete(users).where(eq(users.id, id)));
  const countOf = statement(["color"], (color) =>
    db.select({ value: count() }).from(users).where(eq(users.favoriteColor, color)),
  );
  const totals = statement(["customer"], (customer) =>
    db
      .select({ month: orders.month, count: count(), cents: sum(orders.cents).mapWith(Number) })
      .from(orders)
      .where(eq(orders.customer, customer))
      .groupBy(orders.month)
      .orderBy(asc(orders.month)),
  );
  const pageAfter = statement(["id", "take"], (id, take) =>
    db.select().from(users).where(gt(users.id, id)).orderBy(asc(users.id)).limit(take),
  );
  return {
    load: (userRows, postRows) => {
      insert(users, userRows);
      insert(posts, postRows);
    },
    loadWide: () => addCoveringIndex(sqlite),
    loadOrders: (rows) => insert(orders, rows),
    create: (user) => insertUser(...valuesOf(user)).run(),
    createWithPosts: (user, ofUser) =>
      db.transaction((tx) => {
        tx.insert(users).values(user).run();
        const rows = ofUser.map((post) => ({ ...post, authorId: user.id }));
        tx.insert(posts).values(rows).run();
      }),
    createMany: (rows) => insert(users, rows),
    byId: (id) => byId(id).get(),
    byEmail: (email) => byEmail(email).get(),
    byColor: (color) => byColor(color).all(),
    covered: (color) => covered(color).all(),
    copied: (color) => byColor(color).all(),
    firstPage: (take) => pageAfter("", take).all(),
    page: (take, last) => pageAfter(last.at(-1).id, take).all(),
    itemsOf: (items) => items,
    changeColor: (id, color) => changeColor(id, color).run(),
    changeAge: (id, age) => changeAge(id, age).run(),
    upsert: (user) =>
      db
        .insert(users)
        .values(user)
        .onConflictDoUpdate({ target: users.id, set: { age: user.age } })
        .run(),
    remove: (id) => remove(id).run(),
    transaction: (id, age, post) =>
      db.transaction((tx) => {
        tx.update(users).set({ age }).where(eq(users.id, id)).run();
        tx.insert(posts).values(post).run();
      }),
    withPosts: (from, take) =>
      db.query.users
        .findMany({
          where: gte(users.id, from),
          orderBy: asc(users.id),
          limit: take,
          with: { posts: true },
        })
        .sync(),
    totals: (customer) => totals(customer).all(),
    count: (color) => countOf(color).get().value,
    ...drizzleShop(db, schema, insert, statement),
    close: () => sqlite.close(),
  };
}

function tables() {
  const { index, integer, sqliteTable, text, uniqueIndex } = peer("drizzle-orm/sqlite-core");
  const users = sqliteTable(
    "User",
    {
      id: text().primaryKey(),
      name: text().notNull(),
      email: text().notNull(),
      favoriteColor: text().notNull(),
      age: integer().notNull(),
      createdAt: integer({ mode: "timestamp_ms" }).notNull(),
    },
    (table) => [
      uniqueIndex("User_email_key").on(table.email),
      index("User_favoriteColor_idx").on(table.favoriteColor),
    ],
  );
  const posts = sqliteTable(
    "Post",
    {
      id: text().primaryKey(),
      authorId: text()
        .notNull()
        .references(() => users.id),
      title: text().notNull(),
    },
    (table) => [index("Post_authorId_idx").on(table.authorId)],
  );
  const orders = sqliteTable(
    "Order",
    {
      id: text().primaryKey(),
      customer: text().notNull(),
      month: text().notNull(),
      cents: integer().notNull(),
    },
    (table) => [index("Order_totals_idx").on(table.customer, table.month, table.cents)],
  );
  const { relations } = peer("drizzle-orm");
  return {
    users,
    posts,
    orders,
    postsOfUsers: relations(users, ({ many }) => ({ posts: many(posts) })),
    authorsOfPosts: relations(posts, ({ one }) => ({
      author: one(users, { fields: [posts.authorId], references: [users.id] }),
    })),
  };
}
