// SPDX-License-Identifier: Apache-2.0

// Types, schemas, and what the host says about a branch.
import { fail } from "./processor";

// The kind of a type, numbered as on the wire.
export enum Kind {
  U8, I8, U16, I16, U32, I32, U64, I64, Bool, String, Bytes, Datetime, F32, F64, Array, Vec,
}

const WORDS: StaticArray<string> = ["U8", "I8", "U16", "I16", "U32", "I32", "U64", "I64", "BOOL", "STRING", "BYTES", "DATETIME", "F32", "F64", "ARRAY", "VEC"];
const WIDTHS: StaticArray<u8> = [1, 1, 2, 2, 4, 4, 8, 8, 0, 0, 0, 8, 4, 8, 0, 0];

// The word of NSPL for a kind.
export function wordOf(kind: Kind): string {
  return WORDS[kind];
}

// The size of a value in bytes, 0 where values have none.
export function widthOf(kind: Kind): u32 {
  return WIDTHS[kind];
}

// The type of a field. An ARRAY of several axes is an Array of Arrays, outer axis first.
@final
export class Type {
  constructor(
    public kind: Kind,
    public length: u32, // of Array
    public element: Type | null, // of Array and Vec
  ) {}

  equals(o: Type): bool {
    if (this.kind != o.kind || this.length != o.length) return false;
    const a = this.element, b = o.element;
    if (a === null || b === null) return a === b;
    return a.equals(b);
  }

  // The spelling of NSPL: VEC<ARRAY<F32, 2, 3>>.
  toString(): string {
    const element = this.element;
    if (element === null) return wordOf(this.kind);
    if (this.kind == Kind.Vec) return "VEC<" + element.toString() + ">";
    let axes = ", " + this.length.toString();
    let inner: Type = element;
    while (inner.kind == Kind.Array) {
      axes += ", " + inner.length.toString();
      inner = inner.element!;
    }
    return "ARRAY<" + inner.toString() + axes + ">";
  }
}

// A field of a schema.
@final
export class Field {
  constructor(public name: string, public type: Type, public optional: bool) {}

  spelling(): string {
    return this.optional ? this.type.toString() + " OPTIONAL" : this.type.toString();
  }
}

// The schema of the input, or of an output, whose name is then that of the relay.
@final
export class Schema {
  constructor(public name: string, public fields: Array<Field>) {}

  // The fields in the words of NSPL: "sensor STRING, value F64 OPTIONAL".
  toString(): string {
    let text = "";
    for (let i = 0; i < this.fields.length; i++) {
      const f = this.fields[i];
      text += (i > 0 ? ", " : "") + f.name + " " + f.spelling();
    }
    return text;
  }

  // Whether the schema has exactly these fields. Names, types, nullability and order count, and the spelling is that of toString.
  is(fields: string): bool {
    return this.toString() == fields;
  }

  // The number of a field, or -1.
  find(name: string): i32 {
    for (let i = 0; i < this.fields.length; i++) {
      if (this.fields[i].name == name) return i;
    }
    return -1;
  }

  // The number of a field that has to have this type, for instance "F64 OPTIONAL"; an empty type accepts any. Below 0 is a failure, which create
  // returns.
  require(name: string, type: string): i32 {
    const i = this.find(name);
    if (i < 0) return fail(this.name + " has no field " + name + ", which this guest needs");
    const have = this.fields[i].spelling();
    if (type.length > 0 && have != type) return fail("field " + name + " of " + this.name + " is " + have + ", this guest needs " + type);
    return i;
  }

  requireAll(what: string, fields: string): i32 {
    if (this.is(fields)) return 0;
    return fail("the " + what + " " + this.name + " has the fields (" + this.toString() + "), this guest needs (" + fields + ")");
  }

  equals(o: Schema): bool {
    if (this.name != o.name || this.fields.length != o.fields.length) return false;
    for (let i = 0; i < this.fields.length; i++) {
      const a = this.fields[i], b = o.fields[i];
      if (a.name != b.name || a.optional != b.optional || !a.type.equals(b.type)) return false;
    }
    return true;
  }
}

// What the host says about this branch. It lives as long as the instance.
@final
export class Init {
  domainName: string = "";
  domainType: string = "";
  // The key as canonical JSON text, {"tenant":"alpha"} for instance; null if the processor is not branched.
  branchKey: string | null = null;
  input: Schema = new Schema("", []);
  outputs: Array<Schema> = []; // one for each TO, named like its relay

  // Holds the input against what the guest was written for, spelled like Schema.toString. 0, or a failure that says both.
  requireInput(fields: string): i32 {
    return this.input.requireAll("input", fields);
  }

  // Gives the number of the output of a relay, held against what the guest was written for; empty fields accept any. Below 0 is a failure.
  requireOutput(relay: string, fields: string): i32 {
    for (let i = 0; i < this.outputs.length; i++) {
      const s = this.outputs[i];
      if (s.name != relay) continue;
      const code = fields.length > 0 ? s.requireAll("output", fields) : 0;
      return code < 0 ? code : i;
    }
    return fail("the processor has no output " + relay + ", which this guest needs");
  }

  // Whether state saved under this payload belongs to a branch with the other: all but the name of the domain agrees (W-125).
  sameBranch(o: Init): bool {
    const a = this.branchKey, b = o.branchKey;
    if (a === null || b === null) {
      if (a !== b) return false;
    } else if (a != b) return false;
    if (this.domainType != o.domainType || !this.input.equals(o.input) || this.outputs.length != o.outputs.length) return false;
    for (let i = 0; i < this.outputs.length; i++) {
      if (!this.outputs[i].equals(o.outputs[i])) return false;
    }
    return true;
  }
}
