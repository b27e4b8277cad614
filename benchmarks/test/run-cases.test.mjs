import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { runNoted } from "./run-noted-cases.mjs";

let folder;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "keywright-benchmarks-"));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

it("measures each contender in a process of its own, in turns", async () => {
  const figures = await runNoted("notes", folder);
  const calls = notedCalls();
  const round = ["first run", "second run"];
  const listed = calls.map(({ name, call }) => `${name} ${call}`);
  expect(listed.slice(0, 2).sort()).toEqual(["first open", "second open"]);
  expect(listed.slice(2)).toEqual([
    ...["first verify", "second verify"],
    ...[...round, ...round, ...round],
    ...["first close", "second close"],
  ]);
  const ids = processes(calls);
  expect(ids).toHaveLength(2);
  expect(ids).not.toContain(process.pid);
  expect(ids.filter(isAlive)).toEqual([]);
  // The first of three rounds is not measured.
  expect(figures).toEqual({
    notes: {
      first: [expect.any(Number), expect.any(Number)],
      second: [expect.any(Number), expect.any(Number)],
    },
  });
});

it("ends with the error and the name of a contender that fails", async () => {
  await expect(runNoted("throws", folder)).rejects.toThrow(
    /^second: RangeError: the store is full\n/,
  );
  expect(processes(notedCalls()).filter(isAlive)).toEqual([]);
});

it("ends if the process of a contender ends", async () => {
  await expect(runNoted("exits", folder)).rejects.toThrow(
    "The process of second ended with code 3.",
  );
  expect(processes(notedCalls()).filter(isAlive)).toEqual([]);
});

it("leaves no processes if it is killed while a contender works", async () => {
  const program = join(import.meta.dirname, "run-noted-cases.mjs");
  const run = spawn(process.execPath, [program, "hangs", folder], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(run.stdout, "data");
  run.kill("SIGKILL");
  // The processes of the contenders have the same output, which is closed after all have ended.
  await once(run, "close");
  expect(processes(notedCalls())).toHaveLength(2);
});

function notedCalls() {
  const lines = readFileSync(join(folder, "calls"), "utf8").trim().split("\n");
  return lines.map((line) => {
    const [name, call, id] = line.split(" ");
    return { name, call, id: Number(id) };
  });
}

function processes(calls) {
  return [...new Set(calls.map(({ id }) => id))];
}

function isAlive(id) {
  try {
    process.kill(id, 0);
    return true;
  } catch {
    return false;
  }
}
