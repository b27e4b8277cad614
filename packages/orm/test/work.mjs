// One of several processes that run jobs of a database: job-processes.test.ts starts it. Its
// arguments are the path of the folder and how its handlers behave. It reports each run that begins
// and each one whose transaction fails.
import { once } from "node:events";
import { openKv } from "@keywright/core";
import * as z from "zod";
import { createDatabase, defineJob, defineModel } from "../dist/index.js";

const [path, behaviour] = process.argv.slice(2);
const Run = defineModel({
  name: "runs",
  schema: z.object({ id: z.ulid(), n: z.int(), pid: z.int() }),
  primaryKey: "id",
  indexes: { byN: { key: "n", count: true } },
});
const Step = defineJob({
  name: "step",
  schema: z.object({ n: z.int() }),
  retry: { attempts: 100, backoff: "fixed", delay: 5 },
});
const kv = await openKv(path, { durability: "relaxed" });
const db = await createDatabase({ kv, models: { runs: Run }, jobs: { step: Step } });
process.on("disconnect", () => process.exit());
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

db.work(
  {
    step: async (job, { transaction }) => {
      const { n } = job.payload;
      process.send({ began: n, attempt: job.attempt });
      // Until the test sends a message.
      if (behaviour === "held") await once(process, "message");
      if (behaviour === "random") {
        await pause(Math.random() * 100);
        const dice = Math.random();
        if (dice < 0.1) throw new Error("no luck");
        if (dice < 0.105) process.exit(1);
      }
      try {
        await transaction(async (tx) => {
          await tx.runs.create({ data: { n, pid: process.pid } });
        });
      } catch (error) {
        process.send({ failed: n, code: error.code });
        throw error;
      }
    },
  },
  { concurrency: 8, lease: 600, onError: () => undefined },
);
process.send("open");
