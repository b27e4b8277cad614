import { stripVTControlCharacters } from "node:util";
import { openKv } from "@keywright/core";
import { createDatabase, defineJob } from "@keywright/orm";
import { afterEach, beforeEach, expect, it } from "vitest";
import * as z from "zod";
import { createProject, type Project } from "./project.js";

const SendMail = defineJob({
  name: "send-mail",
  schema: z.object({ to: z.string() }),
  retry: { attempts: 1 },
});
const config = `import { openKv } from "@keywright/core";
export default { models: "models/*.ts", output: "db", database: () => openKv(new URL("data", import.meta.url).pathname) };
`;

let project: Project;
let ids: string[];

/** Calls with the jobs of the project's database, which is closed afterwards. */
async function withJobs<T>(use: (db: Awaited<ReturnType<typeof open>>) => Promise<T>): Promise<T> {
  await using kv = await openKv(project.path("data"));
  return await use(await open(kv));
}

async function open(kv: Awaited<ReturnType<typeof openKv>>) {
  return await createDatabase({ kv, models: {}, jobs: { sendMail: SendMail } });
}

beforeEach(async () => {
  project = await createProject({ "keywright.config.ts": config });
  ids = await withJobs(async (db) => {
    const bad = ["\u001b[31ma@example.com", "中文@example.com", "c@example.com"];
    const failed = await db.jobs.sendMail.enqueueMany(bad.map((to) => ({ to })));
    const worker = db.work(
      {
        sendMail: ({ payload }) => {
          throw new Error(`The address ${payload.to} does not exist, or it is not reachable now`);
        },
      },
      { onError: () => undefined },
    );
    await expect.poll(async () => (await db.jobs.sendMail.counts()).failed).toBe(3);
    await worker.stop();
    await db.jobs.sendMail.enqueue({ to: "d@example.com" });
    await db.jobs.sendMail.enqueue({ to: "e@example.com" }, { delay: "1 day" });
    return failed.map(({ id }) => id);
  });
});

afterEach(async () => {
  await project.remove();
});

const counts = () => withJobs((db) => db.jobs.sendMail.counts());

async function json(...args: readonly string[]) {
  const { stdout, exitCode } = await project.run(["jobs", ...args, "--json"]);
  return { ...JSON.parse(stdout).result, exitCode };
}

it("counts the jobs of each name, and lists those of one", async () => {
  const { stdout, exitCode } = await project.run(["jobs", "list"]);
  expect(exitCode).toBe(0);
  const lines = stdout.trimEnd().split("\n");
  expect(lines).toEqual([
    "name       waiting  delayed  running  failed",
    "send-mail        1        1        0       3",
  ]);
  expect(await json("list")).toEqual({
    names: [{ name: "send-mail", waiting: 1, delayed: 1, running: 0, failed: 3 }],
    exitCode: 0,
  });
  const listed = await json("list", "send-mail", "--take", "2");
  expect(listed.jobs.map(({ id }: { id: string }) => id)).toEqual(ids.slice(0, 2));
  expect(listed.jobs[0]).toMatchObject({
    state: "failed",
    attempts: 1,
    failure: { name: "Error" },
  });
  const rest = await json("list", "send-mail", "--after", listed.cursor);
  expect(rest).toMatchObject({ jobs: [{ id: ids[2] }], cursor: null });
  const delayed = await json("list", "send-mail", "--state", "delayed");
  expect(delayed.jobs).toMatchObject([{ payload: { to: "e@example.com" } }]);
  expect((await project.run(["jobs", "list", "other"])).stdout).toBe(
    "No jobs of other are failed.\n",
  );
});

it.each([60, 120])("fits a terminal of %i columns, and runs nothing in it", async (columns) => {
  const { stdout } = await project.run(["jobs", "list", "send-mail"], columns);
  // The command may style its own words, if the environment asks for colors.
  expect(stdout).not.toContain("\u001b[31m");
  const lines = stripVTControlCharacters(stdout).trimEnd().split("\n");
  expect(lines).toHaveLength(columns === 60 ? 8 : 4);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns);
  const text = "Error: The address 中文@example.com does";
  expect(lines[columns === 60 ? 5 : 2]).toContain(text);
});

it("lets failed jobs wait again", async () => {
  expect(await json("retry", "send-mail", ids[0]!)).toEqual({
    count: 1,
    notFound: [],
    exitCode: 0,
  });
  expect(await json("retry", "send-mail", ids[0]!)).toEqual({
    ...{ count: 0, notFound: [ids[0]], exitCode: 1 },
  });
  const { stdout } = await project.run(["jobs", "retry", "send-mail", "--all"]);
  expect(stdout).toBe("2 jobs of send-mail wait again.\n");
  expect(await counts()).toMatchObject({ waiting: 4, failed: 0 });
});

it("removes failed jobs, and those that wait", async () => {
  const { stdout } = await project.run(["jobs", "discard", "send-mail", ids[0]!, ids[1]!]);
  expect(stdout).toBe("2 jobs of send-mail removed.\n");
  const { jobs } = await json("list", "send-mail", "--state", "waiting");
  const cancelled = await project.run(["jobs", "cancel", "send-mail", jobs[0].id, ids[2]!]);
  expect(cancelled).toMatchObject({ exitCode: 1, stdout: "1 job of send-mail cancelled.\n" });
  expect(cancelled.stderr).toContain(`or it is in another state: ${ids[2]}`);
  expect(await counts()).toEqual({ waiting: 0, delayed: 1, running: 0, failed: 1 });
});

it.each([
  [["retry", "send-mail"], "either ids or --all"],
  [["discard", "send-mail", "a", "--all"], "either ids or --all"],
  [["list", "send-mail", "--state", "gone"], "failed, waiting, delayed, running"],
  [["list", "send-mail", "--take", "0"], "positive whole number"],
])("refuses %j", async (args, message) => {
  const { exitCode, stderr } = await project.run(["jobs", ...args]);
  expect(exitCode).toBe(2);
  expect(stderr.replaceAll(/\s+/g, " ")).toContain(message);
});

it("writes nothing into a database without jobs", async () => {
  const other = await createProject({ "keywright.config.ts": config });
  try {
    const entries = async () => {
      await using kv = await openKv(other.path("data"));
      const keys: unknown[] = [];
      for await (const { key } of kv.list({ prefix: [] })) keys.push(key);
      return keys;
    };
    await (await openKv(other.path("data"))).close();
    expect((await other.run(["jobs", "list"])).stdout).toBe("The database has no jobs.\n");
    const { stdout } = await other.run(["jobs", "list", "send-mail"]);
    expect(stdout).toBe("No jobs of send-mail are failed.\n");
    for (const command of ["retry", "discard", "cancel"])
      expect((await other.run(["jobs", command, "send-mail", "id"])).exitCode).toBe(1);
    const all = await other.run(["jobs", "retry", "send-mail", "--all"]);
    expect(all).toMatchObject({ exitCode: 0, stdout: "0 jobs of send-mail wait again.\n" });
    expect(await entries()).toEqual([]);
  } finally {
    await other.remove();
  }
});
