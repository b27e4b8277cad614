import { createRequire } from "node:module";
import { openKv } from "@keywright/core";
import { createDatabase, defineJob } from "@keywright/orm";
import * as z from "zod";

/** `require` hides the peers from tools that check imports where they are not installed. */
const peer = createRequire(new URL("peers/package.json", import.meta.url));

/** How many jobs a worker runs at the same time. */
const concurrency = 64;

async function keywright(kv) {
  const Task = defineJob({ name: "task", schema: z.object({ n: z.int() }) });
  const db = await createDatabase({ kv, models: {}, jobs: { task: Task } });
  let worker;
  return {
    enqueue: (n) => db.jobs.task.enqueue({ n }),
    work(onJob) {
      worker = db.work({ task: onJob }, { concurrency });
    },
    async unfinished() {
      const { waiting, running } = await db.jobs.task.counts();
      return waiting + running;
    },
    async close() {
      await worker.stop();
      await kv.close();
    },
  };
}

/** What is compared: each opens a queue in a folder or on a server. */
export const queues = {
  "Keywright on LevelDB": ({ folder }) => openKv(`${folder}/kv`).then(keywright),
  "Keywright on PostgreSQL": async ({ postgres }) => {
    const { postgresEngine } = await import("@keywright/postgres");
    return await keywright(await openKv(await postgresEngine({ connectionString: postgres })));
  },
  "pg-boss on PostgreSQL": async ({ postgres }) => {
    const PgBoss = peer("pg-boss");
    const boss = new PgBoss(postgres);
    await boss.start();
    await boss.createQueue("task");
    return {
      enqueue: (n) => boss.send("task", { n }),
      // It looks for jobs at most every 0.5 seconds, so large batches are its fastest way.
      async work(onJob) {
        const options = { batchSize: 1000, pollingIntervalSeconds: 0.5 };
        await boss.work("task", options, (jobs) => jobs.forEach(onJob));
      },
      unfinished: () => boss.getQueueSize("task", { before: "completed" }),
      close: () => boss.stop({ graceful: false, wait: true }),
    };
  },
  "BullMQ on Redis": async ({ redis }) => {
    const { Queue, Worker } = peer("bullmq");
    const connection = { host: "127.0.0.1", port: redis, maxRetriesPerRequest: null };
    const queue = new Queue("task", { connection });
    await queue.waitUntilReady();
    let worker;
    return {
      async unfinished() {
        const { wait, active } = await queue.getJobCounts("wait", "active");
        return wait + active;
      },
      enqueue: (n) => queue.add("task", { n }, { removeOnComplete: true }),
      work(onJob) {
        worker = new Worker("task", async () => onJob(), { connection, concurrency });
      },
      async close() {
        await worker.close();
        await queue.close();
      },
    };
  },
};
