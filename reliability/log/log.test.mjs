import { isBuiltin } from "node:module";
import { describe, expect, it } from "vitest";
import { missingPreload } from "../shared/preload.mjs";
import { Random } from "../shared/random.mjs";
import { cutPowerOfLog } from "./cut-power-of-log.mjs";
import { failCallsOfLog } from "./fail-calls-of-log.mjs";
import { LogOracle } from "./log-oracle.mjs";
import { runLog } from "./log-run.mjs";
import { places } from "./places.mjs";

const missing = missingPreload();
const seed = Date.now();

// It waits for other processes, on whatever machine.
describe("writers, a replica and backups that are killed", { timeout: 300_000 }, () => {
  for (const name of ["leveldb", "sqlite"]) {
    const { isInstalled = true, title } = places[name];
    it.skipIf(!isInstalled)(`have each commit once and in order on ${title}`, async () => {
      const server = await places[name].start();
      const work = { place: places[name], server, kills: 6, moments: 20 };
      const { commits, problems } = await runLog({ ...work, random: new Random(seed) });
      expect(problems, `seed ${seed}`).toEqual([]);
      expect(commits).toBeGreaterThan(0);
    });
  }
});

const files = [undefined, "data.mdb", ...(isBuiltin("node:sqlite") ? ["data.sqlite"] : [])];

describe.skipIf(missing !== undefined)(`a power cut${missing ? `: needs ${missing}` : ""}`, () => {
  for (const file of files) {
    it.each(["full", "relaxed"])(
      `of ${file ?? "a folder"} leaves a backup that is continued or made again: %s`,
      async (durability) => {
        const work = { file, durability, commits: 400, valueBytes: 1000, cuts: 6 };
        const { problems } = await cutPowerOfLog({ ...work, random: new Random(seed) });
        expect(problems, `seed ${seed}`).toEqual([]);
      },
      300_000,
    );
  }
});

it.skipIf(missing !== undefined)(
  `a call of the system that fails costs no commit of feed and backup${missing ? `: needs ${missing}` : ""}`,
  async () => {
    const { refused, problems } = await failCallsOfLog(30, new Random(seed));
    expect(problems, `seed ${seed}`).toEqual([]);
    expect(refused).toBeGreaterThan(10);
  },
  300_000,
);

describe("the oracle", () => {
  const begin = (id, ...changes) => `begin ${JSON.stringify({ id, changes })}`;
  const stamp = (n) => String(n).padStart(20, "0");
  const set = (value) => [
    { type: "set", key: ["set", 1], before: null, after: { value, versionstamp: "" } },
  ];
  const lines = [begin("a", ["set", 1, 0]), `done a ${stamp(1)}`, begin("b", ["set", 1, 0])];
  const first = { versionstamp: stamp(1), context: { id: "a" }, changes: set("a ") };
  const second = { versionstamp: stamp(2), context: { id: "b" }, changes: set("b ") };

  async function problemsOf(feed, more = []) {
    const oracle = new LogOracle();
    for (const line of [...lines, ...more]) oracle.note(line);
    return await oracle.readFeed(feed);
  }

  it("accepts a commit whose end was not seen with or without its effect", async () => {
    expect(await problemsOf([first])).toEqual([]);
    expect(await problemsOf([first, second])).toEqual([]);
  });

  it.each([
    ["missing", [second], []],
    ["twice", [first, { ...first, versionstamp: stamp(3) }], []],
    ["order", [second, first], []],
    ["more", [first, second], ["refused b"]],
    ["other", [{ ...first, versionstamp: stamp(3) }], []],
    ["feed", [{ ...first, changes: set("c ") }], []],
  ])("reports what is wrong: %s", async (kind, feed, more) => {
    const problems = await problemsOf(feed, more);
    expect(problems.map((problem) => problem.split(":")[0])).toContain(kind);
  });
});
