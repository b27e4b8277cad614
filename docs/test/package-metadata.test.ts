import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { packageFolders, withMetadata } from "../../scripts/package-metadata.mjs";
import { root } from "./pages.js";

describe.each(packageFolders)("the manifest of %s", (folder) => {
  const manifest = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));

  it("has the metadata of the root (npm run metadata:update writes it)", () => {
    const expected = JSON.parse(withMetadata(folder));
    expect(Object.entries(manifest)).toEqual(Object.entries(expected));
  });

  it("says in the registry what the package is", () => {
    expect(manifest.description).toMatch(/\.$/);
    expect(manifest.keywords[0]).toBe("keywright");
    expect(manifest.keywords.length).toBeGreaterThan(3);
    expect(manifest.files).toContain("CHANGELOG.md");
  });
});
