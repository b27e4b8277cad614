import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

/** Returns a path in the folder of this package. */
function inPackage(path) {
  return fileURLToPath(new URL(path, import.meta.url));
}

/** Adds the licenses of the packages whose code is in the script, which they require. */
const licenses = {
  name: "licenses",
  generateBundle(_options, bundle) {
    const modules = Object.values(bundle).flatMap(({ modules: of = {} }) => Object.keys(of));
    const folders = modules.map((id) => /^[^\0]*node_modules\/(@[^/]+\/)?[^/]+/.exec(id)?.[0]);
    const texts = [...new Set(folders.filter(Boolean))].sort().map((folder) => {
      const name = folder.replace(/^.*node_modules\//, "");
      return `${name}\n\n${readFileSync(`${folder}/LICENSE`, "utf8")}`;
    });
    this.emitFile({ type: "asset", fileName: "licenses.txt", source: texts.join("\n\n") });
  },
};

export default defineConfig({
  plugins: [licenses],
  root: inPackage("page"),
  base: "/",
  resolve: {
    // The table and the virtual list are written for another library with the same functions.
    alias: [
      { find: /^react\/jsx-(dev-)?runtime$/, replacement: "preact/jsx-runtime" },
      { find: /^react-dom\/client$/, replacement: "preact/compat/client" },
      { find: /^react(-dom)?$/, replacement: "preact/compat" },
    ],
  },
  build: {
    outDir: inPackage("dist/page"),
    emptyOutDir: true,
    target: "es2022",
    // The policy of the server allows no inline code and no data in style sheets.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    cssCodeSplit: false,
    reportCompressedSize: true,
    rollupOptions: {
      // Of a framework that renders on servers too, which this page is not.
      onwarn: (warning, warn) => {
        if (warning.code !== "MODULE_LEVEL_DIRECTIVE") warn(warning);
      },
    },
  },
});
