import { isDeepStrictEqual } from "node:util";
import { openKv } from "@keywright/core";
import { createDatabase, defineModel } from "@keywright/orm";
import initSqlJs from "sql.js";
import * as z from "zod";

export const Person = defineModel({
  name: "people",
  schema: z.object({
    id: z.int(),
    team: z.string(),
    age: z.number(),
    name: z.string(),
    email: z.string(),
  }),
  primaryKey: "id",
  indexes: {
    byTeam: { key: ["team", "age"] },
    byAge: { key: "age" },
    byName: { key: ["name", "team"], count: true },
    byEmail: { key: "email", unique: true },
    byAgeOfAda: { key: "age", where: { name: "Ada" } },
  },
  count: true,
});

/** The fields of the orders that indexes serve. Rows with equal fields come by their id. */
const orders = [["id"], ["team", "age"], ["age"], ["name", "team"], ["email"]];
const operators = { gt: ">", gte: ">=", lt: "<", lte: "<=" };
const teams = ["", "a", "b", "ab", "é", "\u{1f600}", "Z"];
const names = ["Ada", "Bob", "", "ada", "\uffff", "a\0"];

const SQL = await initSqlJs();

/** Opens the model, and a table of SQLite with the same columns. */
export async function openBoth() {
  const kv = await openKv();
  const db = await createDatabase({ kv, models: { people: Person } });
  const table = new SQL.Database();
  table.run("create table people (id real primary key, team, age, name, email unique)");
  return { kv, db, table };
}

/**
 * Makes random calls of the model, and the same in SQL.
 *
 * @returns the first call whose results differ, as text. Empty if there is none.
 */
export async function runQueries({ db, table }, random, calls) {
  for (let i = 0; i < calls; i++) {
    const call = newCall(random);
    const [mine, theirs] = [await runModel(db, call), runSql(table, call)];
    if (!isDeepStrictEqual(mine, theirs))
      return [[call, mine, theirs].map((each) => JSON.stringify(each)).join("\n  ")];
  }
  return [];
}

function newCall(random) {
  const type = random.pick([
    "create",
    "create",
    "create",
    "update",
    "delete",
    "find",
    "find",
    "find",
    "count",
    "exists",
    "updateMany",
    "deleteMany",
  ]);
  const id = random.below(60);
  if (type === "create") return { type, data: newRow(random, id) };
  if (type === "update") return { type, id, data: newChange(random) };
  if (type === "delete") return { type, id };
  if (random.below(8) === 0) return { type: "findAda", where: { age: { gte: random.below(9) } } };
  const { where, fields, equal } = newWhere(random);
  if (type === "updateMany") return { type, where, data: { age: random.below(9) } };
  if (type !== "find") return { type, where };
  const order = newOrder(random, fields, equal);
  return { type, where, order, take: random.pick([1, 2, 5, 100]) };
}

function newRow(random, id) {
  const age = random.pick([random.below(9), -1.5, 1e300, 0.1]);
  const email = `${random.below(40)}@example.com`;
  return { id, team: random.pick(teams), age, name: random.pick(names), email };
}

function newChange(random) {
  const row = newRow(random, 0);
  const field = random.pick(["team", "age", "name", "email"]);
  return { [field]: row[field] };
}

/** A condition that an index serves: equal leading fields, and at most one range or list. */
function newWhere(random) {
  const fields = random.pick(orders);
  const equal = random.below(fields.length + 1);
  const row = () => newRow(random, random.below(60));
  const where = {};
  for (const field of fields.slice(0, equal)) where[field] = row()[field];
  const next = fields[equal];
  const kind = random.below(3);
  if (next !== undefined && kind === 1) {
    where[next] = { [random.pick(["gt", "gte"])]: row()[next] };
    if (random.below(2) === 0) where[next][random.pick(["lt", "lte"])] = row()[next];
  }
  if (next !== undefined && kind === 2 && equal === 0)
    where[next] = { in: Array.from({ length: 1 + random.below(3) }, () => row()[next]) };
  if (Object.keys(where).length === 0) where[fields[0]] = row()[fields[0]];
  return { where, fields, equal };
}

