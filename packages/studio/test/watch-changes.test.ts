import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { watchChanges } from "../page/api/watch-changes.js";

/** Stands for the stream of changes of a browser. */
class Source extends EventTarget {
  static readonly all: Source[] = [];
  isOpen = true;
  readyState = 1;
  onopen: () => void = () => undefined;

  constructor() {
    super();
    Source.all.push(this);
  }

  close(): void {
    this.isOpen = false;
  }
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("EventSource", Source);
  vi.stubGlobal("document", Object.assign(new EventTarget(), { hidden: false }));
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  Source.all.length = 0;
});

it("a page takes a silent studio for one whose changes it has missed, and connects again", () => {
  const changes: unknown[] = [];
  const stop = watchChanges("users", (keys) => changes.push(keys));
  for (let n = 0; n < 10; n++) {
    vi.advanceTimersByTime(5000);
    Source.all[0]!.dispatchEvent(new Event("alive"));
  }
  expect(changes).toEqual([]);
  vi.advanceTimersByTime(20_000);
  expect(changes).toEqual([null]);
  expect(Source.all.map(({ isOpen }) => isOpen)).toEqual([false, true]);
  // What changed before the studio answered again is not known.
  Source.all[1]!.onopen();
  expect(changes).toEqual([null, null]);
  stop();
  vi.advanceTimersByTime(60_000);
  expect(Source.all.length).toBe(2);
});
