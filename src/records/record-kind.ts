import type { Kysely, RawBuilder } from 'kysely'
import { type Static, type TObject, type TOptional, type TProperties, type TSchema, Type } from 'typebox'
import type { Tables } from '../database/tables.ts'
import { day, id, integer, moment, number, prefix, readOnly } from './fields.ts'
import { type FieldError, isNullable, type Keywords, valueOf } from './validation.ts'

/** A table that links records of two kinds. */
export interface Link {
  readonly table: string
  /** The column with the id of the record that has the link. */
  readonly own: string
  /** The column with the id of the linked record. */
  readonly other: string
  /** The column with the order of the links, if they have an order. */
  readonly position?: string
}

/** Filters a list by the value of a column, by how it begins, by its range, or by a link to a record. */
export interface Filter {
  readonly schema: TSchema
  /** The text column whose beginning is compared, whatever the case. Default: whole values are compared. */
  readonly prefixOf?: string
  /** The column of times or numbers that are at least, or less than, the filter's value. */
  readonly range?: { readonly of: string; readonly bound: 'from' | 'until' }
  /** The link whose "other" column is compared. Default: the column with the filter's name is compared. */
  readonly link?: Link
  /** Whether case is ignored, as in the column's unique index. */
  readonly ignoresCase?: boolean
}

export interface Constraint {
  /** The field whose value violates the constraint. */
  readonly field: string
  /** For a foreign key, the kind that the field refers to. Undefined for a unique constraint. */
  readonly refersTo?: RecordKind
  /** Whether the record, or its link, is removed with the record that the field refers to (on delete cascade). */
  readonly cascades?: boolean
}

/** A kind of record: its schemas and everything that is needed to read and write it. */
export interface RecordKind {
  /** The singular: "license type". */
  readonly name: string
  /** The plural: "license types". */
  readonly plural: string
  readonly table: string
  /** What the records are for, as a sentence. */
  readonly purpose: string
  /** A record as it is read. */
  readonly schema: TObject
  /** The fields to add a record with. */
  readonly create: TObject
  /** The fields that can be changed, all optional. */
  readonly change: TObject
  /** The properties of the schema that are links. All others are columns. */
  readonly links: Readonly<Record<string, Link>>
  /** The properties of the schema that are computed. Undefined if there are none. */
  readonly computed?: Readonly<Record<string, RawBuilder<unknown>>>
  /** Every column is a filter, and a text's beginning and a time's or number's range, too. A kind adds its links. */
  readonly filters: Readonly<Record<string, Filter>>
  /** The values of the filters, all optional. */
  readonly query: TObject
  /** The filter by which people identify a record, such as its name. */
  readonly knownBy: string
  /** The columns that a list can be sorted by, besides the id. Null counts as the greatest value. */
  readonly sorts: readonly string[]
  /** The order of a list unless another is asked for. */
  readonly usualSort: string
  /** The constraints, by their names in the database. */
  readonly constraints: Readonly<Record<string, Constraint>>
  /** Whether a site's visitors may read the records of its license, which the filter "license_id" selects. */
  readonly open: boolean
  /** The key column of the table's change notifications, or null if they have none (migration 0002). */
  readonly cacheKey: string | null
  /** The errors of a record whose fields are valid each, but not together. */
  readonly errorsOf: (record: Readonly<Record<PropertyKey, unknown>>) => FieldError[]
  /** What state a record is in now, as a word that tables show. Undefined if this kind has no states. */
  readonly stateOf: ((record: Readonly<Record<PropertyKey, unknown>>) => string) | undefined
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
  /**
   * Warns of a record that has no effect as it is.
   * @returns a sentence, or undefined if there is nothing to say
   */
  readonly warnOf: (db: Kysely<Tables>, record: Readonly<Record<PropertyKey, unknown>>) => Promise<string | undefined>
  /** The API's answer if a record cannot be removed. Undefined if it always can. */
  readonly removalRefusal: string | undefined
  /** Examples for the API's documentation. Their references are exampleId. */
  readonly examples: {
    readonly create: Readonly<Record<string, unknown>>
    readonly change: Readonly<Record<string, unknown>>
  }
}

/** What leaves lines in the audit: records of a kind, or the rows of another table. */
export interface Audited extends Pick<RecordKind, 'table' | 'schema' | 'links' | 'computed' | 'constraints'> {
  /** The column with the id that lines name. Default: id. */
  readonly key?: string
}