/** The order of the index that serves the condition, in one of its directions. */
function newOrder(random, fields, equal) {
  const direction = random.pick(["asc", "desc"]);
  return { fields, equal, direction };
}

async function runModel({ people }, { type, id, data, where, order, take }) {
  switch (type) {
    case "create":
      return await done(people.create({ data }));
    case "update":
      return await done(people.update({ where: { id }, data }));
    case "delete":
      return await done(people.delete({ where: { id } }));
    case "updateMany":
      return (await people.updateMany({ where, data })).count;
    case "deleteMany":
      return (await people.deleteMany({ where })).count;
    case "count":
      return await people.count({ where });
    case "exists":
      return await people.exists({ where });
    case "findAda":
      return (await people.findMany({ index: "byAgeOfAda", where, take: 100 })).items;
    default:
      return await findAll(people, where, order, take);
  }
}

/** Returns all pages of a query. */
async function findAll(people, where, { fields, direction }, take) {
  const orderBy = Object.fromEntries(fields.map((field) => [field, direction]));
  const rows = [];
  let cursor;
  do {
    const page = await people.findMany({ where, orderBy, take, ...(cursor ? { cursor } : {}) });
    rows.push(...page.items);
    cursor = page.cursor;
  } while (cursor);
  return rows;
}

async function done(call) {
  try {
    await call;
    return true;
  } catch (error) {
    if (error.code === "KW_UNIQUE_CONSTRAINT" || error.code === "KW_ROW_NOT_FOUND") return false;
    throw error;
  }
}

function runSql(table, { type, id, data, where, order }) {
  switch (type) {
    case "create":
      return changed(
        table,
        "insert or ignore into people values (?, ?, ?, ?, ?)",
        Object.values(data),
      );
    case "update": {
      const [[field, value]] = Object.entries(data);
      return changed(table, `update or ignore people set ${field} = ? where id = ?`, [value, id]);
    }
    case "delete":
      return changed(table, "delete from people where id = ?", [id]);
    default: {
      const [condition, values] = conditionOf(where);
      if (type === "updateMany") {
        table.run(`update people set age = ? where ${condition}`, [data.age, ...values]);
        return table.getRowsModified();
      }
      if (type === "deleteMany") {
        table.run(`delete from people where ${condition}`, values);
        return table.getRowsModified();
      }
      const sorted = orderText(
        order ?? { fields: type === "findAda" ? ["age"] : [], direction: "asc" },
      );
      const ada = type === "findAda" ? "name = 'Ada' and " : "";
      const text = `select * from people where ${ada}${condition} order by ${sorted}`;
      const rows = selected(table, text, values);
      if (type === "count") return rows.length;
      return type === "exists" ? rows.length > 0 : rows;
    }
  }
}

function changed(table, text, values) {
  table.run(text, values);
  return table.getRowsModified() > 0;
}

function conditionOf(where) {
  const values = [];
  const texts = Object.entries(where).map(([field, condition]) => {
    if (typeof condition !== "object") {
      values.push(condition);
      return `${field} = ?`;
    }
    if (condition.in !== undefined) {
      values.push(...condition.in);
      return `${field} in (${condition.in.map(() => "?").join(", ")})`;
    }
    return Object.entries(condition)
      .map(([name, value]) => {
        values.push(value);
        return `${field} ${operators[name]} ?`;
      })
      .join(" and ");
  });
  return [texts.join(" and "), values];
}

function orderText({ fields, direction }) {
  return [...fields, "id"].map((field) => `${field} ${direction}`).join(", ");
}

function selected(table, text, values) {
  const statement = table.prepare(text);
  try {
    statement.bind(values);
    const rows = [];
    while (statement.step()) rows.push(statement.getAsObject());
    return rows;
  } finally {
    statement.free();
  }
}
