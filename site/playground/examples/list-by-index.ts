import { openKv } from "@keywright/core";
import { createDatabase, defineModel } from "@keywright/orm";
import * as z from "zod";

const Task = defineModel({
  name: "tasks",
  schema: z.object({
    id: z.string(),
    list: z.string(),
    due: z.string(),
    title: z.string(),
  }),
  primaryKey: "id",
  indexes: { byListAndDue: { key: ["list", "due"] } },
});

const kv = await openKv();
const db = await createDatabase({ kv, models: { tasks: Task } });

await db.tasks.createMany({
  data: [
    { id: "1", list: "home", due: "2026-05-03", title: "Bake" },
    { id: "2", list: "work", due: "2026-05-01", title: "Write" },
    { id: "3", list: "home", due: "2026-05-02", title: "Sweep" },
    { id: "4", list: "home", due: "2026-05-09", title: "Paint" },
  ],
});

const query = {
  where: { list: "home" },
  orderBy: { due: "asc" },
  take: 2,
} as const;
const first = await db.tasks.findMany(query);
for (const task of first.items) console.log(task.due, task.title);

// What the query reads: the index, the range of its keys,
// and how many entries and rows at most.
const plan = await db.tasks.explain(query);
console.log(plan.index, plan.kind, plan.reads);
console.log(plan.segments);

const cursor = first.cursor ?? undefined;
const next = await db.tasks.findMany({ ...query, cursor });
for (const task of next.items) console.log(task.due, task.title);

// No index serves this one. TypeScript refuses it, too.
await db.tasks
  // @ts-expect-error
  .findMany({ where: { title: "Bake" } })
  .catch((error: Error) => console.log(error.message));
