import { expect, it } from "vitest";
import { copyStored, deepCopy } from "../src/model/rows/copy-of-data.js";

it.each([
  ["deepCopy", deepCopy],
  ["copyStored", copyStored],
])("%s copies every kind of value, and shares no object", (_name, copy) => {
  const bytes = new Uint8Array([1, 2]);
  const original = {
    list: Object.assign(new Array<unknown>(3), { 0: 1, 2: { a: [2] } }),
    map: new Map([[{ k: 1 }, new Set([{ v: 1 }])]]),
    at: new Date(5),
    bytes,
    buffer: bytes.slice().buffer,
    absent: undefined,
    n: -0,
  };
  const result = copy(original);
  expect(result).toEqual(original);
  expect(Object.keys(result)).toEqual(Object.keys(original));
  expect(1 in result.list).toBe(false);
  for (const key of ["list", "map", "at", "bytes", "buffer"] as const) {
    expect(result[key]).not.toBe(original[key]);
  }
  expect(result.list[2]).not.toBe(original.list[2]);
  bytes[0] = 9;
  expect(result.bytes[0]).toBe(1);
});

it.each([
  ["deepCopy", deepCopy],
  ["copyStored", copyStored],
])("%s copies a key __proto__ as a key, and objects that contain themselves", (_name, copy) => {
  const odd = JSON.parse('{"a": {"__proto__": {"list": [1]}}}');
  const result = copy(odd);
  expect(Object.entries(result.a)).toEqual([["__proto__", { list: [1] }]]);
  expect(Object.getPrototypeOf(result.a)).toBe(Object.prototype);
  const [list, originalList] = [result.a, odd.a].map(
    (each) => Object.values<{ list: unknown }>(each)[0]?.list,
  );
  expect(list).not.toBe(originalList);
  const shared = { x: 1 };
  const circle: { self?: unknown; both: unknown[] } = { both: [shared, shared] };
  circle.self = circle;
  const copied = copy(circle);
  expect(copied.self).toBe(copied);
  expect(copied.both[0]).toBe(copied.both[1]);
  expect(copied.both[0]).not.toBe(shared);
});

it("other objects are shared by deepCopy, and cloned by copyStored", () => {
  class Point {
    x = 1;
  }
  const original = { point: new Point(), pattern: /a/g };
  expect(deepCopy(original).point).toBe(original.point);
  expect(deepCopy(original).pattern).toBe(original.pattern);
  expect(copyStored(original).point).toEqual({ x: 1 });
  expect(copyStored(original).pattern).not.toBe(original.pattern);
  expect(copyStored(original).pattern).toEqual(/a/g);
});
