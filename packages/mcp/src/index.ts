export type { McpOptions } from "./mcp-options.js";
export { type McpServer, serveMcp } from "./serve-mcp.js";
export type { OpenDatabase, OpenModel } from "./source/open-database.js";
