import { openKv } from "@keywright/core";
import { createDatabase, defineJob } from "@keywright/orm";
import * as z from "zod";

/** How many workers run jobs at the same time, and how many jobs each of them. */
const workers = 4;
const concurrency = 10;
/** While workers take the same jobs, each draws its jobs from so many times as many at the head. */
const largestSpread = 8;

/**
 * Runs jobs of mixed priorities, which were all enqueued before, with several workers, and looks
 * for jobs that began before others of a higher priority which were further from the head of the
 * queue than workers look.
 *
 * @returns how many jobs of a higher priority at most began after a job, and what is wrong.
 */
export async function orderProblems({ jobs }) {
  const kv = await openKv();
  const Task = defineJob({ name: "task", schema: z.object({ priority: z.int() }) });
  const db = await createDatabase({ kv, models: {}, jobs: { task: Task } });
  for (let n = 0; n < jobs; n++) {
    const priority = (n * 7) % 4;
    await db.jobs.task.enqueue({ priority }, { priority });
  }
  const begun = [];
  const running = Array.from({ length: workers }, () =>
    db.work({ task: ({ priority }) => void begun.push(priority) }, { concurrency }),
  );
  while (begun.length < jobs) await new Promise((resolve) => setTimeout(resolve, 10));
  await Promise.all(running.map((worker) => worker.stop()));
  await kv.close();

  let latest = 0;
  for (const [i, priority] of begun.entries()) {
    const after = begun.slice(i + 1).filter((other) => other > priority).length;
    latest = Math.max(latest, after);
  }
  const allowed = workers * concurrency * largestSpread;
  const problems = [];
  if (begun.length !== jobs) problems.push(`other: ${begun.length} of ${jobs} jobs began`);
  if (latest > allowed)
    problems.push(`order: ${latest} jobs of a higher priority began after a job`);
  return { latest, problems };
}
