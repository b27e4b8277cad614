import { expect, it } from "vitest";
import { folderFailure } from "../src/kv/open/folder-failure.js";

it.each([
  ["ENOSPC", "KW_ENGINE_FAILED"],
  ["EIO", "KW_ENGINE_FAILED"],
  ["EACCES", "KW_DATABASE_PATH_INVALID"],
  ["ENOENT", "KW_DATABASE_PATH_INVALID"],
])("a folder that fails with %s is reported as %s", (code, expected) => {
  const cause = Object.assign(new Error(`${code}: it fails`), { code });
  expect(folderFailure(cause, "/data", true)).toMatchObject({ code: expected, path: "/data" });
});
