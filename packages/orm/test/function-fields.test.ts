import { expect, it } from "vitest";
import { functionFields } from "../src/state/schema/functions/function-fields.js";

const fieldsOf = (source: string) => {
  const fn = new Function(`return (${source});`)() as (row: never) => unknown;
  const fields = functionFields(fn);
  return fields && [...fields].sort();
};

it.each([
  ["(row) => row.closedAt === null", ["closedAt"]],
  ["r=>r.a>r?.b", ["a", "b"]],
  ["(row) => { const { x } = row.inner; return x + row . other; }", ["inner", "other"]],
  ["function (row) { return row.a; }", ["a"]],
  ["function where(row) { return row.a; }", ["a"]],
  ["({ where(row) { return row.a; } }).where", ["a"]],
  ["({ a, b: c, d = 1 }) => a + c + d", ["a", "b", "d"]],
  ["function ({ a }) { return a; }", ["a"]],
  ["(row) => row.größe", ["größe"]],
  ["($) => $.a + $.$b", ["$b", "a"]],
  ["(row) => [...row.tags, row.name.toLowerCase()]", ["name", "tags"]],
  ["(row) => /* row */ row.a // all of row\n", ["a"]],
])("finds the fields that %s reads", (source, fields) => {
  expect(fieldsOf(source)).toEqual(fields);
});

it.each([
  "(row) => isOpen(row)",
  "(row) => Object.keys(row).length",
  '(row) => row["a"]',
  "(row) => row?.[0]",
  "(row) => ({ ...row }).a",
  "({ a, ...rest }) => a",
  "(row) => { const { a } = row; return a; }",
  "(row) => { const other = row; return other.a; }",
  '(row) => "a" in row',
  "(row) => row.a.some((row) => row.b)",
  '(row) => row.hasOwnProperty("a")',
  "(row) => row.toString()",
  "(r) => r.a + \\u0072.b",
  "function (row) { return arguments[0].b; }",
  "(row, other) => row.a",
  "(row = {}) => row.a",
  "(...rows) => rows[0].a",
  "() => 1",
  "((row) => row.a).bind(null)",
  "async (row) => row.a",
  '({ "a b": a }) => a',
  "({ a: { b } }) => b",
])("does not know the fields that %s reads", (source) => {
  expect(fieldsOf(source)).toBeUndefined();
});
