// Starts the servers of the programs, and checks what they answer.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";

/** Milliseconds in which a server must answer, and in which it must end. */
const patience = 120_000;

const hiddenField = /<input type="hidden" name="([^"]+)"(?: value="([^"]*)")?/g;

/** What a server answers to these bodies, one after another. */
export const requests = [
  ['{ "name": "Ada", "email": "ada@example.com" }', 201],
  ['{ "name": "Other", "email": "ADA@example.com" }', 409],
  ['{ "name": "", "email": "ada" }', 400],
  ["no JSON", 400],
];

/**
 * Starts a server, which listens on `PORT`, and stops it after `use`. Returns what it has printed.
 *
 * @param options `args` after the name of the program, or a function that makes them of the port;
 *   `cwd`, `env`, and another `program` than this Node.js.
 */
export async function withServer({ args, cwd, env, program = process.execPath }, use) {
  const port = await freePort();
  const words = typeof args === "function" ? args(port) : args;
  const options = { cwd, env: { ...env, PORT: String(port) }, stdio: ["ignore", "pipe", "pipe"] };
  const server = spawn(program, words, options);
  let printed = "";
  for (const stream of [server.stdout, server.stderr])
    stream.setEncoding("utf8").on("data", (text) => {
      printed += text;
    });
  const ended = once(server, "close");
  try {
    const url = `http://127.0.0.1:${port}`;
    await untilAnswered(url, () => server.exitCode !== null);
    await use(url);
    server.kill("SIGTERM");
    const timer = setTimeout(() => server.kill("SIGKILL"), patience);
    const [, signal] = await ended;
    clearTimeout(timer);
    if (signal === "SIGKILL") throw new Error("the server did not end after SIGTERM");
    return printed;
  } catch (error) {
    throw new Error(`${words.join(" ")}: ${error.message}\n${printed}`, { cause: error });
  } finally {
    server.kill("SIGKILL");
    await ended;
  }
}

export async function post(url, body) {
  const headers = { "content-type": "application/json", connection: "close" };
  const signal = AbortSignal.timeout(patience);
  return await fetch(`${url}/api/users`, { method: "POST", headers, body, signal });
}

export async function checkStatus(url, body, expected) {
  const { status } = await post(url, body);
  if (status !== expected) throw new Error(`${body} has the status ${status}, not ${expected}`);
}

/** Reads a live query as server-sent events while rows change, and goes away. */
export async function checkLiveQuery(url) {
  const client = new AbortController();
  const events = await openEvents(url, client.signal);
  await events.until("ada@example.com");
  await checkStatus(url, '{ "name": "Grace", "email": "grace@example.com" }', 201);
  await events.until("grace@example.com");
  client.abort();
}

/** Sends the form of the page as a browser without scripts does, and finds the row in the page. */
export async function checkForm(url) {
  const page = await (await fetch(url)).text();
  const body = new FormData();
  for (const [, name, value = ""] of page.matchAll(hiddenField)) body.append(name, value);
  body.append("name", "Katherine");
  body.append("email", "katherine@example.com");
  const headers = { origin: url, "x-forwarded-proto": "http" };
  const { status } = await fetch(url, { method: "POST", headers, body });
  if (status >= 400) throw new Error(`the form has the status ${status}`);
  const after = await (await fetch(url)).text();
  if (!after.includes("Ada") || !after.includes("Katherine"))
    throw new Error("the page does not show the rows");
}

/** Opens the server-sent events of a server. */
export async function openEvents(url, signal) {
  const response = await fetch(`${url}/api/users/live`, { signal });
  const type = response.headers.get("content-type");
  if (!type.startsWith("text/event-stream")) throw new Error(`the live query has the type ${type}`);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  return {
    async until(part) {
      while (!text.includes(part)) {
        const { done, value } = await reader.read();
        if (done) throw new Error(`the live query ended before it reported ${part}`);
        text += value;
      }
    },
  };
}

/** Waits until something listens. */
export async function untilAnswered(url, hasEnded) {
  for (const started = performance.now(); ; ) {
    if (hasEnded()) throw new Error("the server has ended");
    const answers = await fetch(url).then(
      () => true,
      () => false,
    );
    if (answers) return;
    if (performance.now() - started > patience) throw new Error("the server does not answer");
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

export async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
