import { afterEach, describe, expect, it, vi } from "vitest";
import { pauseBeforeAttempt } from "../src/state/transaction/pause.js";

afterEach(() => {
  vi.restoreAllMocks();
});

/** True if a promise is settled before any timer can have run. */
async function isSettledAtOnce(promise: Promise<unknown>): Promise<boolean> {
  let isSettled = false;
  const settle = () => {
    isSettled = true;
  };
  promise.then(settle, settle);
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  return isSettled;
}

describe("the pause before an attempt", () => {
  it("is none before the first four, and waits for a timer before the fifth", async () => {
    for (const attempt of [1, 2, 3, 4]) {
      expect(await isSettledAtOnce(pauseBeforeAttempt(attempt))).toBe(true);
    }
    const fifth = pauseBeforeAttempt(5);
    expect(await isSettledAtOnce(fifth)).toBe(false);
    await fifth;
  });

  it("is not made if the signal is aborted already, before any attempt", async () => {
    const reason = new Error("given up");
    for (const attempt of [1, 9]) {
      const pause = pauseBeforeAttempt(attempt, AbortSignal.abort(reason));
      await expect(pause).rejects.toBe(reason);
    }
  });

  it("ends at once with the reason if the signal is aborted, however long it is", async () => {
    // An hour.
    vi.spyOn(Math, "random").mockReturnValue(1);
    const controller = new AbortController();
    const reason = new Error("given up");
    const pause = pauseBeforeAttempt(60, controller.signal, 3_600_000);
    expect(await isSettledAtOnce(pause)).toBe(false);
    controller.abort(reason);
    expect(await isSettledAtOnce(pause)).toBe(true);
    await expect(pause).rejects.toBe(reason);
  });

  it("ends by itself with a signal that is not aborted", async () => {
    await pauseBeforeAttempt(5, new AbortController().signal);
  });
});
