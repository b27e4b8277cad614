import { openKv } from "@keywright/core";
import { createDatabase, defineModel } from "@keywright/orm";
import { button, show } from "playground";
import * as z from "zod";

const Task = defineModel({
  name: "tasks",
  schema: z.object({
    id: z.ulid(),
    title: z.string(),
    done: z.boolean().default(false),
  }),
  primaryKey: "id",
  indexes: { byDone: { key: ["done", "title"] } },
});

const kv = await openKv();
const db = await createDatabase({ kv, models: { tasks: Task } });
await db.tasks.create({ data: { title: "Task 1" } });

// `show` draws the results of a live query, and `button` adds
// a button. Only this page has these two.
show(
  "Open tasks",
  db.tasks.watchMany({
    where: { done: false },
    select: { title: true },
    take: 10,
  }),
);

let tasks = 1;
button("Add a task", async () => {
  tasks += 1;
  await db.tasks.create({ data: { title: `Task ${tasks}` } });
});
button("Finish the first task", async () => {
  const open = { where: { done: false } } as const;
  const first = await db.tasks.findFirst(open);
  if (first === null)
    return console.log("Nothing is left to do.");
  await db.tasks.update({
    where: { id: first.id },
    data: { done: true },
  });
});
console.log("Press the buttons.");
