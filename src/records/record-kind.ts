import type { Kysely } from 'kysely'
import { type Static, type TObject, type TProperties, type TSchema, Type } from 'typebox'
import type { Tables } from '../database/tables.ts'
import { id } from './fields.ts'

type Table = keyof Tables

/** A table that links records of two kinds. */
export interface Link {
  readonly table: Table
  /** The column with the id of the record that has the link. */
  readonly own: string
  /** The column with the id of the linked record. */
  readonly other: string
  /** The column with the order of the links, if they have an order. */
  readonly position?: string
}

/** Filters a list by the value of an indexed column, or by a link to a record. */
export interface Filter {
  readonly schema: TSchema
  /** The link whose "other" column is compared. Default: the column with the filter's name is compared. */
  readonly link?: Link
  /** Whether case is ignored, as in the column's unique index. */
  readonly ignoresCase?: boolean
}

export interface Constraint {
  /** The field whose value violates the constraint. */
  readonly field: string
  /** For a foreign key, the kind that the field refers to, such as "language". Undefined for a unique constraint. */
  readonly refersTo?: string
}

/** A kind of record: its schemas and everything that is needed to read and write it. */
export interface RecordKind {
  /** The singular: "license type". */
  readonly name: string
  /** The plural: "license types". */
  readonly plural: string
  readonly table: Table
  /** A record as it is read. */
  readonly schema: TObject
  /** The fields to add a record with. */
  readonly create: TObject
  /** The fields that can be changed, all optional. */
  readonly change: TObject
  /** The properties of the schema that are links. All others are columns. */
  readonly links: Readonly<Record<string, Link>>
  readonly filters: Readonly<Record<string, Filter>>
  /** The filter by which people identify a record, such as its name. */
  readonly knownBy: string
  /** The columns that a list can be sorted by. */
  readonly sorts: readonly string[]
  /** The constraints, by their names in the database. */
  readonly constraints: Readonly<Record<string, Constraint>>
  /** Whether a site's visitors may read the records of its license, which the filter "license_id" selects. */
  readonly open: boolean
  /** The key column of the table's change notifications, or null if they have none (migration 0002). */
  readonly storeKey: string | null
  /** Converts written values to column values, such as a password to its hash. */
  readonly prepare: (values: Readonly<Record<string, unknown>>) => Promise<Readonly<Record<string, unknown>>>
  /**
   * Rejects if nobody, not even an admin, may make this change.
   * @param db the transaction, before it has locked the record
   * @param change the new values, or null if the record is to be removed
   */
  readonly assertAllowed: (
    db: Kysely<Tables>,
    id: string,
    change: Readonly<Record<PropertyKey, unknown>> | null,
  ) => Promise<void>
  /** Examples for the API's documentation, which work in this order on the demonstration records. */
  readonly examples: {
    readonly id: string
    readonly create: Readonly<Record<string, unknown>>
    readonly change: Readonly<Record<string, unknown>>
  }
}

/** The type of a kind's records. */
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
    /** The required fields whose schema for writing differs from the one for reading. */
    readonly written?: TProperties
    /** Fields with a default. */
    readonly optional: Optional
    /** Fields that the database sets, besides the id. */
    readonly generated: Generated
    /** Fields that are required to add a record and never read. */
    readonly secret: Secret
  }
}

/** Makes a kind from its fields, which determine its request schemas, its columns and its TypeScript type. */
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

/** Makes the fields optional. Booleans default to false. */
function withDefaults(fields: TProperties): TProperties {
  return Object.fromEntries(
    Object.entries(fields).map(([name, schema]) => [
      name,
      Type.Optional(Type.IsBoolean(schema) ? Type.Boolean({ ...schema, default: false }) : schema),
    ]),
  )
}
