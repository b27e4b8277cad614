import { readFileSync } from "node:fs";
import { join } from "node:path";
import { coreErrorCodes, KeywrightError } from "@keywright/core";
import { type HttpStatus, httpStatusOf, ormErrorCodes } from "@keywright/orm";
import { expect, it } from "vitest";
import { root } from "./pages.js";

const meanings: readonly (readonly [HttpStatus, string])[] = [
  [400, "the input is not valid"],
  [403, "the input would leave a [scope](scopes.md)"],
  [404, "what the input names does not exist"],
  [409, "the input contradicts other rows, or another version of the row"],
  [503, "the call may be repeated, or the database cannot be used at the moment"],
  [500, "the program or the database has to be corrected"],
];

function table(): string {
  const codes = [...coreErrorCodes, ...ormErrorCodes];
  const codesOf = (status: HttpStatus) =>
    codes
      .filter((code) => httpStatusOf(new KeywrightError(code, "")) === status)
      .map((code) => `[\`${code.slice("KW_".length)}\`](#${code.toLowerCase()})`)
      .join(", ");
  const rows = meanings.map(([status, meaning]) => {
    const shown =
      status === 500 ? "all others, and errors that are not Keywright's" : codesOf(status);
    return `| ${status} | ${meaning} | ${shown} |\n`;
  });
  return `| status | if | codes, without \`KW_\` |\n| --- | --- | --- |\n${rows.join("")}`;
}

it("docs/errors.md has the status of each code (vitest --update writes it)", async () => {
  const path = join(root, "docs/errors.md");
  const page = readFileSync(path, "utf8");
  const [start, end] = [page.indexOf("| status |"), page.indexOf("\nA `retryable` error")];
  expect(start).toBeGreaterThan(0);
  await expect(page.slice(0, start) + table() + page.slice(end)).toMatchFileSnapshot(path);
});
