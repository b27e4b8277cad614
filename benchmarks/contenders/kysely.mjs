// Kysely on better-sqlite3. SQLite has no dates, so they are stored as numbers.
import { peer } from "./peer.mjs";
import { addCoveringIndex, openSqlite } from "./sqlite.mjs";

/** SQLite takes at most 32,766 parameters in a statement. */
const rowsOfStatement = 1000;

export function openKysely(path, durability) {
  const { Kysely, SqliteDialect } = peer("kysely");
  const sqlite = openSqlite(`${path}.sqlite`, durability);
  const db = new Kysely({ dialect: new SqliteDialect({ database: sqlite }) });
  const users = () => db.selectFrom("User").selectAll();
  const insert = (to, table, rows) => to.insertInto(table).values(rows).execute();
  const insertMany = (table, rows) =>
    db.transaction().execute(async (tx) => {
      for (let from = 0; from < rows.length; from += rowsOfStatement)
        await insert(tx, table, rows.slice(from, from + rowsOfStatement));
    });
  const update = (to, id, change) =>
    to.updateTable("User").set(change).where("id", "=", id).execute();
  return {
    load: async (userRows, postRows) => {
      await insertMany("User", userRows.map(stored));
      await insertMany("Post", postRows);
    },
    loadWide: () => addCoveringIndex(sqlite),
    loadOrders: (rows) => insertMany("Order", rows),
    create: (user) => insert(db, "User", stored(user)),
    createWithPosts: (user, posts) =>
      db.transaction().execute(async (tx) => {
        await insert(tx, "User", stored(user));
        const rows = posts.map((post) => ({ ...post, authorId: user.id }));
        await insert(tx, "Post", rows);
      }),
    createMany: (rows) => insertMany("User", rows.map(stored)),
    byId: async (id) => read(await users().where("id", "=", id).executeTakeFirst()),
    byEmail: async (email) => read(await users().where("email", "=", email).executeTakeFirst()),
    byColor: async (color) =>
      (await users().where("favoriteColor", "=", color).execute()).map(read),
    covered: (color) =>
      db
        .selectFrom("User")
        .select(["id", "name", "email", "favoriteColor"])
        .where("favoriteColor", "=", color)
        .execute(),
    copied: async (color) => (await users().where("favoriteColor", "=", color).execute()).map(read),
    firstPage: (take) => users().orderBy("id").limit(take).execute(),
    page: async (take, last) => {
      const after = users().where("id", ">", last.at(-1).id).orderBy("id").limit(take);
      return (await after.execute()).map(read);
    },
    itemsOf: (items) => items,
    changeColor: (id, favoriteColor) => update(db, id, { favoriteColor }),
    changeAge: (id, age) => update(db, id, { age }),
    upsert: (user) =>
      db
        .insertInto("User")
        .values(stored(user))
        .onConflict((conflict) => conflict.column("id").doUpdateSet({ age: user.age }))
        .execute(),
    remove: (id) => db.deleteFrom("User").where("id", "=", id).execute(),
    transaction: (id, age, post) =>
      db.transaction().execute(async (tx) => {
        await update(tx, id, { age });
        await insert(tx, "Post", post);
      }),
    withPosts: async (from, take) => {
      const { jsonArrayFrom } = peer("kysely/helpers/sqlite");
      const { ParseJSONResultsPlugin } = peer("kysely");
      const found = await db
        .withPlugin(new ParseJSONResultsPlugin())
        .selectFrom("User")
        .selectAll()
        .select((each) => [
          jsonArrayFrom(
            each
              .selectFrom("Post")
              .select(["id", "authorId", "title"])
              .whereRef("Post.authorId", "=", "User.id"),
          ).as("posts"),
        ])
        .where("id", ">=", from)
        .orderBy("id")
        .limit(take)
        .execute();
      return found.map(read);
    },
    totals: (customer) =>
      db
        .selectFrom("Order")
        .select((each) => [
          "month",
          each.fn.countAll().as("count"),
          each.fn.sum("cents").as("cents"),
        ])
        .where("customer", "=", customer)
        .groupBy("month")
        .orderBy("month")
        .execute(),
    count: async (color) => {
      const { value } = await db
        .selectFrom("User")
        .select((each) => each.fn.countAll().as("value"))
        .where("favoriteColor", "=", color)
        .executeTakeFirstOrThrow();
      return value;
    },
    close: () => db.destroy(),
  };
}

function stored(user) {
  return { ...user, createdAt: user.createdAt.getTime() };
}

function read(row) {
  return row && { ...row, createdAt: new Date(row.createdAt) };
}
