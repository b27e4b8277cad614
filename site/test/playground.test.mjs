import { coreErrorCodes } from "@keywright/core";
import { ormErrorCodes } from "@keywright/orm";
import { expect, it } from "vitest";
import { examples } from "../playground/examples.mjs";
import { playgroundPage, textOfPlayground } from "../playground/page.mjs";
import { remedies } from "../playground/remedies.mjs";

it("the page has each example with what it prints, and its text has nothing else", () => {
  const text = textOfPlayground(playgroundPage());
  for (const { title, program, output } of examples()) {
    expect(text).toContain(`### ${title}\n`);
    expect(text).toContain(`\`\`\`ts\n${program}\`\`\`\n\n\`\`\`text\n${output}\`\`\`\n`);
  }
  expect(text).not.toContain("<Playground");
});

it("no line of an example is too long for the editor", () => {
  const long = examples().flatMap(({ program }) =>
    program.split("\n").filter((line) => line.length > 72),
  );
  expect(long).toEqual([]);
});

it("says what each error code means, without the name of its class", () => {
  const found = remedies();
  const codes = [...coreErrorCodes, ...ormErrorCodes];
  expect(codes.length).toBeGreaterThan(80);
  expect(codes.filter((code) => (found[code] ?? "").length < 20)).toEqual([]);
  expect(Object.values(found).filter((text) => /^\w+Error|[`*]|\]\(/.test(text))).toEqual([]);
});
