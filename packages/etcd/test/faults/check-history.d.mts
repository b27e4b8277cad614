export interface RecordedCall {
  readonly start: number;
  readonly end: number;
}

export interface History {
  readonly writes: readonly (RecordedCall & {
    readonly key: string;
    readonly value: string;
    readonly previous: string | null;
    readonly stamp: string | undefined;
  })[];
  readonly reads: readonly (RecordedCall & {
    readonly key: string;
    readonly value: string | null;
    readonly stamp: string | null;
  })[];
  readonly increments: readonly (RecordedCall & {
    readonly id: string;
    readonly stamp: string | undefined;
  })[];
  readonly final: {
    readonly registers: readonly {
      readonly key: string;
      readonly value: string;
      readonly stamp: string;
    }[];
    readonly counter: number;
    readonly markers: readonly { readonly id: string; readonly stamp: string }[];
    readonly log: readonly { readonly id: string; readonly stamp: string }[];
  };
}

export declare function contradictions(history: History): string[];
