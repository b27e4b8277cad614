import { randomBytes, timingSafeEqual } from "node:crypto";
import type { Context, Next } from "hono";
import { getCookie, setCookie } from "hono/cookie";

const policy = [
  "default-src 'none'",
  ...["script-src", "style-src", "connect-src"].map((source) => `${source} 'self'`),
  "img-src 'self' data:",
  ...["base-uri", "form-action", "frame-ancestors"].map((source) => `${source} 'none'`),
].join("; ");

const headers: Readonly<Record<string, string>> = {
  "Content-Security-Policy": policy,
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Cache-Control": "no-store",
};

/**
 * Lets only the browser in that opened the address with the token. The page of another origin, a
 * host name that leads to the loopback address (DNS rebinding) and other programs are refused,
 * before anything is read.
 */
export class Guard {
  readonly #session: string = randomBytes(32).toString("base64url");
  /** Undefined after it was used. */
  #token: string | undefined = randomBytes(32).toString("base64url");
  #port = 0;

  setPort(port: number): void {
    this.#port = port;
  }

  /** The address with the token. */
  get url(): string {
    const base = `http://127.0.0.1:${this.#port}/`;
    return this.#token === undefined ? base : `${base}?token=${this.#token}`;
  }

  /** The middleware of all requests. */
  readonly check = async (context: Context, next: Next): Promise<Response | undefined> => {
    for (const [name, value] of Object.entries(headers)) context.header(name, value);
    if (!this.#isOwnHost(context)) return context.text("This host name is not served here.", 421);
    if (!this.#isOwnOrigin(context)) return context.text("Another page made this request.", 403);
    const token = context.req.query("token");
    if (token !== undefined && context.req.path === "/") return this.#enter(context, token);
    if (!this.#hasSession(context)) {
      const text = "Open the address that the command printed. It works once, in one browser.";
      return context.text(text, 403);
    }
    await next();
    return undefined;
  };

  /** Exchanges the token for the cookie. The page opens from here, so that the cookie is sent. */
  #enter(context: Context, token: string): Response {
    const isFirst = this.#token !== undefined && isSame(token, this.#token);
    if (!isFirst && !this.#hasSession(context)) {
      const text = "This address was used already. Start the studio again for another one.";
      return context.text(text, 403);
    }
    if (isFirst) {
      this.#token = undefined;
      const strict = { httpOnly: true, sameSite: "Strict", path: "/" } as const;
      setCookie(context, this.#cookie, this.#session, strict);
    }
    return context.html(
      '<!doctype html><title>Studio</title><meta http-equiv="refresh" content="0;url=/">',
    );
  }

  /** Cookies do not distinguish ports. */
  get #cookie(): string {
    return `keywright-studio-${this.#port}`;
  }

  #hasSession(context: Context): boolean {
    const cookie = getCookie(context, this.#cookie);
    return cookie !== undefined && isSame(cookie, this.#session);
  }

  #isOwnHost(context: Context): boolean {
    return this.#hosts.includes(context.req.header("host") ?? "");
  }

  /** Browsers send `Origin` with each POST, and `Sec-Fetch-Site` with each request. */
  #isOwnOrigin(context: Context): boolean {
    const origin = context.req.header("origin");
    const site = context.req.header("sec-fetch-site");
    const isSafe = context.req.method === "GET" || context.req.method === "HEAD";
    if (origin === undefined ? !isSafe : !this.#hosts.some((host) => origin === `http://${host}`))
      return false;
    // A link of another page may open the studio, which shows nothing without the cookie.
    const isOpened = isSafe && context.req.header("sec-fetch-mode") === "navigate";
    return site === undefined || site === "same-origin" || site === "none" || isOpened;
  }

  get #hosts(): readonly string[] {
    const names = ["127.0.0.1", "localhost"];
    const hosts = names.map((name) => `${name}:${this.#port}`);
    // Browsers leave out the usual port.
    return this.#port === 80 ? [...hosts, ...names] : hosts;
  }
}

function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
