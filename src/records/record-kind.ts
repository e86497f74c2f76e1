import type { Kysely } from 'kysely'
import { type Static, type TObject, type TProperties, type TSchema, Type } from 'typebox'
import type { Tables } from '../database/tables.ts'
import { id } from './fields.ts'

type Table = keyof Tables

/** A table that links records of two kinds. */
export interface Link {
  readonly table: Table
  /** The column with the id of the record whose link it is. */
  readonly own: string
  /** The column with the id of the record that it is linked to. */
  readonly other: string
  /** The column that holds their order, where they have one. */
  readonly position?: string
}

/** What a list can be narrowed by: the value of an indexed column, or a link to a record. */
export interface Filter {
  readonly schema: TSchema
  /** Its column, or a link, whose "other" is compared; default: the column of the filter's name. */
  readonly link?: Link
  /** Whether capitals make no difference, as in the column's unique index. */
  readonly ignoresCase?: boolean
}

export interface Constraint {
  /** The field that broke it. */
  readonly field: string
  /** What it refers to, as "language"; undefined: no two records may have one value. */
  readonly refersTo?: string
}

/** A kind of record: its one schema, and all that reading and writing it needs to know. */
export interface RecordKind {
  /** One of them, in words: "license type". */
  readonly name: string
  /** Several of them, in words: "license types". */
  readonly plural: string
  readonly table: Table
  /** What is read. */
  readonly schema: TObject
  /** What is written to add one. */
  readonly create: TObject
  /** What is written to change one: any of its fields. */
  readonly change: TObject
  /** Those of the schema's properties that are links; the others are columns. */
  readonly links: Readonly<Record<string, Link>>
  readonly filters: Readonly<Record<string, Filter>>
  /** The filter by which people know one: its name, and not its id. */
  readonly knownBy: string
  /** The columns that a list can be sorted by. */
  readonly sorts: readonly string[]
  /** By their names in the database. */
  readonly constraints: Readonly<Record<string, Constraint>>
  /** Whether everybody who may enter a license's site reads those of that license: its filter "license_id". */
  readonly open: boolean
  /** The column that changes of the table's rows are told under (migration 0002); null: they are told as a whole. */
  readonly storeKey: string | null
  /** Makes columns of the written values that are none. */
  readonly prepare: (values: Readonly<Record<string, unknown>>) => Promise<Readonly<Record<string, unknown>>>
  /**
   * Throws where a record must not be changed so, or removed (null), whoever asks.
   * @param db the transaction, before it has locked the record
   */
  readonly assertAllowed: (
    db: Kysely<Tables>,
    id: string,
    change: Readonly<Record<PropertyKey, unknown>> | null,
  ) => Promise<void>
  /** What the API's documentation shows: requests that can be sent, one after the other, where the demonstration records are. */
  readonly examples: {
    readonly id: string
    readonly create: Readonly<Record<string, unknown>>
    readonly change: Readonly<Record<string, unknown>>
  }
}

/** A record of a kind, as it is read. */
export type RecordOf<Kind extends RecordKind> = Static<Kind['schema']>

type Defaulted = 'links' | 'constraints' | 'open' | 'storeKey' | 'prepare' | 'assertAllowed'

interface Definition<
  Required extends TProperties,
  Optional extends TProperties,
  Generated extends TProperties,
  Secret extends TProperties,
>
  extends Omit<RecordKind, 'schema' | 'create' | 'change' | Defaulted>, Partial<Pick<RecordKind, Defaulted>> {
  readonly fields: {
    readonly required: Required
    /** Those of the required that are written otherwise than they are read. */
    readonly written?: TProperties
    /** Has a default. */
    readonly optional: Optional
    /** Set by the database, beside the id. */
    readonly generated: Generated
    /** Needed to add one, and never read. */
    readonly secret: Secret
  }
}

/** Makes a kind of its fields: one schema, from which those of its requests, its columns and its TypeScript type come. */
export function recordKind<
  Required extends TProperties,
  Optional extends TProperties,
  Generated extends TProperties,
  Secret extends TProperties,
>(definition: Definition<Required, Optional, Generated, Secret>) {
  const {
    fields: { generated, required, written = {}, optional, secret },
    ...rest
  } = definition
  const closed = { additionalProperties: false }
  const needed = { ...required, ...written, ...secret }
  const schema = Type.Object(
    { id: id(`The id of this ${rest.name}.`), ...required, ...optional, ...generated },
    { ...closed, description: `A ${rest.name}.` },
  )
  return {
    links: {},
    constraints: {},
    open: false,
    storeKey: null,
    prepare: async (values: Readonly<Record<string, unknown>>) => values,
    assertAllowed: async () => {},
    ...rest,
    schema,
    create: Type.Object({ ...needed, ...withDefaults(optional) }, { ...closed, examples: [rest.examples.create] }),
    change: Type.Partial(Type.Object({ ...needed, ...optional }), { ...closed, examples: [rest.examples.change] }),
  } satisfies RecordKind
}

/** A flag that is left out is false. */
function withDefaults(fields: TProperties): TProperties {
  return Object.fromEntries(
    Object.entries(fields).map(([name, schema]) => [
      name,
      Type.Optional(Type.IsBoolean(schema) ? Type.Boolean({ ...schema, default: false }) : schema),
    ]),
  )
}
