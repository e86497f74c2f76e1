import { Ajv, type ErrorObject } from 'ajv'
import type { Static, TSchema } from 'typebox'
import { BadRequestHttpError } from '../errors/http-errors.ts'
import { normaliseHost } from '../http/host.ts'
import { isEmail, normaliseEmail } from '../sign-in/account.ts'

/** A rule for a text field that JSON Schema cannot express. */
interface TextFormat {
  accepts: (text: string) => boolean
  /** Completes the sentence "<field> must be …". */
  expects: string
}

const largestId = 2n ** 63n - 1n
const id = /^[1-9]\d{0,18}$/
// A replacement character (U+FFFD) means that the text was decoded with the wrong encoding.
const time = /^(\d{4}-\d\d-\d\d)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?(?:Z|[+-](?:0\d|1[0-4]):[0-5]\d)$/
const earliestTime = Date.parse('0001-01-01T00:00:00Z')
const line = /^(?!\s)[^\p{Cc}\p{Cs}\u2028\u2029\uFFFD]+(?<!\s)$/u
// Neither javascript: nor a password, nor characters that are invisible, turn text around or must be percent-encoded.
const webAddress = /^https?:\/\/[^\s\p{C}\uFFFD"<>\\^`{|}]+$/u

function hasCredentials({ password, username }: URL): boolean {
  return username !== '' || password !== ''
}

/** The formats of record fields. */
export const formats = {
  id: {
    accepts: text => id.test(text) && BigInt(text) <= largestId,
    expects: 'an id: a whole number from 1 to 9223372036854775807, as text',
  },
  line: {
    accepts: text => line.test(text),
    expects: 'one line of UTF-8 text without leading or trailing spaces',
  },
  prefix: {
    accepts: text => /^[^\p{Cc}\p{Cs}\u2028\u2029\uFFFD]*$/u.test(text),
    expects: 'the beginning of one line of UTF-8 text',
  },
  host: {
    accepts: text => normaliseHost(text) === text,
    expects: 'a host such as museum.example, in lower case and without a port',
  },
  uri: {
    accepts: text => webAddress.test(text) && URL.canParse(text) && !hasCredentials(new URL(text)),
    expects: 'a web address such as https://museum.example/about, without spaces or a password',
  },
  'language-tag': {
    accepts: isLanguageTag,
    expects: 'a language tag (BCP 47) such as en or pt-BR',
  },
  email: {
    // Normalised, so that two addresses that look the same belong to one person.
    accepts: text => line.test(text) && isEmail(text) && normaliseEmail(text) === text,
    expects: "an e-mail address, in Unicode's normal form C",
  },
  'date-time': {
    accepts: isTime,
    expects: 'a time with its zone, such as 2027-01-31T12:00:00Z or 2027-01-31T13:00:00+01:00',
  },
  moment: {
    accepts: text => isTime(text) || isTime(`${text}T00:00:00Z`),
    expects: 'a date such as 2026-01-31 (midnight UTC) or a time such as 2026-01-31T12:00:00Z',
  },
  date: {
    accepts: text => isTime(`${text}T00:00:00Z`),
    expects: 'a day such as 2027-01-31',
  },
  text: {
    accepts: text => !/[\p{Cs}\0\uFFFD]/u.test(text),
    expects: 'UTF-8 text without NUL characters',
  },
  secret: {
    accepts: text => !/[\p{Cs}\0\uFFFD]/u.test(text),
    expects: 'UTF-8 text without NUL characters',
  },
} satisfies Record<string, TextFormat>

/**
 * Whether a text is a time of RFC 3339, section 5.6, in upper case and with at most microseconds. JavaScript takes 30
 * February for 2 March. PostgreSQL has no greater offsets.
 */
function isTime(text: string): boolean {
  const [, day = ''] = time.exec(text) ?? []
  const isDay = new Date(`${day}T00:00:00Z`).toJSON()?.startsWith(day) === true
  return isDay && Date.parse(text) >= earliestTime && Date.parse(text) < Date.parse('+010000-01-01T00:00:00Z')
}

/** Whether a language tag is canonical: en-GB and not en-gb, he and not iw. */
function isLanguageTag(text: string): boolean {
  try {
    return Intl.getCanonicalLocales(text)[0] === text
  } catch {
    return false
  }
}

/** The JSON Schema keywords that are read from a field. TypeBox's TSchema does not declare them. */
export interface Keywords {
  type?: unknown
  format?: unknown
  description?: unknown
  readOnly?: unknown
  default?: unknown
  enum?: unknown
  anyOf?: readonly (TSchema & Keywords)[]
  properties?: Readonly<Record<string, TSchema>>
}

/** Whether a field may be null: it has "null" among its types, or is a union with it. */
export function isNullable(schema: TSchema | undefined): boolean {
  const { type, anyOf = [] } = keywordsOf(schema)
  return [type].flat().includes('null') || anyOf.some(isNullable)
}

/** The keywords of a field's schema, or none if the field does not exist. */
export function keywordsOf(schema: (TSchema & Keywords) | undefined): Keywords {
  return schema ?? {}
}

/** The keywords of a field's values that are not null. A union of several schemas besides null stays a union. */
export function valueOf(schema: TSchema | undefined): TSchema & Keywords {
  const { anyOf = [], ...keywords } = keywordsOf(schema)
  const type = [keywords.type].flat().find(name => name !== 'null')
  const values = anyOf.filter(member => member.type !== 'null')
  if (values.length > 1) return { ...keywords, type, anyOf: values }
  return { ...keywords, type, ...values.map(valueOf)[0] }
}

/**
 * Converts text to the JSON value of a field, on the command line, in CSV and in queries: "true" and "false" to a
 * boolean, digits to a number, comma-separated items to an array, and "none" or nothing to null.
 * Text that cannot be converted is returned as it is, and the validator refuses it.
 */
export function fromText(field: TSchema | undefined, text: string): unknown {
  if (isNullable(field) && (text === 'none' || text === '')) return null
  const { type, anyOf = [] } = valueOf(field)
  switch (type) {
    case 'boolean':
      return text === 'true' || (text === 'false' ? false : text)
    case 'integer':
      // A greater number would be rounded.
      return /^-?\d+$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : text
    case 'number':
      return /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text
    case 'array':
      return text
        .split(',')
        .map(item => item.trim())
        .filter(item => item !== '')
    default:
      return anyOf.map(member => fromText(member, text)).find(value => value !== text) ?? text
  }
}

/** An error in one field of a record. */
export interface FieldError {
  /** Empty if the record as a whole is wrong. */
  field: string
  /** A sentence without its full stop. */
  message: string
}

/** How many errors a description lists. */
const mostTold = 20

/** Describes the errors in one sentence. */
export function describeFieldErrors(errors: readonly FieldError[]): string {
  const told = errors.slice(0, mostTold).map(({ message }) => message)
  if (errors.length > mostTold) told.push(`and ${errors.length - mostTold} more`)
  return `${told.join('; ')}.`
}

/** Coerces nothing: "true" is not a boolean, and ["a"] is not text. */
const ajv = new Ajv({
  allErrors: true,
  formats: Object.fromEntries(Object.entries(formats).map(([name, { accepts }]) => [name, accepts])),
  verbose: true,
})

/** Makes a function that returns the errors of a JSON value, for a schema with these formats. */
export function validator(schema: TSchema) {
  const validate = ajv.compile(schema)
  return (value: unknown): FieldError[] => {
    validate(value)
    return validate.errors?.filter(({ keyword, params }) => !isOfUnion(keyword, params)).map(fieldError) ?? []
  }
}

/** The API's answer to values that are not valid. */
export function invalid(errors: readonly FieldError[]): BadRequestHttpError {
  return new BadRequestHttpError(describeFieldErrors(errors), { members: { errors } })
}

/** @throws {BadRequestHttpError} with the API's sentences, if the value does not match the schema */
export function assertValid(schema: TSchema, value: unknown): void {
  const errors = validator(schema)(value)
  if (errors.length > 0) throw invalid(errors)
}

/** Makes a function that says whether a JSON value has a schema, which Ajv compiles on the first call. */
export function guard<Schema extends TSchema>(schema: Schema) {
  return (value: unknown): value is Static<Schema> => ajv.validate(schema, value)
}

/** Ajv types both properties as any. */
type FailedKeyword = ErrorObject<string, Record<string, unknown>> & { parentSchema?: { format?: unknown } }

function fieldError(error: FailedKeyword): FieldError {
  const { keyword, params, instancePath } = error
  const path = instancePath.slice(1).replaceAll('/', '.')
  if (keyword === 'required') return about(String(params['missingProperty']), 'is missing')
  if (keyword === 'additionalProperties') {
    const field = shortened(String(params['additionalProperty']))
    return { field, message: `${quote(String(params['additionalProperty']))} is not a known field` }
  }
  return path === '' ? { field: '', message: `The value ${predicateOf(error)}` } : about(path, predicateOf(error))
}

/** Whether an error only says that a value is not null either. The union's other schema says what is wrong. */
function isOfUnion(keyword: string, params: FailedKeyword['params']): boolean {
  return keyword === 'anyOf' || params['type'] === 'null'
}

function about(field: string, predicate: string): FieldError {
  return { field, message: `${field} ${predicate}` }
}

/** Cuts a name from a client or a file short, so that the message fits into a line. */
function shortened(name: string): string {
  return name.length > 60 ? `${name.slice(0, 60)}…` : name
}

/** Quotes such a name. */
export function quote(name: string): string {
  return JSON.stringify(shortened(name))
}

const typeNames: Record<string, string> = {
  string: 'text',
  boolean: 'true or false',
  integer: 'a whole number',
  number: 'a number',
  array: 'a list',
  object: 'a JSON object',
}

function predicateOf({ keyword, params, message, parentSchema }: FailedKeyword): string {
  const limit = String(params['limit'])
  switch (keyword) {
    case 'type':
      return `must be ${expected(parentSchema?.format) ?? typeNames[String(params['type'])]}`
    case 'format':
      return `must be ${expected(params['format'])}`
    case 'minLength':
      return limit === '1' ? 'must not be empty' : `must have at least ${limit} characters`
    case 'maxLength':
      return `must have at most ${limit} characters`
    case 'minimum':
      return `must be at least ${limit}`
    case 'maximum':
      return `must be at most ${limit}`
    case 'maxItems':
      return `must have at most ${limit} items`
    case 'uniqueItems':
      return 'must not contain the same item twice'
    case 'enum':
      return `must be one of ${[params['allowedValues']].flat().join(', ')}`
    default:
      return message ?? ''
  }
}

/** What a format expects, or undefined if it is none of these. */
function expected(format: unknown): string | undefined {
  return Object.entries(formats).find(([name]) => name === format)?.[1].expects
}
