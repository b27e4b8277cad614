/**
 * The part of etcd's API that this package uses. Names and numbers are those of etcd 3.4:
 * api/etcdserverpb/rpc.proto, api/mvccpb/kv.proto (https://github.com/etcd-io/etcd, Apache 2.0).
 * Fields that this package does not use are left out. etcd and gRPC permit that. It is text in a
 * module and not a file, so that a bundle has it.
 */
export const etcdProto = `
syntax = "proto3";
package etcdserverpb;

service KV {
  rpc Range(RangeRequest) returns (RangeResponse) {}
  rpc Txn(TxnRequest) returns (TxnResponse) {}
  rpc Compact(CompactionRequest) returns (CompactionResponse) {}
}

service Watch {
  rpc Watch(stream WatchRequest) returns (stream WatchResponse) {}
}

service Maintenance {
  rpc Status(StatusRequest) returns (StatusResponse) {}
}

service Auth {
  rpc Authenticate(AuthenticateRequest) returns (AuthenticateResponse) {}
}

message ResponseHeader {
  int64 revision = 3;
}

message KeyValue {
  bytes key = 1;
  int64 mod_revision = 3;
  bytes value = 5;
}

message RangeRequest {
  enum SortOrder {
    NONE = 0;
    ASCEND = 1;
    DESCEND = 2;
  }
  enum SortTarget {
    KEY = 0;
    VERSION = 1;
    CREATE = 2;
    MOD = 3;
    VALUE = 4;
  }
  bytes key = 1;
  bytes range_end = 2;
  int64 limit = 3;
  int64 revision = 4;
  SortOrder sort_order = 5;
  SortTarget sort_target = 6;
  bool keys_only = 8;
  bool count_only = 9;
  int64 min_mod_revision = 10;
}

message RangeResponse {
  ResponseHeader header = 1;
  repeated KeyValue kvs = 2;
  bool more = 3;
  int64 count = 4;
}

message PutRequest {
  bytes key = 1;
  bytes value = 2;
}

message PutResponse {}

message DeleteRangeRequest {
  bytes key = 1;
  bytes range_end = 2;
}

message DeleteRangeResponse {}

message RequestOp {
  oneof request {
    RangeRequest request_range = 1;
    PutRequest request_put = 2;
    DeleteRangeRequest request_delete_range = 3;
    TxnRequest request_txn = 4;
  }
}

message ResponseOp {
  oneof response {
    RangeResponse response_range = 1;
    PutResponse response_put = 2;
    DeleteRangeResponse response_delete_range = 3;
    TxnResponse response_txn = 4;
  }
}

message Compare {
  enum CompareResult {
    EQUAL = 0;
    GREATER = 1;
    LESS = 2;
  }
  enum CompareTarget {
    VERSION = 0;
    CREATE = 1;
    MOD = 2;
    VALUE = 3;
  }
  CompareResult result = 1;
  CompareTarget target = 2;
  bytes key = 3;
  oneof target_union {
    int64 mod_revision = 6;
    bytes value = 7;
  }
  bytes range_end = 64;
}

message TxnRequest {
  repeated Compare compare = 1;
  repeated RequestOp success = 2;
  repeated RequestOp failure = 3;
}

message TxnResponse {
  ResponseHeader header = 1;
  bool succeeded = 2;
  repeated ResponseOp responses = 3;
}

message CompactionRequest {
  int64 revision = 1;
}

message CompactionResponse {}

message WatchRequest {
  oneof request_union {
    WatchCreateRequest create_request = 1;
  }
}

message WatchCreateRequest {
  bytes key = 1;
  bytes range_end = 2;
  int64 start_revision = 3;
  bool progress_notify = 4;
}

message Event {
  enum EventType {
    PUT = 0;
    DELETE = 1;
  }
  EventType type = 1;
  KeyValue kv = 2;
}

message WatchResponse {
  ResponseHeader header = 1;
  bool created = 3;
  bool canceled = 4;
  int64 compact_revision = 5;
  string cancel_reason = 6;
  repeated Event events = 11;
}

message StatusRequest {}

message StatusResponse {
  ResponseHeader header = 1;
  string version = 2;
  uint64 leader = 4;
}

message AuthenticateRequest {
  string name = 1;
  string password = 2;
}

message AuthenticateResponse {
  string token = 2;
}
`;
