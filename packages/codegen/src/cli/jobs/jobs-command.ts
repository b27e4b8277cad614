import type { KvLike } from "@keywright/core";
import type { JobQueues, JobState, StoredJobs } from "@keywright/orm";
import { openStoredJobs } from "@keywright/orm/codegen";
import { Command, Option } from "commander";
import { withConfiguredKv } from "../inspect/run-inspect-command.js";
import { type ExitCode, exitCodes } from "../terminal/process/exit-codes.js";
import { positiveInteger, type ResultOptions, withResultOptions } from "../terminal/run-options.js";
import type { Terminal } from "../terminal/terminal.js";
import { counted } from "../terminal/text/counted.js";
import { helpText, writeText } from "../terminal/text/wrap.js";
import { writeJson } from "../terminal/write-json.js";
import { jobsTable, topicsTable } from "./jobs-text.js";

const states = ["failed", "waiting", "delayed", "running"] as const;

const help = helpText(`
The names are those of \`defineJob\`. The commands need no definitions, so they also show and change jobs
that no program knows any more.

Examples:
  $ keywright jobs list
  $ keywright jobs list send-mail --state waiting
  $ keywright jobs retry send-mail 01K6ZJ6JT3ZQ4YB5E1H2N8W9XC
  $ keywright jobs discard send-mail --all
  $ keywright jobs cancel send-mail 01K6ZJ6JT3ZQ4YB5E1H2N8W9XC

Exit codes: 0 done, 1 failed or a job was not changed, 2 wrong usage.`);

type Exit = (code: ExitCode) => void;

interface ListOptions extends ResultOptions {
  readonly state: JobState;
  readonly take: number;
  readonly after?: string;
}

interface FailedOptions extends ResultOptions {
  readonly all?: boolean;
}

/** The number of jobs that a command has changed, and the ids that it has not found. */
interface Changed {
  readonly count: number;
  /** Jobs that stay failed, because another job has their unique key. */
  readonly skipped?: number;
  readonly notFound: readonly string[];
}

export function jobsCommand(terminal: Terminal, exit: Exit): Command {
  return new Command("jobs")
    .description("list, retry, discard and cancel jobs")
    .addHelpText("after", help)
    .addCommand(listCommand(terminal, exit))
    .addCommand(
      failedCommand("retry", "let failed jobs wait again, as if they had never been tried", {
        ...{ terminal, exit, done: "wait again" },
        change: (jobs, which) => jobs.retry(which),
      }),
    )
    .addCommand(
      failedCommand("discard", "remove failed jobs", {
        ...{ terminal, exit, done: "removed" },
        change: (jobs, which) => jobs.discard(which),
      }),
    )
    .addCommand(cancelCommand(terminal, exit));
}

function listCommand(terminal: Terminal, exit: Exit): Command {
  return withResultOptions(
    new Command("list")
      .description("count the jobs of each name, or list those of one name")
      .argument("[name]", "the name of the jobs to list")
      .addOption(
        new Option("--state <state>", "the state of the listed jobs")
          .choices(states)
          .default("failed"),
      )
      .addOption(
        new Option("--take <n>", "the maximum number of jobs")
          .argParser(positiveInteger)
          .default(20),
      )
      .option("--after <cursor>", "continue after the cursor that the last list has printed"),
  ).action(async (name: string | undefined, options: ListOptions) => {
    const { stdout } = terminal;
    await withJobs(terminal, options, async (jobs) => {
      if (name === undefined) {
        const stored = (await jobs?.stored()) ?? [];
        const names = stored.map(({ isKnown: _, ...counts }) => counts);
        if (options.json) writeJson(terminal, { names });
        else stdout.write(`${topicsTable(names, stdout)}\n`);
        return;
      }
      const { state, take, after } = options;
      const list = { state, take, ...(after !== undefined && { cursor: after }) };
      const page = await jobs?.named(name).list(list);
      const { items, cursor } = page ?? { items: [], cursor: null };
      if (options.json) writeJson(terminal, { jobs: items, cursor });
      else stdout.write(`${jobsTable(items, { name, state, cursor }, stdout)}\n`);
    });
    exit(exitCodes.done);
  });
}

