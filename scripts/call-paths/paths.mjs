// The calls that run.mjs counts.
import { createRequire } from "node:module";

const orm = createRequire(new URL("../../packages/orm/package.json", import.meta.url));
const { openKv } = await import(orm.resolve("@keywright/core"));
const { createDatabase, defineModel, migrate } = await import(orm.resolve("@keywright/orm"));
const z = orm("zod");

const modelWith = (indexes) =>
  defineModel({
    name: "users",
    schema: z.object({ id: z.ulid(), email: z.string(), city: z.string(), age: z.int() }),
    primaryKey: "id",
    indexes: {
      byEmail: { key: "email", unique: true },
      byCity: { key: ["city", "age"] },
      ...indexes,
    },
  });

async function open(kv, indexes) {
  return await createDatabase({ kv, models: { users: modelWith(indexes) } });
}

/** Opens a database with rows of the ages 1 to `count`. */
async function databaseWith(count) {
  const kv = await openKv();
  const { users } = await open(kv);
  for (let age = 1; age <= count; age++) await users.create({ data: rowOf(age) });
  return { kv, users, close: () => kv.close() };
}

const rowOf = (age) => ({ email: `${age}@example.com`, city: "Bern", age });

/** How often a call is counted. */
const times = 5;

/** Name → a function that prepares a database and returns the call to count. */
export const paths = {
  async create() {
    const { users, close } = await databaseWith(1);
    let age = 1;
    return { call: () => users.create({ data: rowOf(++age) }), close, times };
  },

  /** One row by an index. */
  async findMany() {
    const { users, close } = await databaseWith(2);
    const call = () =>
      users.findMany({ where: { city: "Bern" }, orderBy: { age: "asc" }, take: 1 });
    await call();
    return { call, close, times };
  },

  /** By a unique index. */
  async findUnique() {
    const { users, close } = await databaseWith(2);
    const call = () => users.findUnique({ where: { email: "1@example.com" } });
    await call();
    return { call, close, times };
  },

  /** Builds one index over 52 rows. */
  async migrate() {
    const { kv, close } = await databaseWith(52);
    const db = await open(kv, { byAge: { key: "age" } });
    return { call: () => migrate(db), close };
  },
};
