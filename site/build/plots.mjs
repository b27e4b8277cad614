import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { root } from "./page-list.mjs";

const picture =
  /<picture>\s*<source media="\(prefers-color-scheme: dark\)" srcset="([^"]+)">\s*<img alt="([^"]*)" src="([^"]+)">\s*<\/picture>/g;

/**
 * Shows the dark plot in the dark theme of the site, which readers can choose, instead of in the
 * dark theme of the system. Sizes keep the place of a plot while it loads.
 */
export function plotsOfTheme(text) {
  return text.replaceAll(picture, (_, dark, alt, light) => {
    const svg = readFileSync(join(root, "docs/plots", basename(light)), "utf8");
    const [, width, height] = /viewBox="0 0 ([\d.]+) ([\d.]+)"/.exec(svg) ?? [];
    const image = (src, theme) =>
      `<img class="plot ${theme}" alt="${alt}" src="${src}" width="${width}" height="${height}" loading="lazy">`;
    return `<div class="plots" tabindex="0" role="group" aria-label="${alt}">${image(light, "in-light")}${image(dark, "in-dark")}</div>`;
  });
}
