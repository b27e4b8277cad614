export type { TlsOptions } from "./http/listen.js";
export type { TimeLimits } from "./http/time-limits.js";
export type { Token, TokenAccess } from "./http/tokens.js";
export { type KvServer, type ServeOptions, serve } from "./serve.js";
