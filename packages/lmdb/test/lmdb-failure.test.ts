import { expect, it } from "vitest";
import { openingFailure, readFailure } from "../src/errors/lmdb-failure.js";

it("a damaged page is damage when the file is opened and when it is read", () => {
  const message = "MDB_CORRUPTED: Located page was wrong type";
  const error = Object.assign(new Error(message), { code: -30796 });
  const damage = { code: "KW_CORRUPTION", cause: error };
  expect(openingFailure(error, "/data.mdb")).toMatchObject({ ...damage, path: "/data.mdb" });
  expect(readFailure(error)).toMatchObject(damage);
});
