import type { Buffer } from "node:buffer";

// The messages of etcd-proto.ts as the protocol loader reads and returns them.

export interface ResponseHeader {
  readonly revision: number;
}

export interface KeyValue {
  readonly key: Buffer;
  readonly modRevision: number;
  readonly value: Buffer;
}

export interface RangeRequest {
  readonly key: Uint8Array;
  readonly rangeEnd?: Uint8Array;
  readonly limit?: number;
  /** The revision to read. Without it, the read sees the latest committed state. */
  readonly revision?: number;
  readonly sortOrder?: "ASCEND" | "DESCEND";
  /** The key by default. */
  readonly sortTarget?: "MOD";
  readonly keysOnly?: boolean;
  readonly countOnly?: boolean;
  readonly minModRevision?: number;
}

export interface RangeResponse {
  readonly header: ResponseHeader;
  readonly kvs: readonly KeyValue[];
  readonly more: boolean;
  /** The number of keys of the range, whatever the limit and `minModRevision`. */
  readonly count: number;
}

export type RequestOp =
  | { readonly requestRange: RangeRequest }
  | { readonly requestPut: { readonly key: Uint8Array; readonly value: Uint8Array } }
  | { readonly requestDeleteRange: { readonly key: Uint8Array } }
  | { readonly requestTxn: TxnRequest };

export interface ResponseOp {
  readonly responseRange?: RangeResponse;
  readonly responseTxn?: TxnResponse;
}

export type Compare =
  | {
      readonly target: "MOD";
      readonly result: "EQUAL";
      readonly key: Uint8Array;
      readonly modRevision: number;
    }
  /** Holds if it does for all keys of the range. */
  | {
      readonly target: "MOD";
      readonly result: "LESS";
      readonly key: Uint8Array;
      readonly rangeEnd: Uint8Array;
      readonly modRevision: number;
    }
  | {
      readonly target: "VALUE";
      readonly result: "GREATER" | "LESS";
      readonly key: Uint8Array;
      readonly value: Uint8Array;
    };

export interface TxnRequest {
  readonly compare?: readonly Compare[];
  readonly success?: readonly RequestOp[];
  readonly failure?: readonly RequestOp[];
}

export interface TxnResponse {
  readonly header: ResponseHeader;
  readonly succeeded: boolean;
  readonly responses: readonly ResponseOp[];
}

export interface WatchRequest {
  readonly createRequest: {
    readonly key: Uint8Array;
    readonly rangeEnd: Uint8Array;
    readonly startRevision: number;
    readonly progressNotify: boolean;
  };
}

export interface WatchEvent {
  readonly type: "PUT" | "DELETE";
  readonly kv: KeyValue;
}

export interface WatchResponse {
  readonly header: ResponseHeader;
  readonly created: boolean;
  readonly canceled: boolean;
  readonly compactRevision: number;
  readonly cancelReason: string;
  readonly events: readonly WatchEvent[];
}

export interface StatusResponse {
  readonly version: string;
}

/** The unary calls: the request and the response of each. */
export interface EtcdCalls {
  "KV.Range": [RangeRequest, RangeResponse];
  "KV.Txn": [TxnRequest, TxnResponse];
  "KV.Compact": [{ readonly revision: number }, object];
  "Maintenance.Status": [object, StatusResponse];
  "Auth.Authenticate": [
    { readonly name: string; readonly password: string },
    { readonly token: string },
  ];
}
