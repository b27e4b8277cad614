import { expect, it } from "vitest";
import { functionSource } from "../src/state/schema/functions/function-source.js";

/** The function that a source is of. */
const fn = (source: string) => new Function(`return (${source});`)() as (value: never) => unknown;
const sourceOf = (source: string) => functionSource(fn(source));

it.each([
  ["(v) => v.trim()", "v=>v.trim()"],
  ["(v) => { return v; }", "( v )=>{\n  // as it is\n  return v; }"],
  ["(v) => v.replace('a', 'b')", '(v) => v.replace("a", /* b */ "b")'],
  ["(v) => v / 2 / 3", "v=>v/2/3"],
])("is the same for %j and %j", (a, b) => {
  expect(sourceOf(a)).toBe(sourceOf(b));
});

it.each([
  ['u => u.replace("https://", "")', 'u => u.replace("https://", "www.").toLowerCase()'],
  ['v => v.split(" ").join("-")', 'v => v.split("").join("-")'],
  ["v => (v + 1) * 2", "v => v + 1 * 2"],
  ["v => [v, 1]", "v => [v1]"],
  ["v => v.replace(/[/*]x/, 'a')", "v => v.replace(/[/*]y/, 'a')"],
  ["v => v.replace(/\\/\\//, 'a')", "v => v.replace(/\\/\\//, 'b')"],
  ["v => `a ${v}`", "v => `a${v}`"],
  ["v => `${`//`}${v}`", "v => `${`/`}${v}`"],
  ["v => 'a  b'", "v => 'a b'"],
  ["v => { return /'/.test(v) ? ' ' : 1 }", "v => { return /'/.test(v) ? '' : 1 }"],
  ["v => typeof v", "v => typeofv"],
])("is another for %j and %j", (a, b) => {
  expect(sourceOf(a)).not.toBe(sourceOf(b));
});
