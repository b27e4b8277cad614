import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import type { KvKey } from "@keywright/core";
import { createDatabase } from "@keywright/orm";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { run } from "../src/cli/run.js";
import { formatKey } from "../src/inspect/entries/format-key.js";
import { City } from "./fixtures/plain/models/city.js";
import {
  config,
  createInspectedProject,
  type InspectedProject,
  letters,
  many,
} from "./inspect-project.js";

let project: InspectedProject;

beforeEach(async () => {
  project = await createInspectedProject();
});

afterEach(async () => {
  await project.remove();
});

describe("inspect ls", () => {
  const lines = async (...args: string[]) => {
    const { exitCode, stdout } = await project.run(["inspect", "ls", ...args]);
    expect(exitCode).toBe(0);
    return stdout.split("\n").slice(0, -1);
  };

  it("lists keys, of a range, from either end", async () => {
    await project.fill(letters);
    const [a, ...rest] = ['["a"]', '["b", b64:AQID, true]', '["b", 1]', '["b", 2n]', '["c"]'];
    expect(await lines()).toEqual([a, ...rest]);
    expect(await lines('["b"]', "--reverse")).toEqual(rest.slice(0, 3).reverse());
    expect(await lines("--limit", "2")).toEqual([a, rest[0]]);
    expect(await lines("--start", '["b", 2n]')).toEqual(rest.slice(2));
    expect(await lines("--end", '["b"]')).toEqual([a]);
    expect(await lines('["b"]', "--start", '["b", 1]', "--end", '["b", 2n]')).toEqual([rest[1]]);
    expect(await lines('["b"]', "--values")).toEqual([
      '["b", b64:AQID, true]  null',
      "[\"b\", 1]  'one'",
      "[\"b\", 2n]  Map(1) { 'x' => -0 }",
    ]);
    expect(await lines('["c"]')).toEqual([]);
  });

  it("prints JSON", async () => {
    await project.empty();
    expect(JSON.parse((await lines("--json")).join("\n")).result).toEqual([]);
    await project.fill(letters);
    const entries = JSON.parse((await lines('["b"]', "--values", "--json")).join("\n")).result;
    expect(entries).toMatchObject([
      { key: ["b", { $: "b64:AQID" }, true], value: null },
      { key: ["b", 1], value: "one", versionstamp: expect.stringMatching(/^[0-9a-f]{20}$/) },
      { key: ["b", { $: "2n" }], encoded: expect.any(String) },
    ]);
  });

  it.each([
    [["users"], "KW_KEY_NOTATION"],
    [["--start", '["a"'], "KW_KEY_NOTATION"],
    [['["b"]', "--start", '["c"]'], "KW_SELECTOR_INVALID"],
    [['["b"]', "--start", '["b", 1]', "--end", '["c"]'], "KW_SELECTOR_INVALID"],
    [["--limit", "0"], "positive whole number"],
  ])("refuses %j", async (args, message) => {
    await project.empty();
    const { exitCode, stdout, stderr } = await project.run(["inspect", "ls", ...args]);
    expect(stderr).toContain(message);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
  });

  const own = [["__keywright"], ["__keywright", "catalog", "a"]] as const;
  const others = [["__keywrighs"], ["__keywright\0"], ["__keywrights"], [1]] as const;
  const shown = (keys: readonly KvKey[]) => keys.map((key) => formatKey(key));
  const fillOwn = () => project.fill([...own, ...others].map((key) => [key, 1]));

  it("leaves Keywright's own keys out, from either end and of a range", async () => {
    await fillOwn();
    const [before, behind, ...rest] = shown(others);
    expect(await lines()).toEqual([before, behind, ...rest]);
    expect(await lines("--reverse")).toEqual([...rest.reverse(), behind, before]);
    expect(await lines("--limit", "2")).toEqual([before, behind]);
    expect(await lines("--limit", "1", "--reverse")).toEqual(["[1]"]);
    expect(await lines("--start", '["__keywrighs", 1]', "--end", "[1]")).toHaveLength(2);
    expect(await lines("--start", '["__keywrights"]')).toEqual(shown(others.slice(2)));
    expect(await lines("--end", '["__keywrighs"]')).toEqual([]);
    expect(JSON.parse((await lines("--json")).join("\n")).result).toHaveLength(4);
  });

  it("lists Keywright's own keys where they are asked for", async () => {
    await fillOwn();
    const keys = shown([others[0], ...own, ...others.slice(1)]);
    expect(await lines("--all")).toEqual(keys);
    expect(await lines('["__keywright"]')).toEqual(shown(own.slice(1)));
    expect(await lines("--start", '["__keywright"]', "--end", "[1]")).toEqual(keys.slice(1, -1));
  });

  it("says that keys of Keywright's own are left out", async () => {
    await project.fill([[own[1], 1]]);
    const notes = [];
    for (const args of [[], ["--all", "--end", '["_"]'], ['["a"]']]) {
      notes.push((await project.run(["inspect", "ls", ...args])).stderr);
    }
    const leftOut = "No keys, except internal ones. To list these, use --all.\n";
    expect(notes).toEqual([leftOut, "No keys.\n", "No keys.\n"]);
  });

  it("shows a hundred keys on a terminal, and says that there are more", async () => {
    const onTerminal = async (...args: string[]) => {
      const written: string[] = [];
      const stream = { isTTY: true, write: (text: string) => written.push(text) };
      const stdout = stream as unknown as NodeJS.WriteStream;
      const stdin = {} as NodeJS.ReadStream;
      const enter = () => undefined;
      const terminal = { folder: project.folder, enter, stdin, stdout, stderr: stdout };
      expect(await run(["inspect", "ls", ...args], terminal)).toBe(0);
      return stripVTControlCharacters(written.join("")).split("\n").slice(0, -1);
    };
    await project.fill(many(100));
    expect(await onTerminal()).toHaveLength(100);
    await project.fill([[["one more"], 1]]);
    const first = await onTerminal();
    expect(first).toHaveLength(101);
    expect(first.slice(-2)).toEqual([
      '["many", 99]',
      "These are the first 100 keys. To list more, use --limit.",
    ]);
    const last = await onTerminal("--reverse");
    expect(last[0]).toBe('["one more"]');
    expect(last.at(-1)).toBe("These are the last 100 keys. To list more, use --limit.");
    expect(await onTerminal("--limit", "101")).toHaveLength(101);
    expect(JSON.parse((await onTerminal("--json")).join("\n")).result).toHaveLength(101);
    expect(await lines()).toHaveLength(101);
  });
});

