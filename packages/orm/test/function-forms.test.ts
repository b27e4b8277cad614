import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { canonicalSource } from "../src/schema/functions/canonical-source.js";

/**
 * What esbuild 0.28 (with and without minify, keepNames and CommonJS), terser 5, SWC 1, TypeScript
 * 5.9 and jiti 2.7 make of the same functions, by the names of the tools.
 */
const forms = JSON.parse(
  readFileSync(new URL("golden/function-forms.json", import.meta.url), "utf8"),
) as Record<string, Record<string, string>>;

/** These call functions of other modules, whose names minifiers shorten. They need a version. */
const needVersion = ["imported", "limited"];

function functionOf(source: string): (value: never) => unknown {
  const isMethod = /^\w+\s*\(/.test(source) && !source.startsWith("function");
  const text = isMethod ? `Object.values({ ${source} })[0]` : source;
  return new Function(`return (${text}\n)`)() as () => unknown;
}

const textOf = (source: string) => canonicalSource(functionOf(source));

describe("the canonical source of a function", () => {
  const names = Object.keys(forms).filter((name) => !needVersion.includes(name));

  it.each(names)("is the same for what every tool makes of %s", (name) => {
    const texts = Object.entries(forms[name]!).map(([tools, source]) => [tools, textOf(source)]);
    const kept = texts.filter(([tools]) => name !== "nested" || tools !== "esbuild keepNames");
    expect(new Set(kept.map(([, text]) => text)).size, JSON.stringify(texts, null, 1)).toBe(1);
  });

  it("differs between the functions", () => {
    const texts = names.map((name) => textOf(Object.values(forms[name]!)[0]!));
    expect(new Set(texts).size).toBe(names.length);
  });

  it.each([
    ["(a) => a.x", "(a) => a.y"],
    ["(a, b) => a.x", "(a, b) => b.x"],
    ["(a) => a.x > 1", "(a) => a.x >= 1"],
    ["(a) => 1 < a.x", "(a) => a.x < 1"],
    ["(a) => a.x === null", "(a) => a.x == null"],
    ["(a) => a.x === null || a.y === undefined", "(a) => a.x == null"],
    ["(a) => a.x && a.y", "(a) => a.y && a.x"],
    ["(a) => a.x || a.y", "(a) => a.x ?? a.y"],
    ["(a) => a.x ? a.y : null", "(a) => a.y ? a.x : null"],
    ["(a) => !a.x", "(a) => !!a.x"],
    ["(a) => a.x - 1", "(a) => 1 - a.x"],
    ["(a) => a.x + 'y'", "(a) => 'y' + a.x"],
    ["(a) => `${a.x}-`", "(a) => a.x"],
    ["(a) => a?.x", "(a) => a.x"],
    ["(a) => (a?.x).y", "(a) => a?.x.y"],
    ["(a) => a.x[0]", "(a) => a.x['0x']"],
    ["(a) => a.map((b) => b.x)", "(a) => a.map((b) => a.x)"],
    ["({ x }) => x", "({ y }) => y"],
    ["({ x = 1 }) => x", "({ x = 2 }) => x"],
    ["(a) => lower(a)", "(a) => upper(a)"],
    ["(a) => /x/.test(a)", "(a) => /x/i.test(a)"],
    ["(a) => { let b = 1; b += a; return b }", "(a) => { let b = 1; b -= a; return b }"],
    ["(a) => { if (a.x) return 1 }", "(a) => { if (a.x) return 1; return 2 }"],
    ["(a) => { const b = a.x; return b + b }", "(a) => { const b = a.y; return b + b }"],
    ["(a) => 0", "(a) => -0"],
    ["(a) => 1", "(a) => 1n"],
    ["(a) => '1'", "(a) => 1"],
    ["(a) => undefined", "(a) => null"],
    ["(a) => ({ x: a })", "(a) => ({ y: a })"],
    ["(a) => b(a)", "(b) => b(b)"],
  ])("differs between %s and %s", (one, other) => {
    expect(textOf(one)).not.toBe(textOf(other));
  });

  it("is not changed by the names that a function declares in several blocks", () => {
    const shadowing = "(a) => { const x = a.p; if (a.q) { const x = 2; } return x }";
    expect(textOf(shadowing)).toContain("const x=a.p");
    expect(textOf("(a) => b1(a)")).toBe("a => b1(a)");
    expect(textOf("(b) => a(b)")).toBe("b => a(b)");
  });

  it("is the source itself for rare syntax", () => {
    for (const source of [
      "function () { return this.x }",
      "function () { return arguments[0] }",
      "a => { switch (a) { case 1: return 2 } }",
      "a => { try { return a.x } catch { return 1 } }",
    ])
      expect(textOf(source).replaceAll(/[ ;]/g, "")).toBe(source.replaceAll(/[ ;]/g, ""));
    expect(canonicalSource(String.prototype.trim as never)).toContain("[native code]");
  });
});