function failedCommand(
  command: string,
  description: string,
  settings: {
    readonly terminal: Terminal;
    readonly exit: Exit;
    readonly done: string;
    readonly change: (
      jobs: StoredJobs,
      which: string | { readonly all: true },
    ) => Promise<{ readonly count: number; readonly skipped?: number }>;
  },
): Command {
  const { terminal, exit, done, change } = settings;
  return withResultOptions(
    new Command(command)
      .description(description)
      .argument("<name>", "the name of the jobs")
      .argument("[ids...]", "the ids of the jobs")
      .option("--all", "all failed jobs of the name"),
  ).action(async (name: string, ids: string[], options: FailedOptions, self: Command) => {
    if (options.all ? ids.length > 0 : ids.length === 0)
      self.error("error: pass either ids or --all");
    await withJobs(terminal, options, async (jobs) => {
      const changed = await changeEach(options.all ? [{ all: true }] : ids, async (which) =>
        jobs === undefined ? { count: 0 } : await change(jobs.named(name), which),
      );
      report(terminal, { changed, name, done, options });
      exit(isComplete(changed) ? exitCodes.done : exitCodes.failed);
    });
  });
}

function cancelCommand(terminal: Terminal, exit: Exit): Command {
  return withResultOptions(
    new Command("cancel")
      .description("remove jobs that wait, and end those that run")
      .argument("<name>", "the name of the jobs")
      .argument("<ids...>", "the ids of the jobs"),
  ).action(async (name: string, ids: string[], options: ResultOptions) => {
    await withJobs(terminal, options, async (jobs) => {
      const changed = await changeEach(ids, async (id) => ({
        count: (await jobs?.named(name).cancel(id as string)) ? 1 : 0,
      }));
      report(terminal, { changed, name, done: "cancelled", options });
      exit(isComplete(changed) ? exitCodes.done : exitCodes.failed);
    });
  });
}

/** @param use gets the jobs of the database. Undefined if it never had any. */
async function withJobs(
  terminal: Terminal,
  { config }: ResultOptions,
  use: (jobs: JobQueues<Record<never, never>> | undefined) => Promise<void>,
): Promise<void> {
  await withConfiguredKv(terminal, config, async (kv: KvLike) => {
    await use(await openStoredJobs(kv));
  });
}

async function changeEach(
  each: readonly (string | { readonly all: true })[],
  change: (which: string | { readonly all: true }) => Promise<{ count: number; skipped?: number }>,
): Promise<Changed> {
  let [count, skipped] = [0, 0];
  const notFound: string[] = [];
  for (const which of each) {
    const result = await change(which);
    count += result.count;
    skipped += result.skipped ?? 0;
    if (typeof which === "string" && result.count === 0 && !result.skipped) notFound.push(which);
  }
  return { count, ...(skipped > 0 && { skipped }), notFound };
}

function isComplete({ skipped = 0, notFound }: Changed): boolean {
  return skipped === 0 && notFound.length === 0;
}

function report(
  terminal: Terminal,
  {
    changed,
    name,
    done,
    options,
  }: {
    readonly changed: Changed;
    readonly name: string;
    readonly done: string;
    readonly options: ResultOptions;
  },
): void {
  const { count, skipped = 0, notFound } = changed;
  if (options.json) {
    writeJson(terminal, changed);
    return;
  }
  const verb = done === "wait again" ? (count === 1 ? "waits again" : done) : done;
  writeText(terminal.stdout, `${counted(count, "job")} of ${name} ${verb}.`);
  if (skipped > 0)
    writeText(
      terminal.stderr,
      `${counted(skipped, "job")} stayed failed, because another job has the unique key.`,
    );
  if (notFound.length > 0)
    writeText(
      terminal.stderr,
      `There is no such job of ${name}, or it is in another state: ${notFound.join(", ")}.`,
    );
}
