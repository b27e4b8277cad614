import { defineConfig } from "vitepress";
import { anchorOf } from "../build/anchors.mjs";
import { menu } from "../build/menu.mjs";
import { tablesCanScroll } from "../build/tables.mjs";
import { playgroundWorker } from "../playground/worker-build.mjs";

export default defineConfig({
  title: "Keywright",
  description: "A type-safe ORM over an ordered key-value store, for TypeScript.",
  lang: "en",
  srcDir: "generated",
  cleanUrls: true,
  lastUpdated: false,
  // A link to a page that does not exist ends the build.
  ignoreDeadLinks: false,
  markdown: {
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    anchor: { slugify: anchorOf },
    toc: { slugify: anchorOf },
    headers: { slugify: anchorOf },
    config: tablesCanScroll,
  },
  head: [
    ["link", { rel: "icon", href: "/icon.svg", type: "image/svg+xml" }],
    ["meta", { name: "color-scheme", content: "light dark" }],
  ],
  vite: { worker: playgroundWorker },
  themeConfig: {
    search: { provider: "local" },
    outline: { level: [2, 3] },
    nav: [
      { text: "Guides", link: "/models", activeMatch: "^/(models|indexes|queries)" },
      { text: "Playground", link: "/playground" },
      { text: "Errors", link: "/errors" },
      { text: "API", link: "/api/" },
      { text: "Compare", link: "/compare/" },
      { text: "Scorecard", link: "/scorecard" },
    ],
    sidebar: menu(),
    externalLinkIcon: true,
    docFooter: { prev: "Previous page", next: "Next page" },
  },
  // Scripts give the bar these classes only after the page is shown, and it would move then.
  transformHtml: (html, file) =>
    html.replace(
      'class="VPNavBar"',
      file.endsWith("/playground.html")
        ? 'class="VPNavBar top"'
        : 'class="VPNavBar has-sidebar top"',
    ),
  transformPageData(page) {
    // Each page is also there as Markdown.
    page.frontmatter.head = [
      ["link", { rel: "alternate", type: "text/markdown", href: `/${page.relativePath}` }],
    ];
  },
});
