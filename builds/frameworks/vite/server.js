// `node server.js` loads the sources through Vite, again after each change. With
// `NODE_ENV=production` it loads what `npm run build` has built.
import { createServer } from "node:http";

const isBuilt = process.env.NODE_ENV === "production";
const vite = isBuilt ? undefined : await startVite();
const load = () =>
  vite ? vite.ssrLoadModule("/src/entry-server.js") : import("./dist/entry-server.js");

async function startVite() {
  const { createServer } = await import("vite");
  return await createServer({ server: { middlewareMode: true, ws: false }, appType: "custom" });
}

const server = createServer(async (request, response) => {
  try {
    const { handle } = await load();
    await handle(request, response);
  } catch (error) {
    // For example, a source that has a syntax error at the moment.
    console.error(error);
    if (!response.headersSent) response.writeHead(500);
    response.end();
  }
});
server.listen(Number(process.env.PORT));
process.once("SIGTERM", () =>
  server.close(async () => {
    await (await globalThis.keywright)?.close();
    await vite?.close();
  }),
);
