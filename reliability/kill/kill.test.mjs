import { isBuiltin } from "node:module";
import { describe, expect, it } from "vitest";
import { ExpectedRows } from "../shared/expected-rows.mjs";
import { Random } from "../shared/random.mjs";
import { killsOfOneDatabase, killWork } from "./kill-run.mjs";

const seed = Date.now();

// It waits for other processes, on whatever machine.
describe("a process that is killed while it works with models", { timeout: 300_000 }, () => {
  const places = [["a LevelDB folder", "kv"]];
  if (isBuiltin("node:sqlite")) places.push(["an SQLite file", "kv.sqlite"]);
  else it.skip("in an SQLite file, because this Node.js has no node:sqlite");

  it.each(places)(
    "leaves each acknowledged call whole and no call by half in %s",
    async (_title, name) => {
      const { calls, problems } = await killWork(killsOfOneDatabase, new Random(seed), name);
      expect(problems, `seed ${seed}`).toEqual([]);
      expect(calls).toBeGreaterThan(0);
    },
  );
});

describe("the expected rows", () => {
  const create = { client: 1, type: "create", id: "a", points: 7 };
  const post = { client: 1, type: "post", id: "p", authorId: "a" };
  const remove = { client: 1, type: "delete", id: "a" };
  const user = ["a", { id: "a", points: 7 }];
  const row = ["p", { id: "p", authorId: "a" }];

  function problemsOf(lines, users, posts) {
    const expected = new ExpectedRows();
    for (const line of lines) expected.note(typeof line === "string" ? line : JSON.stringify(line));
    const [accounts, transfers] = [new Map(), new Map()];
    return expected.settle({ users: new Map(users), posts: new Map(posts), accounts, transfers });
  }

  it("accept a call whose end was not seen as done or as not done, and not by half", () => {
    const deleting = [create, "done 1", post, "done 1", remove];
    expect(problemsOf(deleting, [user], [row])).toEqual([]);
    expect(problemsOf(deleting, [], [])).toEqual([]);
    expect(problemsOf(deleting, [], [row])).toEqual(["half: post p is there"]);
    expect(problemsOf(deleting, [user], [])).toEqual(["lost: post p"]);
  });

  it("report what is lost of calls that have ended", () => {
    expect(problemsOf([create, "done 1"], [], [])).toEqual(["lost: user a"]);
    const update = { client: 1, type: "update", id: "a", points: 8 };
    const lines = [create, "done 1", update, "done 1"];
    expect(problemsOf(lines, [user], [])).toEqual(["lost: an update of user a"]);
  });
});
