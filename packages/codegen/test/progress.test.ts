import { Writable } from "node:stream";
import { openKv } from "@keywright/core";
import { createDatabase, defineModel, type MigrationProgress, migrate } from "@keywright/orm";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import * as z from "zod";
import { migrationProgress, rowProgress } from "../src/progress/index.js";

const [hideCursor, showCursor] = ["\u001b[?25l", "\u001b[?25h"];

/** A stream that remembers what was written to it. */
function fakeStream(terminal?: { readonly columns: number }) {
  const written: string[] = [];
  const stream = new Writable({
    decodeStrings: false,
    write(chunk: string, _encoding, done) {
      written.push(chunk);
      done();
    },
  });
  Object.assign(stream, terminal === undefined ? {} : { isTTY: true, columns: terminal.columns });
  return {
    stream: stream as unknown as NodeJS.WriteStream,
    written,
    text: () => written.join(""),
  };
}

function progress(change: Partial<MigrationProgress> = {}): MigrationProgress {
  return {
    model: "cities",
    indexes: ["byPopulation"],
    phase: "building",
    done: 45_000,
    total: 135_233,
    perSecond: 210_000.4,
    ...change,
  };
}

const counting = progress({ phase: "counting", total: undefined, perSecond: 0 });

/** A run with every phase, in which nothing takes a second. */
const phases: readonly MigrationProgress[] = [
  ...[0, 70].map(
    (done) => ({ phase: "dropping", indexes: ["byOld"], done, total: undefined }) as const,
  ),
  ...[50, 100].map((done) => ({ phase: "counting", indexes: [], done, total: undefined }) as const),
  ...[0, 100].map((done) => ({ phase: "transforming", indexes: [], done }) as const),
  ...[0, 100].map((done) => ({ phase: "building", done }) as const),
  ...[0, 100].map((done) => ({ phase: "verifying", done }) as const),
].map((change) => progress({ total: 100, perSecond: 500, ...change }));

/** A text as it stands on the terminal. */
function visible(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is they that are taken away.
  return text.replace(/\u001b(?:[78]|\[[\d;?]*[a-zA-Z])/g, "");
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubEnv("NO_COLOR", "");
  vi.stubEnv("TERM", "xterm");
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
});

