import { describe, expect, it } from "vitest";
import { linksOfSite } from "../build/links.mjs";
import { headOf } from "../build/markdown.mjs";

const repository = "https://example.org/repository";

describe("links", () => {
  it("lead from a page to another page of the site", () => {
    expect(linksOfSite("[rows](../README.md#install)", "docs/models.md", repository)).toBe(
      "[rows](./index.md#install)",
    );
    expect(linksOfSite("[`sqlite`](../packages/sqlite/README.md)", "docs/models.md")).toBe(
      "[`sqlite`](./packages/sqlite.md)",
    );
    expect(linksOfSite("[models](../models.md)", "docs/migrations/rows.md")).toBe(
      "[models](../models.md)",
    );
  });

  it("lead to the repository, or are text if it has no address", () => {
    const text = "See [`shop`](../examples/shop/src).";
    expect(linksOfSite(text, "docs/models.md", repository)).toBe(
      `See [\`shop\`](${repository}/examples/shop/src).`,
    );
    expect(linksOfSite(text, "docs/models.md")).toBe("See `shop`.");
  });

  it("to other sites, and what looks like a link in code, do not change", () => {
    const text = "[Zod](https://zod.dev) `kv[key](missing.md)`\n\n```ts\nrun[0](missing.md)\n```\n";
    expect(linksOfSite(text, "docs/models.md", repository)).toBe(text);
  });

  it("to a file that does not exist are refused", () => {
    expect(() => linksOfSite("[a](missing.md)", "docs/models.md")).toThrow(
      "docs/models.md links to missing.md, which does not exist.",
    );
  });
});

it("the head of a page is its title and its first paragraph, without markup", () => {
  const text =
    "# The `keywright` command\n\n<!-- generated -->\n\nWhich [command](a.md) do\nI need?\n\nMore.\n";
  expect(headOf(text)).toEqual({
    title: "The keywright command",
    description: "Which command do I need?",
  });
});
