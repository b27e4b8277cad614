export type { TlsOptions } from "./http/listen.js";
export type { TimeLimits } from "./http/time-limits.js";
export type { Token, TokenAccess } from "./http/tokens.js";
export { type KvServer, serve } from "./serve.js";
export type { ServeOptions } from "./serve-options.js";
