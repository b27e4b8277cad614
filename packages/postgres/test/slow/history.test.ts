import { describe, expect, it } from "vitest";
import { History } from "../faults/history.js";

type Applied = Parameters<History["compare"]>[0][number];

const first: Applied = { id: "a", register: 0, value: 1, versionstamp: "01" };
const second: Applied = { id: "b", register: 1, value: 1, versionstamp: "02" };
const third: Applied = { id: "c", register: 0, value: 2, versionstamp: "03" };
const applied = [first, second, third];

/** Three writes one after another, of which the outcome of the second is not known. */
function history(): History {
  const result = new History();
  result.writes.push({ id: "a", versionstamp: "01", start: 0, end: 1 });
  result.writes.push({ id: "c", versionstamp: "03", start: 4, end: 5 });
  return result;
}

/** Adds a read of the registers. */
function withRead(versions: readonly (string | null)[], start: number, end: number): History {
  const result = history();
  result.reads.push({ versions, start, end });
  return result;
}

describe("the check of a history", () => {
  it("accepts a good one, whether or not a write of unknown outcome was applied", () => {
    expect(history().compare(applied, 3)).toEqual([]);
    expect(history().compare([first, third], 2)).toEqual([]);
    expect(withRead(["01", "02", null, null], 2, 3).compare(applied, 3)).toEqual([]);
    expect(withRead(["01", null, null, null], 0, 9).compare(applied, 3)).toEqual([]);
    expect(withRead([null, null, null, null], 0, 9).compare(applied, 3)).toEqual([]);
  });

  it("finds each kind of contradiction", () => {
    expect(history().compare([first, second], 2)).toEqual(["lost"]);
    expect(history().compare(applied, 2)).toEqual(["lost"]);
    expect(history().compare(applied, 4)).toEqual(["duplicated"]);
    const again = { ...first, versionstamp: "04" };
    expect(history().compare([again, second, third], 3)).toContain("duplicated");
    expect(history().compare([{ ...first, value: 2 }, second, third], 3)).toEqual(["out of order"]);
    const late = history();
    late.writes[1] = { ...late.writes[1]!, start: -2, end: -1 };
    expect(late.compare(applied, 3)).toEqual(["out of order"]);
  });

  it("finds reads that are old, of the future, of no commit, or of two states", () => {
    expect(withRead([null, null, null, null], 2, 3).compare(applied, 3)).toEqual(["out of order"]);
    expect(withRead(["03", "02", null, null], 2, 3).compare(applied, 3)).toEqual(["out of order"]);
    expect(withRead(["05", null, null, null], 6, 7).compare(applied, 3)).toContain("inconsistent");
    expect(withRead(["03", null, null, null], 6, 7).compare(applied, 3)).toContain("inconsistent");
  });
});
