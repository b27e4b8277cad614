import { expect, it } from "vitest";
import { withoutSecrets } from "../src/cli/terminal/text/without-secrets.js";

it.each([
  ["postgres://ada:se'cr@et@db:5432/app failed", "postgres://…@db:5432/app failed"],
  [
    "postgres://db/app?user=ada&password=secret&sslmode=off, 'postgres://db?PASSWORD=x'",
    "postgres://db/app?user=ada&password=…&sslmode=off, 'postgres://db?PASSWORD=…'",
  ],
  ["no database at /app/mysql:/ada:se/cret@db/app", "no database at /app/mysql:/…@db/app"],
  ["at C:/app/node_modules/@keywright/orm:12", "at C:/app/node_modules/@keywright/orm:12"],
  ["ada@example.com read http://localhost:4512/a", "ada@example.com read http://localhost:4512/a"],
])("removes the secrets of URLs: %s", (text, safe) => {
  expect(withoutSecrets(text)).toBe(safe);
  expect(JSON.parse(withoutSecrets(JSON.stringify({ text })))).toEqual({ text: safe });
});
