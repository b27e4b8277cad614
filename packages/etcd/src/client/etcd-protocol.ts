import type { MethodDefinition } from "@grpc/grpc-js";
import { fromJSON, type PackageDefinition, type ServiceDefinition } from "@grpc/proto-loader";
import protobuf from "protobufjs";
import type { WatchRequest, WatchResponse } from "./etcd-messages.js";
import { etcdProto } from "./etcd-proto.js";

let loaded: PackageDefinition | undefined;

/** Returns the definition of a method such as `KV.Txn`. */
export function methodOf<Request, Response>(name: string): MethodDefinition<Request, Response> {
  loaded ??= fromJSON(protobuf.parse(etcdProto).root.toJSON(), {
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
