import { build } from "esbuild";
import { expect, it } from "vitest";

it("holds only the English texts of Zod", async () => {
  const contents = `import { createDatabase } from "@keywright/orm"; console.log(createDatabase);`;
  const { metafile } = await build({
    stdin: { contents, resolveDir: import.meta.dirname },
    bundle: true,
    write: false,
    metafile: true,
    platform: "node",
    format: "esm",
    loader: { ".node": "empty" },
    external: ["@msgpackr-extract/*"],
  });
  const [{ inputs }] = Object.values(metafile.outputs);
  const locales = Object.entries(inputs)
    .filter(([file, { bytesInOutput }]) => file.includes("/locales/") && bytesInOutput > 500)
    .map(([file]) => file.split("/").at(-1));
  expect(locales).toEqual(["en.js"]);
});