describe("on a terminal", () => {
  it("draws a bar with label, rows, rate and time left", () => {
    const { stream, text } = fakeStream({ columns: 120 });
    const { onProgress, stop } = migrationProgress({ stream });
    onProgress(progress());
    const [, before, full = "", rest = "", after] =
      // biome-ignore lint/suspicious/noControlCharactersInRegex: the bar stands between them.
      /(cities.*)\u001b\[36m(█+)(░+)\u001b\[39m(.*left)/.exec(text()) ?? [];
    expect([before, after]).toEqual([
      "cities byPopulation  ",
      "   45,000 / 135,233 rows   33 %  210,000 rows/s  1 s left",
    ]);
    expect(full.length + rest.length).toBeGreaterThanOrEqual(20);
    expect(full.length).toBe(Math.floor((full.length + rest.length) * (45_000 / 135_233)));
    onProgress(progress({ done: 135_233 }));
    stop();
    expect(text()).toContain("135,233 / 135,233 rows  100 %  210,000 rows/s  0 s left");
  });

  it("moves on with the time, at most ten times a second", () => {
    const { stream, text, written } = fakeStream({ columns: 120 });
    const { onProgress, stop } = migrationProgress({ stream });
    for (let done = 0; done <= 1000; done++) {
      onProgress(progress({ done, total: 1000 }));
      vi.advanceTimersByTime(1);
    }
    expect(text()).toContain("  499 / 1,000 rows   49 %");
    expect(written.filter((line) => line.includes(" rows")).length).toBeLessThan(15);
    stop();
  });

  it("says that it counts while it counts", () => {
    const { stream, text } = fakeStream({ columns: 120 });
    const { onProgress, stop } = migrationProgress({ stream });
    onProgress(counting);
    expect(text()).toContain("cities byPopulation  counting, 45,000 rows so far");
    expect(text()).not.toContain("%");
    stop();
  });

  it.each([
    ["transforming", [], "cities  changing rows  "],
    ["verifying", ["byPopulation"], "cities byPopulation  verifying  "],
  ] as const)("draws a bar for %s, with what is done in the label", (phase, indexes, label) => {
    const { stream, text } = fakeStream({ columns: 120 });
    const { onProgress, stop } = migrationProgress({ stream });
    onProgress(progress({ phase, indexes }));
    expect(visible(text())).toMatch(
      new RegExp(`${label}█+░+ {3}45,000 / 135,233 rows {3}33 % {2}210,000 rows/s {2}1 s left`),
    );
    stop();
  });

  it("says how many entries it has removed, without an end", () => {
    const { stream, text } = fakeStream({ columns: 120 });
    const { onProgress, stop } = migrationProgress({ stream });
    onProgress(progress({ phase: "dropping", total: undefined }));
    expect(text()).toContain("cities byPopulation  removing, 45,000 entries so far");
    expect(text()).not.toMatch(/%|█/);
    stop();
  });

  it("draws no full bar where nobody knows how many rows there are, and one when it is known", () => {
    const { stream, text } = fakeStream({ columns: 120 });
    const { onProgress, stop } = migrationProgress({ stream });
    const verifying = { phase: "verifying", done: 500 } as const;
    onProgress(progress({ ...verifying, total: undefined }));
    vi.advanceTimersByTime(200);
    expect(text()).toContain("cities byPopulation  verifying, 500 rows so far");
    expect(text()).not.toMatch(/%|█/);
    onProgress(progress({ ...verifying, total: 1000 }));
    stop();
    const lines = visible(text()).split("\n");
    expect(lines[0]).toMatch(/verifying {2}█+░+ {4}500 \/ 1,000 rows {3}50 %/);
    expect(lines).toHaveLength(2);
  });

  it("leaves a full bar above that of a second look, which begins anew", () => {
    const { stream, text } = fakeStream({ columns: 120 });
    const { onProgress, stop } = migrationProgress({ stream });
    const show = (done: number) => onProgress(progress({ phase: "verifying", done, total: 1000 }));
    for (const done of [0, 990, 0, 700, 1000]) show(done);
    onProgress(progress({ model: "towns", phase: "verifying", done: 5 }));
    stop();
    const [first = "", second = "", third = ""] = visible(text()).split("\n");
    expect(first).toMatch(/byPopulation {2}verifying {2}█+ {2}1,000 \/ 1,000 rows {2}100 %/);
    expect(second).toMatch(/byPopulation {2}verifying again {2}░+ .*█+ {2}1,000 \/ 1,000 rows/);
    expect(third).toMatch(/towns byPopulation {2}verifying {2}░+/);
  });

  it("keeps the bar's width while the words beside it change", () => {
    const { stream, written } = fakeStream({ columns: 90 });
    const { onProgress, stop } = migrationProgress({ stream });
    // From 12 hours to a second.
    for (const perSecond of [0, 2, 12.2, 721, 1529, 30_000, 150, 1_210_000]) {
      onProgress(progress({ perSecond }));
      vi.advanceTimersByTime(200);
    }
    stop();
    const bars = written.flatMap((line) => visible(line).match(/█+░+/) ?? []);
    const widths = bars.map(({ length }) => length);
    expect(widths.length).toBeGreaterThanOrEqual(7);
    // It makes room once, for the longest words.
    expect(new Set(widths.slice(2)).size).toBe(1);
    expect(widths[0]).toBeGreaterThanOrEqual(widths.at(-1) ?? 0);
  });

  it("tells the number of the indexes where their names leave no room", () => {
    const indexes = ["byPopulation", "byCountryAndName", "byNameCopy"];
    for (const [columns, label] of [
      [80, "cities 3 indexes  verifying"],
      [200, "cities byPopulation, byCountryAndName, byNameCopy  verifying"],
    ] as const) {
      const { stream, text } = fakeStream({ columns });
      const { onProgress, stop } = migrationProgress({ stream });
      onProgress(progress({ phase: "verifying", indexes }));
      stop();
      expect(visible(text())).toMatch(new RegExp(`${label}  █+░+ +45,000 / 135,233`));
    }
  });

  it("cuts no word where there is room for no bar", () => {
    const { stream, text } = fakeStream({ columns: 50 });
    const { onProgress, stop } = migrationProgress({ stream });
    onProgress(progress({ phase: "verifying", done: 135_233 }));
    stop();
    expect(visible(text())).toBe("cities byPopulation  verifying\n");
  });

  it("leaves the line of each phase above that of the next", () => {
    const { stream, text } = fakeStream({ columns: 120 });
    const { onProgress, stop } = migrationProgress({ stream });
    for (const each of phases) onProgress(each);
    stop();
    expect(visible(text()).trimEnd().split("\n")).toEqual([
      expect.stringContaining("cities byOld  removing, 70 entries so far"),
      expect.stringContaining("cities  counting, 100 rows so far"),
      expect.stringMatching(/cities {2}changing rows {2}.*█+ {2}100 \/ 100 rows {2}100 %/),
      expect.stringMatching(/cities byPopulation {2}.*█+ {2}100 \/ 100 rows {2}100 %/),
      expect.stringMatching(/cities byPopulation {2}verifying {2}.*█+ {2}100 \/ 100 rows {2}100 %/),
    ]);
  });

  it("uses no color where NO_COLOR is set", () => {
    vi.stubEnv("NO_COLOR", "1");
    const { stream, text } = fakeStream({ columns: 120 });
    const { onProgress, stop } = migrationProgress({ stream });
    onProgress(progress());
    stop();
    expect(text()).toContain("█");
    expect(text()).not.toContain("\u001b[36m");
  });

  it.each([20, 60, 75, 80, 90, 200])("keeps to one line of %d columns", (columns) => {
    const { stream, written } = fakeStream({ columns });
    const { onProgress, stop } = migrationProgress({ stream });
    onProgress(progress());
    vi.advanceTimersByTime(200);
    stop();
    const lines = written.filter((line) => line.includes("cities"));
    expect(lines).not.toEqual([]);
    for (const line of lines) {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: it is they that are taken away.
      const visible = line.replace(/\u001b\[\d+m/g, "");
      expect(visible.length).toBeLessThan(columns);
      if (columns < 75) continue;
      expect(visible).toMatch(/^cities byPopulation {2}█+░{5,} {3}45,000 \/ 135,233 /);
      expect(visible).toContain("  1 s left");
      if (columns >= 80) expect(visible).toContain("210,000 rows/s");
      if (columns >= 90) expect(visible).toContain("135,233 rows  ");
      if (columns >= 100) expect(visible).toContain("33 %");
    }
  });

  it("hides the cursor, and shows it again when it is stopped", () => {
    const { stream, text, written } = fakeStream({ columns: 120 });
    const { onProgress, stop } = migrationProgress({ stream });
    const listeners = process.listenerCount("SIGINT") + process.listenerCount("exit");
    onProgress(progress());
    expect(text()).toContain(hideCursor);
    expect(text()).not.toContain(showCursor);
    stop();
    expect(text().lastIndexOf(showCursor)).toBeGreaterThan(text().lastIndexOf(hideCursor));
    expect(text().endsWith("\n")).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
    expect(process.listenerCount("SIGINT") + process.listenerCount("exit")).toBe(listeners);
    const writes = written.length;
    stop();
    vi.advanceTimersByTime(5000);
    expect(written).toHaveLength(writes);
  });

  it("writes nothing where it is stopped before any progress", () => {
    const { stream, written } = fakeStream({ columns: 120 });
    const { stop } = migrationProgress({ stream });
    stop();
    stop();
    expect(written).toEqual([]);
  });

  it("leaves the bar of a build that is done above that of the next", () => {
    const { stream, text } = fakeStream({ columns: 120 });
    const { onProgress, stop } = migrationProgress({ stream });
    onProgress(progress({ done: 135_233 }));
    onProgress(progress({ model: "towns", done: 1 }));
    stop();
    const [first = "", second = "", ...rest] = text().split("\n");
    expect(first).toContain("135,233 / 135,233 rows  100 %");
    expect(second).toContain("towns byPopulation");
    expect(rest).toEqual([""]);
  });
});

describe("elsewhere", () => {
  it("writes a line at most once a second, and the last one", () => {
    const { stream, written } = fakeStream();
    const { onProgress, stop } = migrationProgress({ stream });
    onProgress(counting);
    for (let done = 0; done < 25; done++) {
      onProgress(progress({ done, total: 25, perSecond: 0 }));
      vi.advanceTimersByTime(100);
    }
    onProgress(progress({ done: 25, total: 25, perSecond: 10 }));
    const before = [
      "cities byPopulation  counting, 45,000 rows so far\n",
      "cities byPopulation  10 / 25 rows  40 %\n",
      "cities byPopulation  20 / 25 rows  80 %\n",
    ];
    expect(written).toEqual(before);
    stop();
    const last = "cities byPopulation  25 / 25 rows  100 %  10 rows/s  0 s left\n";
    expect(written).toEqual([...before, last]);
    stop();
    expect(written).toHaveLength(4);
  });

  it("writes plain text, without control characters", () => {
    const { stream, text } = fakeStream();
    const { onProgress, stop } = migrationProgress({ stream });
    onProgress(progress());
    stop();
    expect(text()).toBe(
      "cities byPopulation  45,000 / 135,233 rows  33 %  210,000 rows/s  1 s left\n",
    );
  });

  it("writes the last line of each build", () => {
    const { stream, written } = fakeStream();
    const { onProgress, stop } = migrationProgress({ stream });
    for (const model of ["cities", "towns"]) {
      for (const done of [0, 1, 2]) onProgress(progress({ model, done, total: 2 }));
    }
    stop();
    expect(written.map((line) => line.split("  ").slice(0, 2).join(": "))).toEqual([
      "cities byPopulation: 0 / 2 rows",
      "cities byPopulation: 2 / 2 rows",
      "towns byPopulation: 2 / 2 rows",
    ]);
  });

  it("writes a line of each phase, its last, though nothing takes a second", () => {
    const { stream, written } = fakeStream();
    const { onProgress, stop } = migrationProgress({ stream });
    for (const each of phases) onProgress(each);
    stop();
    expect(written).toEqual([
      "cities byOld  removing, 0 entries so far  500 entries/s\n",
      "cities byOld  removing, 70 entries so far  500 entries/s\n",
      "cities  counting, 100 rows so far  500 rows/s\n",
      "cities  changing rows  100 / 100 rows  100 %  500 rows/s  0 s left\n",
      "cities byPopulation  100 / 100 rows  100 %  500 rows/s  0 s left\n",
      "cities byPopulation  verifying  100 / 100 rows  100 %  500 rows/s  0 s left\n",
    ]);
  });

  it("tells a second look from the first, whose last line it writes", () => {
    const { stream, written } = fakeStream();
    const { onProgress, stop } = migrationProgress({ stream });
    for (const done of [0, 990, 0, 1000]) {
      onProgress(progress({ phase: "verifying", done, total: 1000 }));
    }
    stop();
    const rest = "1,000 / 1,000 rows  100 %  210,000 rows/s  0 s left\n";
    expect(written.slice(1)).toEqual([
      `cities byPopulation  verifying  ${rest}`,
      `cities byPopulation  verifying again  ${rest}`,
    ]);
  });

  it("treats a dumb terminal as a pipe", () => {
    vi.stubEnv("TERM", "dumb");
    const { stream, text } = fakeStream({ columns: 120 });
    const { onProgress, stop } = migrationProgress({ stream });
    onProgress(progress());
    stop();
    expect(text()).not.toContain("\u001b");
  });

  it.each([
    [59.2, "1 min 0 s left"],
    [124.5, "2 min 5 s left"],
    [7383.5, "2 h 3 min left"],
  ])("tells %d seconds in larger units", (secondsLeft, expected) => {
    const { stream, text } = fakeStream();
    migrationProgress({ stream }).onProgress(
      progress({ perSecond: (135_233 - 45_000) / secondsLeft }),
    );
    expect(text()).toContain(`rows/s  ${expected}\n`);
  });

  it("is done where there is nothing to do", () => {
    const { stream, text } = fakeStream();
    migrationProgress({ stream }).onProgress(progress({ done: 0, total: 0 }));
    expect(text()).toContain("0 / 0 rows  100 %");
  });
});

describe("for a program's own rows", () => {
  it("measures rate and time left from the first update on", () => {
    const { stream, written } = fakeStream();
    const { update, stop } = rowProgress("cities", { stream });
    update(100, 1100);
    vi.advanceTimersByTime(2000);
    update(600, 1100);
    stop();
    expect(written).toEqual([
      "cities  100 / 1,100 rows  9 %\n",
      "cities  600 / 1,100 rows  54 %  250 rows/s  2 s left\n",
    ]);
  });
});

describe("with migrate", () => {
  it("shows the building of an index from its count to its verification", async () => {
    vi.useRealTimers();
    const definition = {
      name: "cities",
      schema: z.object({ id: z.ulid(), population: z.int() }),
      primaryKey: "id",
    } as const;
    const kv = await openKv();
    try {
      const { cities } = await createDatabase({ kv, models: { cities: defineModel(definition) } });
      for (let population = 0; population < 1200; population++) {
        await cities.create({ data: { population } });
      }
      const City = defineModel({ ...definition, indexes: { byPopulation: { key: "population" } } });
      const database = await createDatabase({ kv, models: { cities: City } });
      const { stream, written } = fakeStream();
      const { onProgress, stop } = migrationProgress({ stream });
      expect(await migrate(database, { onProgress })).toMatchObject({ status: "done" });
      stop();
      expect(written[0]).toMatch(/^cities byPopulation {2}counting, /);
      const rest = "1,200 / 1,200 rows {2}100 % {2}[\\d,]+ rows/s {2}0 s left\\n$";
      expect(written.at(-2)).toMatch(new RegExp(`^cities byPopulation {2}${rest}`));
      expect(written.at(-1)).toMatch(new RegExp(`^cities byPopulation {2}verifying {2}${rest}`));
    } finally {
      await kv.close();
    }
  });
});
