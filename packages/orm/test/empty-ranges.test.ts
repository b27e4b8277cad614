// A range that holds nothing, such as all values above true, though its index has keys beside it.
import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, expect, it } from "vitest";
import * as z from "zod";
import { createDatabase, type Database, defineModel } from "../src/index.js";
import { interferingKv } from "./faulty-kv.js";
import { rejection } from "./user-model.js";

const Task = defineModel({
  name: "tasks",
  schema: z.object({ id: z.string(), team: z.string(), open: z.boolean() }),
  primaryKey: "id",
  indexes: { byTeamAndOpen: { key: ["team", "open"] } },
});

let kv: EmbeddedKv;
let db: Database<{ tasks: typeof Task }>;
beforeEach(async () => {
  kv = await openKv();
  db = await createDatabase({ kv, models: { tasks: Task } });
  for (const id of ["1", "2", "3"]) {
    await db.tasks.create({ data: { id, team: "red", open: id !== "1" } });
  }
});
afterEach(() => kv.close());

it("has no rows, and takes no cursor of the query without its bounds", async () => {
  const empty = { team: "red", open: { gt: true } };
  expect(await db.tasks.findMany({ where: empty })).toEqual({ items: [], cursor: null });
  const { cursor } = await db.tasks.findMany({ where: { team: "red" }, take: 1 });
  expect(cursor).not.toBeNull();
  const refused = await rejection(db.tasks.findMany({ where: empty, cursor }));
  expect(refused.code).toBe("KW_CURSOR_INVALID");
});

it("as one of several alternatives, holds no row that has left the others since it was read", async () => {
  const moving = interferingKv(kv, async () => {
    await kv
      .atomic()
      .set(["tasks", "1"], { id: "1", team: "blue", open: false })
      .delete(["tasks_by_team_and_open", "red", false, "1"])
      .set(["tasks_by_team_and_open", "blue", false, "1"], "1")
      .commit();
  });
  const other = await createDatabase({ kv: moving, models: { tasks: Task } });
  const where = {
    OR: [
      { team: "red", open: false },
      { team: "blue", open: { gt: true } },
    ],
  };
  expect((await db.tasks.findMany({ where })).items.map(({ id }) => id)).toEqual(["1"]);
  const { count } = await other.tasks.deleteMany({ where });
  expect(count).toBe(0);
  expect(await db.tasks.findUnique({ where: { id: "1" } })).toMatchObject({ team: "blue" });
});
