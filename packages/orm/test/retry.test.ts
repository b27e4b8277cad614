import { TurnLine } from "@keywright/core";
import { describe, expect, it, vi } from "vitest";
import { again, FailedAttempt, retry } from "../src/state/transaction/retry.js";

const failure = new FailedAttempt((attempts) => new Error(`${attempts} attempts`));

describe("retry", () => {
  it("returns the result of the first attempt that does not fail", async () => {
    const attempt = vi.fn(async (number: number) => (number < 200 ? again : number));
    expect(await retry(attempt)).toBe(200);
    expect(attempt).toHaveBeenCalledTimes(200);
  });

  it("returns undefined if an attempt does", async () => {
    expect(await retry(async () => undefined)).toBeUndefined();
  });

  it("throws the error of the last attempt, with the number of attempts", async () => {
    const attempt = vi.fn(async () => failure);
    await expect(retry(attempt, { maxAttempts: 3 })).rejects.toThrow("3 attempts");
    expect(attempt).toHaveBeenCalledTimes(3);
  });

  it("makes no attempt after one that throws", async () => {
    const attempt = vi.fn(async () => Promise.reject(new Error("no conflict")));
    await expect(retry(attempt, { maxAttempts: 3 })).rejects.toThrow("no conflict");
    expect(attempt).toHaveBeenCalledTimes(1);
  });

  it("makes no attempt after the signal is aborted", async () => {
    const stopping = new AbortController();
    const attempt = vi.fn(async () => {
      stopping.abort(new Error("stopped"));
      return again;
    });
    const { signal } = stopping;
    await expect(retry(attempt, { pauses: "growing", signal })).rejects.toThrow("stopped");
    await expect(retry(attempt, { signal })).rejects.toThrow("stopped");
    expect(attempt).toHaveBeenCalledTimes(1);
  });

  it.each([
    ["three", new TurnLine(), 3],
    ["one, if the line says so", Object.assign(new TurnLine(), { attempts: 1 }), 1],
  ])("takes a turn after a number of lost attempts: %s", async (_, turns, lost) => {
    const footprint = { reads: new Set<string>(), writes: new Set(["a"]) };
    const conflict = new FailedAttempt(failure.errorAfter, () => footprint);
    const attempt = vi.fn(async (_number: number, _isFinal: boolean, turn: unknown) =>
      turn === undefined ? conflict : "done",
    );
    expect(await retry(attempt, { turns })).toBe("done");
    expect(attempt).toHaveBeenCalledTimes(lost + 1);
  });

  it.each([
    ["short", 16],
    ["growing", 16],
    [undefined, 0],
  ] as const)("pauses before each attempt after the fourth: %s", async (pauses, expected) => {
    // Each pause has a random length.
    const random = vi.spyOn(Math, "random").mockReturnValue(0);
    try {
      const options = pauses && { pauses };
      expect(await retry(async (number) => (number === 20 ? "done" : again), options)).toBe("done");
      expect(random).toHaveBeenCalledTimes(expected);
    } finally {
      random.mockRestore();
    }
  });
});
