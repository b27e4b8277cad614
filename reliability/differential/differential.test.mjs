import { expect, it } from "vitest";
import { compareSearches, compareWithDeno, compareWithSql } from "./differential.mjs";

const calls = 2000;

it("random calls in Deno's mode have the results that they have on Deno KV", async () => {
  const { differences } = await compareWithDeno(calls, Date.now());
  expect(differences).toEqual([]);
});

it("random calls of a model have the results of the same statements of SQLite", async () => {
  const { differences } = await compareWithSql(calls, Date.now());
  expect(differences).toEqual([]);
});

it("searches find the rows that a look at all of them finds", async () => {
  const { differences } = await compareSearches(calls, Date.now());
  expect(differences).toEqual([]);
});