/** The type of a kind's records. */
export type RecordOf<Kind extends RecordKind> = Static<Kind['schema']> & { readonly id: string }

/** The orders that a list of a kind may have: "name" and, descending, "-name". */
export function ordersOf({ sorts }: RecordKind): string[] {
  return [...new Set(['id', ...sorts])].flatMap(name => [name, `-${name}`])
}

/** The type of the values that add a record of a kind. */
export type NewRecordOf<Kind extends RecordKind> = Static<Kind['create']>

/** The type of the values that change a record of a kind. */
export type ChangeOf<Kind extends RecordKind> = Static<Kind['change']>

/** The type of the values by which a kind's records are found. A record has to match all of them. */
export type FiltersOf<Kind extends RecordKind> = Static<Kind['query']>

/** A field that refers to other records, which options and imports may name instead of giving their ids. */
interface Reference {
  field: string
  /** The option that names one record, and may be repeated if the field is a list: "language". */
  option: string
  /** The option that names several, separated by commas: "languages". Undefined if the field is no list. */
  listOption: string | undefined
  to: RecordKind
  /** The option that says which of several groups of the same name is meant. */
  scope: 'license' | undefined
}

/** The references of a kind. */
export function referencesOf(kind: RecordKind): Reference[] {
  return Object.values(kind.constraints).flatMap(({ field, refersTo: to }) => {
    if (to === undefined) return []
    const option = field.replace(/_ids?$/, '')
    const listOption = field.endsWith('_ids') ? `${option}s` : undefined
    return { field, option, listOption, to, scope: to.name === 'group' ? 'license' : undefined }
  })
}

/** The parameters of lists that are not filters. */
const listParameters = ['limit', 'sort', 'cursor', 'total', '_locale']

/** What a kind has unless it says otherwise. */
const defaults = {
  links: {},
  usualSort: 'id',
  filters: {},
  constraints: {},
  open: false,
  cacheKey: null,
  errorsOf: () => [],
  stateOf: undefined,
  prepare: async (values: Readonly<Record<string, unknown>>) => values,
  assertAllowed: async () => {},
  warnOf: async () => undefined,
  removalRefusal: undefined,
} satisfies Partial<RecordKind>

type Defaulted = keyof typeof defaults

type Filters = Readonly<Record<string, Filter>>

interface Definition<
  Required extends TProperties,
  Optional extends TProperties,
  Generated extends TProperties,
  Written extends TProperties,
  Secret extends TProperties,
  Own extends Filters,
  Sort extends string,
>
  extends
    Omit<RecordKind, 'schema' | 'create' | 'change' | 'query' | 'sorts' | Defaulted>,
    Partial<Pick<RecordKind, Defaulted>> {
  readonly fields: {
    readonly required: Required
    /** The required fields whose schema for writing differs from the one for reading. */
    readonly written?: Written
    /** Fields with a default. */
    readonly optional?: Optional
    /** Fields that the database sets, besides the id. */
    readonly generated?: Generated
    /** Fields that are required to add a record and never read. */
    readonly secret?: Secret
  }
  /** More filters than those of the columns. */
  readonly filters?: Own
  readonly sorts: readonly Sort[]
}

type Nothing = Record<never, never>
type Optionals<Fields extends TProperties> = { [Name in keyof Fields]: TOptional<Fields[Name]> }

/** A kind whose fields are known to the compiler. */
export interface TypedKind<
  Read extends TProperties,
  Needed extends TProperties,
  Optional extends TProperties,
  Own,
  Sort,
> extends RecordKind {
  readonly schema: TObject<Read & { id: Type.TString }>
  readonly create: TObject<Needed & Optionals<Optional>>
  readonly change: TObject<Optionals<Needed & Optional>>
  readonly query: TObject<
    Optionals<Read & { id: Type.TString }> & {
      // Only validation knows which columns have a beginning, and which a range.
      [Name in `${Extract<keyof Read, string>}_${'prefix' | 'from' | 'until'}`]: TOptional<Bound>
    } & { [Name in keyof Own]: TOptional<Type.TString> }
  >
  readonly sorts: readonly Extract<Sort, string>[]
}

type Bound = Type.TUnion<[Type.TString, Type.TNumber]>

