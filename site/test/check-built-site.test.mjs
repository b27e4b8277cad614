import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { checkBuiltSite } from "../build/check-built-site.mjs";

it("finds links to pages, files and headings that do not exist", () => {
  const folder = mkdtempSync(join(tmpdir(), "keywright-links-"));
  try {
    mkdirSync(join(folder, "guide"));
    writeFileSync(
      join(folder, "index.html"),
      '<a class="x" href="/guide/rows#first">1</a><a href="/guide/rows#second">2</a><a href="./guide/">3</a>' +
        '<a href="#here">4</a><h1 id="here"></h1><img src="/plot.svg"><a href="https://example.org">5</a>',
    );
    writeFileSync(
      join(folder, "guide/rows.html"),
      '<h2 id="first"></h2><a href="../missing">6</a>',
    );
    writeFileSync(join(folder, "guide/index.html"), "");
    expect(checkBuiltSite(folder)).toEqual({
      pages: 3,
      links: 6,
      broken: [
        "index.html: /guide/rows#second (no such heading)",
        "index.html: /plot.svg",
        "guide/rows.html: ../missing",
      ].sort(),
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