describe("inspect get", () => {
  it("shows a value, its versionstamp and its expiry", async () => {
    await project.withKv((kv) =>
      kv.set(["soon", 1n], { at: new Set([1n]) }, { expireIn: 3_600_000 }),
    );
    const { exitCode, stdout } = await project.run(["inspect", "get", '["soon", 1n]']);
    expect(stdout).toMatch(/^key +\["soon", 1n\]\nversionstamp +[0-9a-f]{20}\nsize +\d+ bytes\n/);
    expect(stdout).toMatch(/\nexpires +\d{4}-\d\d-\d\dT.*Z\n\n\{ at: Set\(1\) \{ 1n \} \}\n$/);
    expect(exitCode).toBe(0);
  });

  it("prints JSON", async () => {
    await project.fill([[["a", 1n], { n: 2n, at: new Date(0) }]]);
    const { stdout } = await project.run(["inspect", "get", '["a", {"$": "1n"}]', "--json"]);
    expect(JSON.parse(stdout).result).toEqual({
      key: ["a", { $: "1n" }],
      value: { n: { $: "2n" }, at: { $: "date:1970-01-01T00:00:00.000Z" } },
      versionstamp: expect.any(String),
    });
  });

  it("shows nothing that a terminal takes for a command", async () => {
    const error = new Error("\u001b]0;title\u0007\u009b2J");
    await project.fill([[["e"], { error, text: "\u001b[2J" }]]);
    const { stdout } = await project.run(["inspect", "get", '["e"]']);
    expect(stdout).toContain("title");
    expect(stdout.replaceAll("\n", "")).not.toMatch(/\p{Cc}/u);
  });

  it("fails where there is nothing, or the key is none", async () => {
    await project.empty();
    const { exitCode, stderr } = await project.run(["inspect", "get", '["a", 1n]']);
    expect(stderr).toContain(
      'KW_ENTRY_MISSING: ["a", 1n]: the database has no entry under this key; look',
    );
    expect(exitCode).toBe(1);
    expect((await project.run(["inspect", "get", "[1n"])).exitCode).toBe(2);
    expect((await project.run(["inspect", "get", "[]"])).exitCode).toBe(2);
    expect((await project.run(["inspect", "get"])).exitCode).toBe(2);
  });
});

describe("inspect stats", () => {
  beforeEach(async () => {
    const models = fileURLToPath(new URL("./fixtures/plain/models/city.ts", import.meta.url));
    await project.write({
      "keywright.config.ts": config.replace('"no-models/*.ts"', JSON.stringify(models)),
    });
  });

  it("counts all entries once, each where it belongs", async () => {
    await project.withKv(async (kv) => {
      const db = await createDatabase({ kv, models: { cities: City } });
      expect(Object.keys(db)).toContain("cities");
    });
    await project.fill([
      [["loose"], 1],
      [["loose", 2], 2],
      [["cities", "one", "too many parts"], 3],
      [["__keywright", "left by another version"], 4],
      ...Array.from({ length: 25 }, (_, i) => [[i], i] as const),
    ]);
    const { exitCode, stdout } = await project.run(["inspect", "stats", "--json"]);
    expect(exitCode).toBe(0);
    const stats = JSON.parse(stdout).result;
    const entries = await project.content();
    const bytes = entries
      .map((entry) => entry.split(" ").slice(0, 2).join("").length / 2)
      .reduce((a, b) => a + b);
    expect(stats.total).toEqual({ keys: entries.length, bytes });
    const [city] = stats.models;
    expect(city).toMatchObject({
      model: "cities",
      declared: true,
      rows: { keys: 0 },
      catalog: { keys: 2 },
    });
    expect(city.databaseSchema).toBe(city.projectSchema);
    expect(stats.own.keys).toBe(1);
    expect(stats.others).toHaveLength(20);
    expect(stats.others).toContainEqual(expect.objectContaining({ prefix: ["cities"], keys: 1 }));
    expect(stats.others).toContainEqual(expect.objectContaining({ prefix: ["loose"], keys: 2 }));
    const parts = [
      city.rows,
      ...Object.values(city.indexes),
      city.counters,
      city.catalog,
      city.other,
    ];
    const sizes = [...parts, stats.own, ...stats.others, stats.rest] as {
      keys: number;
      bytes: number;
    }[];
    expect(sizes.reduce((sum, { keys }) => sum + keys, 0)).toBe(entries.length);
    expect(sizes.reduce((sum, size) => sum + size.bytes, 0)).toBe(bytes);
    expect(stats.migration.models[0].model).toBe("cities");
  });

  it("writes nothing, also where the database does not know the models", async () => {
    await project.fill([[["cities", "x"], {}]]);
    const before = await project.content();
    const { exitCode, stdout } = await project.run(["inspect", "stats"]);
    expect(stdout).toMatch(/^cities +1 .*new to the database$/m);
    expect(exitCode).toBe(0);
    expect(await project.content()).toEqual(before);
  });
});
