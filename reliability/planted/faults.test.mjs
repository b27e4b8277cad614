import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseAst } from "vitest/node";
import { campaigns } from "./campaigns.mjs";
import { faults } from "./faults/faults.mjs";
import { packages, plantFault } from "./plant-fault.mjs";

describe.each(Object.entries(faults))("the planted fault %s", (name, fault) => {
  it("applies to the built file", () => {
    const source = readFileSync(new URL(fault.file, packages), "utf8");
    const planted = plantFault(name, fault, source);
    expect(planted).not.toBe(source);
    expect(() => parseAst(planted)).not.toThrow();
  });

  it("is looked for by campaigns that exist", () => {
    expect(fault.campaigns.length).toBeGreaterThan(0);
    expect(fault.campaigns.filter((each) => !Object.hasOwn(campaigns, each))).toEqual([]);
  });
});

it("a fault that no longer applies is an error", () => {
  const fault = { file: "core/dist/index.js", edits: [["const a = 1;", "const a = 2;"]] };
  expect(plantFault("one", fault, "const a = 1;")).toBe("const a = 2;");
  expect(() => plantFault("one", fault, "const b = 1;")).toThrow("The fault one no longer applies");
  expect(() => plantFault("one", fault, "const a = 1; const a = 1;")).toThrow("2 times");
});
