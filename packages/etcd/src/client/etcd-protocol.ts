import { fileURLToPath } from "node:url";
import type { MethodDefinition } from "@grpc/grpc-js";
import { loadSync, type PackageDefinition, type ServiceDefinition } from "@grpc/proto-loader";
import type { WatchRequest, WatchResponse } from "./etcd-messages.js";

let loaded: PackageDefinition | undefined;

/** Returns the definition of a method such as `KV.Txn`. */
export function methodOf<Request, Response>(name: string): MethodDefinition<Request, Response> {
  loaded ??= loadSync(fileURLToPath(new URL("../../proto/etcd.proto", import.meta.url)), {
    longs: Number,
    enums: String,
    defaults: true,
    arrays: true,
  });
  const [service, method] = name.split(".") as [string, string];
  const definition = loaded[`etcdserverpb.${service}`] as unknown as ServiceDefinition;
  return definition[method] as unknown as MethodDefinition<Request, Response>;
}

export function watchMethod(): MethodDefinition<WatchRequest, WatchResponse> {
  return methodOf("Watch.Watch");
}
