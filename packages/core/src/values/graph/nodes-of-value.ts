import { valueFormat } from "../encode-value.js";
import { unpack } from "../message-pack/message-pack.js";
import type { GraphNode, ValueGraph } from "./value-graph.js";

/**
 * Returns the kinds of the nodes of an encoded value, such as `"map"` and `"blob"`. Undefined if it
 * has another format than the graph, in which all data is plain.
 */
export function nodesOfValue(encoded: Uint8Array): ReadonlySet<GraphNode[0]> | undefined {
  if (encoded[0] !== valueFormat.graph) return undefined;
  const [, ...nodes] = unpack(encoded, 1) as ValueGraph;
  return new Set(nodes.map(([kind]) => kind));
}
