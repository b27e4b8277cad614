import type { Kv } from "@keywright/core";
import { expect, it } from "vitest";
import { Capabilities } from "../src/state/catalog/capabilities-of.js";
import { OneState, StateChangedError } from "../src/state/context/one-state.js";

/** A database of several processes, another of which commits while a view is opened. */
function sharedKv(commitsBetween: boolean) {
  const views = { open: 0 };
  const kv = {
    lastVersionstamp: "01",
    get: async () => ({ key: ["a"], value: null, versionstamp: null }),
    openView: () => {
      views.open++;
      if (commitsBetween) kv.lastVersionstamp = "02";
      return { list: () => [], close: () => views.open-- };
    },
  };
  const stateOf = () =>
    new OneState(kv as unknown as Kv, new Capabilities(kv as unknown as Kv), "keys");
  return { stateOf, views };
}

it("the view of a call sees the state of its first read, or the call is made again", async () => {
  const quiet = sharedKv(false).stateOf();
  await quiet.get(["a"]);
  quiet.list({ prefix: ["a"] });
  expect(quiet.versionstamp).toBe("01");
  const { stateOf, views } = sharedKv(true);
  const torn = stateOf();
  await torn.get(["a"]);
  expect(() => torn.list({ prefix: ["a"] })).toThrow(StateChangedError);
  torn.close();
  expect(views.open).toBe(0);
});

it("the last commit of a view is not known if there was one while it was opened", () => {
  const state = sharedKv(true).stateOf();
  state.list({ prefix: ["a"] });
  expect(state.versionstamp).toBeUndefined();
});
