export type { TlsOptions } from "./http/listen.js";
export type { Token, TokenAccess } from "./http/tokens.js";
export { type KvServer, type ServeOptions, serve } from "./serve.js";
