import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { canonicalSource } from "../src/state/schema/functions/canonical-source.js";

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

  /** Two functions and an argument for which they return something else. */
  const differing: readonly (readonly [string, string, object])[] = [
    [
      "(row) => { return f(row); function f(r) { return r.p } }",
      "(row) => { return f(row); function f(r) { return r.q } }",
      { p: 1, q: 2 },
    ],
    [
      "(row) => { const p = row.n.split(' '); const f = p.shift(); return p.join(' ') + f }",
      "(row) => { const p = row.n.split(' '); return p.join(' ') + p.shift() }",
      { n: "x y" },
    ],
    [
      "(row) => { const p = row.n.split(' '); const f = p.shift(); return p.join(' ') }",
      "(row) => row.n.split(' ').join(' ')",
      { n: "x y" },
    ],
    [
      "(row) => { const p = row.t.slice(); return p.shift() ? p.shift() : 0 }",
      "(row) => { const p = row.t.slice(); return p.shift() || 0 }",
      { t: ["x", "y"] },
    ],
    [
      "(row) => { const t = row.t.slice(); const first = t.sort()[0]; return t[0] + first }",
      "(row) => { const t = row.t.slice(); return t[0] + t.sort()[0] }",
      { t: ["y", "x"] },
    ],
    [
      "(row) => { const t = row.t.values(); const n = [...t].length; return [...t].length - n }",
      "(row) => { const t = row.t.values(); return [...t].length - [...t].length }",
      { t: ["y"] },
    ],
    [
      "(row) => { const t = row.t[Symbol.iterator](); const n = [...t].length; return [...t].length - n }",
      "(row) => { const t = row.t[Symbol.iterator](); return [...t].length - [...t].length }",
      { t: ["y"] },
    ],
    [
      "(row) => { const o = { ...row }; const d = delete o.p; return Object.keys(o).length }",
      "(row) => Object.keys({ ...row }).length",
      { p: 1 },
    ],
    [
      "(row) => { const seen = /x/g; return row.t.map((t) => seen.test(t)) }",
      "(row) => row.t.map((t) => /x/g.test(t))",
      { t: ["x", "x"] },
    ],
    [
      "(row) => { const f = []; for (var i = 0; i < row.n; i++) f.push(() => i); return f[0]() }",
      "(row) => { const f = []; for (let i = 0; i < row.n; i++) f.push(() => i); return f[0]() }",
      { n: 2 },
    ],
    [
      "(row) => { let r; for (const t of row.t) { var z; z = (z ?? 0) + t; r = z } return r }",
      "(row) => { let r; for (const t of row.t) { let z; z = (z ?? 0) + t; r = z } return r }",
      { t: [1, 2] },
    ],
    [
      "({ n }) => { const f = (m) => m > 2 ? f(m - 4) : m; return f(n) }",
      "({ n }) => { const f = (m) => m > 2 ? f(n - 4) : n; return f(n) }",
      { n: 6 },
    ],
    [
      "function key(row) { return row.p ? key(row.p) : row.n }",
      "(row) => row.p ? b(row.p) : row.n",
      { p: { n: 1 }, n: 2 },
    ],
    [
      "(row) => { { const x = row.p; if (x === 1 || x === 2) return 0 } return x }",
      "(row) => { const x = row.p; if (x === 1 || x === 2) return 0; return x }",
      { p: 5 },
    ],
    [
      "(row) => { let n = row.n; return ((v) => [n, v])(n++) }",
      "(row) => { let n = row.n; return [n, n++] }",
      { n: 2 },
    ],
    [
      "(row) => { let n = row.n; return n++ ? n++ : 0 }",
      "(row) => { let n = row.n; return n++ || 0 }",
      { n: 1 },
    ],
    [
      `(row) => { let n = row.n; const up = () => ++n;
        const f = () => { const o = n; return up() + o }; return f() }`,
      `(row) => { let n = row.n; const up = () => ++n;
        const f = () => up() + n; return f() }`,
      { n: 1 },
    ],
    ["(row) => [spread(row.t)]", "(row) => [...row.t]", { t: [1, 2] }],
    ["(row) => -(5).toFixed(row.n)", "(row) => (-5).toFixed(row.n)", { n: 0 }],
    [
      "(row) => { const __proto__ = row; return Object.keys({ __proto__ }).length }",
      "(row) => { const p = row; return Object.keys({ __proto__: p }).length }",
      {},
    ],
    ["(row) => rates_2024.EUR * row.n", "(row) => rates_2025.EUR * row.n", { n: 1 }],
  ];

  it.each(differing)("differs between %s and %s, which return others", (one, other, row) => {
    const free = {
      x: 7,
      b: () => 100,
      spread: () => 1,
      rates_2024: { EUR: 2 },
      rates_2025: { EUR: 3 },
    };
    const resultOf = (source: string): unknown =>
      new Function(...Object.keys(free), `return (${source})`)(...Object.values(free))(row);
    expect(resultOf(one)).not.toEqual(resultOf(other));
    expect(textOf(one)).not.toBe(textOf(other));
  });

  it.each([
    [
      "(a) => { const parts = a.x.split(' '); return parts.sort()[0] }",
      "(a) => a.x.split(' ').sort()[0]",
    ],
    [
      "(a) => { return f(a) + f(a.x); function f(b) { return b.y } }",
      "(a) => { const f = (b) => b.y; return f(a) + f(a.x) }",
    ],
  ])("is the same for %s and %s", (one, other) => {
    expect(textOf(one)).toBe(textOf(other));
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