/**
 * Makes a kind from its fields, which determine its request schemas, its columns and its TypeScript type.
 * @throws {Error} if its lists cannot have one of its fields, or visitors may read them of no license
 */
export function recordKind<
  Required extends TProperties,
  Optional extends TProperties = Nothing,
  Generated extends TProperties = Nothing,
  Written extends TProperties = Nothing,
  Secret extends TProperties = Nothing,
  Own extends Filters = Nothing,
  const Sort extends string = never,
>(
  definition: Definition<Required, Optional, Generated, Written, Secret, Own, Sort>,
): TypedKind<Required & Optional & Generated, Omit<Required, keyof Written> & Written & Secret, Optional, Own, Sort>
export function recordKind(
  definition: Definition<TProperties, TProperties, TProperties, TProperties, TProperties, Filters, string>,
): RecordKind {
  const {
    fields: { generated = {}, required, written = {}, optional = {}, secret = {} },
    filters = {},
    ...rest
  } = definition
  const closed = { additionalProperties: false }
  const needed = { ...required, ...written, ...secret }
  const schema = Type.Object(
    { id: id(`The id of this ${rest.name}.`), ...required, ...optional, ...readOnly(generated) },
    { ...closed, description: `One ${rest.name}.` },
  )
  const allFilters = { ...columnFilters(schema.properties, rest.links ?? {}), ...filters }
  const filterSchemas = Object.entries(allFilters).map(([name, { schema }]): [string, TSchema] => [name, schema])
  const taken = listParameters.find(name => name in schema.properties || name in allFilters)
  if (taken !== undefined) throw new Error(`Fields and filters of ${rest.plural} cannot be called ${taken}.`)
  if (rest.open === true && !('license_id' in allFilters)) {
    throw new Error(`Open ${rest.plural} need the filter license_id.`)
  }
  return {
    ...defaults,
    ...rest,
    schema,
    filters: allFilters,
    query: Type.Partial(Type.Object(Object.fromEntries(filterSchemas)), closed),
    create: Type.Object(
      { ...needed, ...Type.Partial(Type.Object(optional)).properties },
      { ...closed, examples: [rest.examples.create] },
    ),
    change: Type.Partial(Type.Object({ ...needed, ...optional }), { ...closed, examples: [rest.examples.change] }),
  }
}

/** The formats of columns that people search by their beginning. */
const searched: readonly unknown[] = ['line', 'host', 'language-tag', 'email']

/**
 * The filters of a kind's columns: "name" for its value, "name_prefix" for how it begins, "opens_from" and
 * "opens_until" for its range. A column can be asked for even if it cannot be written, unless it is an object.
 */
function columnFilters(fields: TProperties, links: Readonly<Record<string, unknown>>): Record<string, Filter> {
  const columns = Object.entries(fields).filter(([name, field]) => !(name in links || valueOf(field).type === 'object'))
  return Object.fromEntries(
    columns.flatMap(([name, field]): [string, Filter][] => {
      const { readOnly: _, ...value } = valueOf(field)
      const whole: [string, Filter] = [name, { schema: isNullable(field) ? orNone(value) : value }]
      const parts = searched.includes(value.format)
        ? { [`${name}_prefix`]: { schema: prefix(`How the ${name} begins. Case is ignored.`), prefixOf: name } }
        : rangeFilters(name, value)
      // A column comes before the range of another: valid_from is no range of valid.
      return [whole, ...Object.entries(parts).filter(([part]) => !(part in fields))]
    }),
  )
}

/** The filters of a time's or number's range, which "until" is not part of. */
function rangeFilters(name: string, { type, format }: Keywords): Record<string, Filter> {
  const bounds: Record<string, (description: string) => TSchema> = { 'date-time': moment, date: day, integer, number }
  const bound = bounds[String(format ?? type)]
  if (bound === undefined) return {}
  return {
    [`${name}_from`]: {
      schema: bound(`Finds records whose ${name} is this or more.`),
      range: { of: name, bound: 'from' },
    },
    [`${name}_until`]: {
      schema: bound(`Finds records whose ${name} is less than this.`),
      range: { of: name, bound: 'until' },
    },
  }
}

/** Asks for null, too, which fromText reads. */
function orNone({ description, ...value }: TSchema & Keywords): TSchema {
  return Type.Union([value, Type.Null()], {
    description: `${String(description)} "none" or nothing finds the records that have none.`,
  })
}
