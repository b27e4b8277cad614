import { once } from "node:events";
import { request } from "node:http";
import type { StudioCalls } from "../src/protocol/studio-calls.js";
import { decode, encode } from "../src/protocol/wire.js";
import { type Studio, type StudioOptions, startStudio } from "../src/start-studio.js";

/** A studio with a browser that has opened it. */
export interface OpenStudio extends AsyncDisposable {
  readonly studio: Studio;
  readonly base: string;
  readonly cookie: string;
  call<N extends keyof StudioCalls>(
    name: N,
    input: StudioCalls[N]["input"],
  ): Promise<StudioCalls[N]["output"]>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

export async function openStudio(options: StudioOptions): Promise<OpenStudio> {
  const studio = await startStudio(options);
  const base = new URL("/", studio.url).href;
  const { headers } = await send(studio.url);
  const cookie = String(headers["set-cookie"]).split(";")[0] ?? "";
  return {
    studio,
    base,
    cookie,
    call: async (name, input) => {
      const body = encode(input);
      const { status, text } = await send(
        `${base}api/${name}`,
        { cookie, origin: base.slice(0, -1) },
        body,
      );
      if (status === 200) return decode(text);
      throw decode(text);
    },
    [Symbol.asyncDispose]: () => studio.close(),
  };
}

/** Sends a request with any headers, unlike `fetch`. With a body it is a POST. */
export async function send(
  url: string,
  headers: Readonly<Record<string, string>> = {},
  body?: string,
): Promise<Answer> {
  const sent = request(url, { method: body === undefined ? "GET" : "POST", headers });
  // A server that refuses a body ends the connection before it has all of it.
  sent.on("socket", (socket) => socket.off("error", ignored).on("error", ignored));
  sent.on("error", ignored).end(body);
  const [response] = await once(sent, "response");
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) text += chunk;
  return { status: response.statusCode, headers: response.headers, text };
}

function ignored(): void {
  // The answer, or its absence, says what happened.
}
