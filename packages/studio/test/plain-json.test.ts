import { expect, it } from "vitest";
import { plainJson } from "../src/streams/plain-json.js";

it("represents what JSON does not have", () => {
  const value = {
    at: new Date(0),
    big: 12n,
    bytes: new Uint8Array([1, 2]),
    floats: new Float32Array([1]),
    map: new Map([["a", new Set([1])]]),
    none: Number.NaN,
    pattern: /a/u,
  };
  expect(plainJson(value)).toEqual({
    at: "1970-01-01T00:00:00.000Z",
    big: "12",
    bytes: "AQI=",
    floats: "AACAPw==",
    map: [["a", [1]]],
    none: "NaN",
    pattern: "/a/u",
  });
});

it("ends for a value within itself, and for one that is shared again and again", () => {
  const cycle: Record<string, unknown> = { name: "a" };
  cycle.self = cycle;
  expect(plainJson(cycle)).toEqual({ name: "a", self: "…" });
  let shared: unknown = 1;
  for (let i = 0; i < 60; i++) shared = [shared, shared];
  expect(JSON.stringify(plainJson(shared)).length).toBeLessThan(10_000_000);
});
